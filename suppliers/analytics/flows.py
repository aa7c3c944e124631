"""The statements of metrics of orders, receipts and offers: sums of roll-ups, by the buckets of a series.

`cuts` tells which sums make up the buckets; rows that are not summed up yet are added one by one. Each is a sum over a span of
time, so every zone comes out exact.
"""

from typing import Final

from .acceptances import MARK as MEDIANS_MARK
from .folding import MARK
from .states import Grouping, Span

GROUPS: Final = {
    "": "NULL::text",
    Grouping.PRODUCT: "{0}.product_id::text",
    Grouping.CATEGORY: "nullif({0}.category, '')",
    Grouping.BUYER: "{0}.buyer_id::text",
    Grouping.LOCATION: "{0}.location_id::text",
}
# Receipts, returns and offers have no currency, whichever is asked for.
_OF_CURRENCY: Final = "(:currency::text = '' OR {0}.currency IN (:currency::text, ''))"
_ORDERED: Final = "'ordered'"
_SUMS: Final = ("entries", "quantity", "base", "net", "list_net")
_PLACE: Final = "width_bucket(r.bucket, :edges::timestamptz[])"
_PLACES: Final = "array_length(:edges::timestamptz[], 1)"
_TAIL: Final = f"tail AS MATERIALIZED (SELECT r.* FROM suppliers_rollup r WHERE r.tenant_id = $1 AND r.id > {MARK})"
_RUNS: Final = (
    "unnest(:run_slots::smallint[], :run_firsts::timestamptz[], :run_lasts::timestamptz[]) AS c(slot, first, last)"
)
_PIECES: Final = (
    "unnest(:piece_spans::text[], :piece_begins::timestamptz[], :piece_ends::timestamptz[], :piece_places::int[],"
    " :piece_signs::int[]) AS s(span, start, stop, place, sign)"
)

_ENDINGS: Final = "unnest(:end_seconds::int[], :end_firsts::date[], :end_lasts::date[]) AS c(seconds, first, last)"
_ENDS_AT_HALF_HOURS: Final = "c.seconds % 1800 = 0 AND c.seconds BETWEEN -50400 AND 43200"
_MIDNIGHT: Final = "({}::timestamp AT TIME ZONE 'UTC')"
_IN_TIME: Final = (
    f"CASE WHEN {{0}}.whole_at < {_MIDNIGHT.format('{0}.due_date')} + interval '1 day' + c.seconds * interval '1 second'"
    " THEN {0}.entries ELSE 0 END AS in_time"
)


def _columns(row: str, factor: str = "") -> str:
    return f"{row}.kind, " + ", ".join(f"{factor}{row}.{one} AS {one}" for one in _SUMS)


def _of_sums(group: str, kinds: str, *, first: int) -> str:
    """Return the FROM of the sums that are read, `f` with its place and sign.

    They are found run by run and piece by piece, by index: OFFSET 0 keeps the planner to that.
    """
    sums = (
        f"SELECT * FROM suppliers_rollupsum k WHERE k.tenant_id = $1 AND k.kind IN ({kinds}) AND k.grouping = '{group}'"
    )
    days = (
        f"SELECT width_bucket(d.start, :day_edges::timestamptz[]) AS place, 1 AS sign, d.* FROM {_RUNS} CROSS JOIN LATERAL"
        f" ({sums} AND k.span = '{Span.DAY if group else Span.SLIDING}' AND k.slot = c.slot AND k.start >= c.first"
        " AND k.start <= c.last OFFSET 0) d"
    )
    hours = (
        f"SELECT s.place, s.sign, h.* FROM {_PIECES} CROSS JOIN LATERAL ({sums} AND k.span = '{Span.HOUR}' AND k.slot = 0"
        f" AND k.start >= s.start AND k.start < s.stop OFFSET 0) h WHERE s.span = 'hour' AND s.place >= {first}"
    )
    before = (
        f" UNION ALL SELECT 0, 1, d.* FROM ({sums} AND k.span = '{Span.DAY}' AND k.slot = 0"
        " AND k.start < :first_midnight::timestamptz) d"
    )
    return f"FROM ({days} UNION ALL {hours}{'' if first else before}) f WHERE {_OF_CURRENCY.format('f')}"


def _of_quarters(kinds: str, *, first: int) -> str:
    """Return the FROM of the rows that are read, `r`, with the pieces `s` in which they count."""
    return (
        f"FROM {_PIECES} CROSS JOIN LATERAL (SELECT * FROM suppliers_rollup k WHERE k.tenant_id = $1"
        f" AND k.kind IN ({kinds}) AND k.bucket >= s.start AND k.bucket < s.stop OFFSET 0) r"
        f" WHERE s.span = 'quarter' AND s.place >= {first} AND r.id <= {MARK} AND {_OF_CURRENCY.format('r')}"
    )


