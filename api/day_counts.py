"""Totals and deep pages of a list that is sorted by time and whose rows are counted by day and hour of UTC.

The total is a sum of counters. A deep page skips whole days by them, then whole hours, and inside one hour the keys of an index.
Source: contract, supply.md section 9.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Final

from core.conditions import Condition

from .periods import moment_of

_BOUNDS: Final = {"from": ">=", "to": "<"}
_NIL: Final = "'00000000-0000-0000-0000-000000000000'::uuid"
MANY: Final = 1_000  # rows that are skipped one by one, because finding their day would cost as much


@dataclass(frozen=True, slots=True)
class DayCounts:
    """How the rows of a list are counted by day and hour of UTC.

    `table` has the columns tenant_id, day, `counted` and `hours`, an array of what was counted in each of the 24 hours; the
    hours of a day on which they do not add up to `counted` are not known. `column` is the instant of a row of the list.
    `reach` is the restriction of the view, and `whole` SQL that tells whether it lets the caller see every row of the tenant.
    """

    table: str
    counted: str
    hours: str
    column: str
    reach: Condition
    whole: str

    def days(self, conditions: Sequence[tuple[str, Condition]], extra: Sequence[Condition]) -> list[Condition] | None:
        """Return the conditions on counters `c` that narrow them as the filters narrow the rows.

        None where the counters cannot tell: another filter is given than `from` and `to` at the beginning of a day of UTC. A
        plain date begins in the tenant's time zone.
        """
        if any(one != self.reach for one in extra):
            return None
        found = []
        for name, condition in conditions:
            moment = moment_of(condition.parameters[0]) if name in _BOUNDS else None
            begin = moment.astimezone(UTC) if isinstance(moment, datetime) else None
            if begin is None or begin.time() != time():
                return None
            found.append(Condition(f"c.day {_BOUNDS[name]} {{0}}::date", (begin.date().isoformat(),)))
        return found

    def total(self, days: Sequence[str], counting: str) -> str:
        """Return the SQL of the total; `counting` is that of a caller who sees a part of the tenant."""
        summed = f"SELECT sum(c.{self.counted})::bigint FROM {self.table} c WHERE {self._where(days)}"
        return f"SELECT CASE WHEN {self.whole} THEN ({summed}) ELSE ({counting}) END"

    def place(self, days: Sequence[str], skipped: str, *, down: bool) -> str:
        """Return the CTEs of the hour in which a page begins: its first instant, or its end, and how many rows stand before it.

        `skipped` is the parameter of the rows before the page, `down` tells that the newest stand first. There is no such hour
        where the caller sees a part of the tenant; where hours are not known, the whole day is taken for one.
        """
        way, back = ("DESC", "ASC") if down else ("ASC", "DESC")
        edge = "coalesce(of_hour.hour::int, 24)" if down else "coalesce(of_hour.hour::int - 1, 0)"
        return f"""
of_day AS (
    SELECT d.day, d.before, d.counted
    FROM (SELECT c.day, sum(c.{self.counted}) AS counted,
              (sum(sum(c.{self.counted})) OVER (ORDER BY c.day {way}) - sum(c.{self.counted}))::bigint AS before
          FROM {self.table} c WHERE {self._where(days)} GROUP BY c.tenant_id, c.day) d
    WHERE d.before <= {skipped}::bigint AND {self.whole} ORDER BY d.day {back} LIMIT 1
), of_hour AS (
    SELECT h.hour, h.before
    FROM of_day CROSS JOIN LATERAL (
        SELECT u.hour, sum(sum(u.counted)) OVER () AS known,
            (of_day.before + sum(sum(u.counted)) OVER (ORDER BY u.hour {way}) - sum(u.counted))::bigint AS before
        FROM {self.table} c CROSS JOIN LATERAL unnest(c.{self.hours}) WITH ORDINALITY u(counted, hour)
        WHERE c.tenant_id = $1 AND c.day = of_day.day GROUP BY c.tenant_id, u.hour) h
    WHERE h.known = of_day.counted AND h.before <= {skipped}::bigint ORDER BY h.hour {back} LIMIT 1
), place AS (
    SELECT (of_day.day::timestamp + make_interval(hours => {edge})) AT TIME ZONE 'UTC' AS begin,
        coalesce(of_hour.before, of_day.before) AS before
    FROM of_day LEFT JOIN of_hour ON true
)"""

    def mark(self, table: str, where: Sequence[str], order: str, skipped: str, *, down: bool) -> str:
        """Return the CTE of the first row of the page, found in the hour of `place` by the keys of an index alone.

        `where` narrows the rows `t` as the counters are narrowed. A bound is a SELECT of its own: under row security a bare
        coalesce() is no condition of an index.
        """
        begin = f't."{self.column}" {"<" if down else ">="} (SELECT begin FROM place)'
        narrowed = " AND ".join([*where, begin, "EXISTS (SELECT 1 FROM place)"])
        offset = f"{skipped}::bigint - coalesce((SELECT before FROM place), 0)"
        return (
            f'mark AS (SELECT t."{self.column}" AS at, t.id FROM {table} t WHERE {narrowed}'
            f" ORDER BY {order} LIMIT 1 OFFSET {offset})"
        )

    def behind(self, *, down: bool) -> str:
        """Return the condition that a row `t` is that of `mark`, or stands behind it; without `place` every row is."""
        first, last = ("infinity", "-infinity") if down else ("-infinity", "infinity")
        at = f"(SELECT CASE WHEN EXISTS (SELECT 1 FROM place) THEN coalesce((SELECT at FROM mark), '{last}') ELSE '{first}' END)"
        return f'(t."{self.column}", t.id) {"<=" if down else ">="} ({at}, (SELECT coalesce((SELECT id FROM mark), {_NIL})))'

    def offset(self, skipped: str) -> str:
        """Return the SQL of how many rows of the page's are skipped: all where there is no `place`."""
        return f"CASE WHEN EXISTS (SELECT 1 FROM place) THEN 0 ELSE {skipped}::bigint END"

    def _where(self, days: Sequence[str]) -> str:
        return " AND ".join(["c.tenant_id = $1", *days])