def _parts(group: str, kinds: tuple[str, ...], *, first: int) -> str:
    """Return the WITH of what a series adds up: `parts` with place, name, kind and the sums; `first` is its first place."""
    chosen, name = ", ".join(f"'{one}'" for one in kinds), GROUPS[group].format("r")
    of_sums = f"SELECT f.place, f.name, {_columns('f', 'f.sign * ')} {_of_sums(group, chosen, first=first)}"
    of_quarters = f"SELECT s.place, {name}, {_columns('r', 's.sign * ')} {_of_quarters(chosen, first=first)}"
    of_tail = (
        f"SELECT {_PLACE}, {name}, {_columns('r')} FROM tail r WHERE r.kind IN ({chosen})"
        f" AND {_PLACE} BETWEEN {first} AND {_PLACES} - 1 AND {_OF_CURRENCY.format('r')}"
    )
    return f"WITH {_TAIL}, parts AS ({of_sums} UNION ALL {of_quarters} UNION ALL {of_tail})"


def sums_sql(group: str, kind: str, above: str, below: str = "NULL") -> str:
    """Return the statement of two sums over roll-ups of a kind; the arguments are SQL over its rows `p`."""
    return (
        f"{_parts(group, (kind,), first=1)} SELECT p.place, p.name, {above} AS above, {below} AS below FROM parts p"
        " GROUP BY 1, 2 HAVING sum(p.entries) <> 0"
    )


def returns_sql(group: str) -> str:
    """Return the statement of what was returned, of what was received."""
    return (
        f"{_parts(group, ('received', 'returned'), first=1)} SELECT p.place, p.name,"
        " coalesce(sum(p.quantity) FILTER (WHERE p.kind = 'returned'), 0) AS above,"
        " sum(p.quantity) FILTER (WHERE p.kind = 'received') AS below FROM parts p"
        " GROUP BY 1, 2 HAVING sum(p.entries) <> 0"
    )


def offers_sql(group: str) -> str:
    """Return the statement of what is added to the published offers; place 0 is all that was before the first bucket."""
    return (
        f"{_parts(group, ('offered',), first=0)} SELECT p.place, p.name, sum(p.entries) AS above, NULL AS below FROM parts p"
        " GROUP BY 1, 2 HAVING sum(p.entries) <> 0"
    )


def count_sql(group: str) -> str:
    """Return the statement of the orders that have a line of the group; each counts once, whatever the number of its lines."""
    name = GROUPS[group].format("r")
    had = f"(coalesce(sum(r.entries) FILTER (WHERE r.id <= {MARK}), 0) > 0)::int"
    of_sums = f"SELECT f.place, f.name, f.sign * f.orders AS orders {_of_sums(group, _ORDERED, first=1)}"
    of_quarters = (
        f"SELECT o.place, o.name, o.sign FROM (SELECT s.place, s.sign, {name} AS name, r.document_id"
        f" {_of_quarters(_ORDERED, first=1)} GROUP BY r.tenant_id, 1, 2, 3, 4 HAVING sum(r.entries) > 0) o"
    )
    of_tail = (
        f"SELECT {_PLACE}, {name}, (sum(r.entries) > 0)::int - {had} FROM suppliers_rollup r WHERE r.tenant_id = $1"
        f" AND r.kind = 'ordered' AND {_PLACE} BETWEEN 1 AND {_PLACES} - 1 AND {_OF_CURRENCY.format('r')}"
        " AND r.document_id IN (SELECT t.document_id FROM tail t WHERE t.kind = 'ordered') GROUP BY r.tenant_id, 1, 2, r.document_id"
    )
    return (
        f"WITH {_TAIL}, parts AS ({of_sums} UNION ALL {of_quarters} UNION ALL {of_tail})"
        " SELECT p.place, p.name, sum(p.orders) AS above, NULL AS below FROM parts p GROUP BY 1, 2 HAVING sum(p.orders) <> 0"
    )


def due_sql(group: str, above: str, below: str) -> str:
    """Return the statement of lines due on the days of a bucket; the arguments are SQL over its rows `p`.

    A promised date is the same day wherever one asks; whether a line was there in time is decided in the asked zone. Of all
    together there is a sum for each half hour at which a date ends; of groups, and where dates end at other times, there are
    sums by the quarter of an hour in which the lines were whole.
    """
    name, kept = GROUPS[group].format("r"), "false" if group else _ENDS_AT_HALF_HOURS
    of_days = (
        f"SELECT d.due_date, NULL::text AS name, d.entries, d.in_time, d.quantity, d.base FROM {_ENDINGS} CROSS JOIN LATERAL"
        " (SELECT * FROM suppliers_dueday k WHERE k.tenant_id = $1 AND k.slot = c.seconds / 1800 AND k.due_date >= c.first"
        f" AND k.due_date <= c.last OFFSET 0) d WHERE {kept} AND {_OF_CURRENCY.format('d')} UNION ALL "
    )
    of_quarters = (
        f"SELECT d.due_date, d.name, d.entries, {_IN_TIME.format('d')}, d.quantity, d.base FROM {_ENDINGS} CROSS JOIN LATERAL"
        " (SELECT (k.start AT TIME ZONE 'UTC')::date AS due_date, k.* FROM suppliers_rollupsum k WHERE k.tenant_id = $1"
        f" AND k.kind = 'due' AND k.grouping = '{group}' AND k.span = '{Span.DAY}' AND k.slot = 0 AND k.start >= {_MIDNIGHT.format('c.first')}"
        f" AND k.start <= {_MIDNIGHT.format('c.last')} OFFSET 0) d WHERE NOT ({kept}) AND {_OF_CURRENCY.format('d')}"
    )
    of_tail = (
        f"SELECT r.due_date, {name}, r.entries, {_IN_TIME.format('r')}, r.quantity, r.base FROM {_ENDINGS}"
        " JOIN tail r ON r.due_date >= c.first AND r.due_date <= c.last"
        f" WHERE r.kind = 'due' AND {_OF_CURRENCY.format('r')}"
    )
    return (
        f"WITH {_TAIL} SELECT width_bucket(p.due_date, :days::date[]) AS place, p.name, {above} AS above, {below} AS below"
        f" FROM ({'' if group else of_days}{of_quarters} UNION ALL {of_tail}) p GROUP BY 1, 2 HAVING sum(p.entries) > 0"
    )


def acceptance_sql(group: str) -> str:
    """Return the statement of the median over orders, one row of each; of a group, over the orders that have a line of it."""
    return _medians_of_groups(group) if group else _medians()


def _medians() -> str:
    """Return the statement of medians over all orders: those that are kept, and others out of the rows of their bucket.

    Days and rows are found by index, run by run and bucket by bucket: OFFSET 0 keeps the planner to that. Of all currencies
    together there are the most orders.
    """
    late = (
        f"SELECT {_PLACE} AS place FROM (SELECT * FROM suppliers_rollup k WHERE k.tenant_id = $1 AND k.id > {MEDIANS_MARK} OFFSET 0) r"
        f" WHERE r.kind = 'accepted' AND {_OF_CURRENCY.format('r')}"
    )
    days = (
        "SELECT width_bucket(d.start, :edges::timestamptz[]) AS place, d.orders, d.spent FROM unnest(:median_slots::smallint[],"
        " :median_firsts::timestamptz[], :median_lasts::timestamptz[]) AS c(slot, first, last) CROSS JOIN LATERAL (SELECT k.start,"
        " sum(k.orders) AS orders, sum(k.spent) AS spent FROM suppliers_acceptanceday k WHERE k.tenant_id = $1 AND k.slot = c.slot"
        " AND k.start >= c.first AND k.start <= c.last AND (:currency::text = '' OR k.currency = :currency::text)"
        " GROUP BY k.tenant_id, k.start, k.currency HAVING sum(k.orders) > 0 OFFSET 0) d"
    )
    rows = (
        "SELECT r.document_id, sum(r.quantity) AS spent FROM suppliers_rollup r WHERE r.tenant_id = $1 AND r.kind = 'accepted'"
        " AND r.bucket >= (:edges::timestamptz[])[o.place] AND r.bucket < (:edges::timestamptz[])[o.place + 1]"
        f" AND {_OF_CURRENCY.format('r')} GROUP BY r.tenant_id, 1 HAVING sum(r.entries) > 0 OFFSET 0"
    )
    return (
        f"WITH open AS MATERIALIZED (SELECT unnest(:rest_places::int[]) AS place UNION SELECT t.place FROM ({late}) t"
        f" WHERE t.place BETWEEN 1 AND {_PLACES} - 1), days AS MATERIALIZED ({days})"
        " (SELECT DISTINCT ON (d.place) d.place, NULL AS name, d.spent AS above, 7200000 AS below FROM days d"
        " WHERE (d.place NOT IN (SELECT o.place FROM open o)) IS TRUE ORDER BY d.place, d.orders DESC)"
        " UNION ALL SELECT o.place, NULL, percentile_cont(0.5) WITHIN GROUP (ORDER BY w.spent)::numeric, 3600000 FROM open o"
        f" CROSS JOIN LATERAL ({rows}) w GROUP BY 1"
    )


def _medians_of_groups(group: str) -> str:
    """Return the statement of medians over the orders that have a line of a group, out of the row of each."""
    rows = (
        f"SELECT {_PLACE} AS place, r.document_id, sum(r.quantity) AS spent FROM suppliers_rollup r WHERE r.tenant_id = $1"
        " AND r.kind = 'accepted' AND r.bucket >= :begin::timestamptz AND r.bucket < :end::timestamptz"
        f" AND {_OF_CURRENCY.format('r')} GROUP BY r.tenant_id, 1, 2 HAVING sum(r.entries) > 0"
    )
    lines = (
        f"CROSS JOIN LATERAL (SELECT {GROUPS[group].format('r')} AS name FROM suppliers_rollup r WHERE r.tenant_id = $1"
        " AND r.document_id = o.document_id AND r.kind = 'ordered' GROUP BY r.tenant_id, 1 HAVING sum(r.entries) > 0) g"
    )
    return (
        "SELECT o.place, g.name, percentile_cont(0.5) WITHIN GROUP (ORDER BY o.spent)::numeric AS above, 3600000 AS below"
        f" FROM ({rows}) o {lines} GROUP BY 1, 2"
    )
