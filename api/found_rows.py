"""The rows of a list that a search finds: fetched all where they are few, walked to in the list's order where they are many.

A common word is in ten thousand rows. To sort them, each would be fetched by its key; but then the page is near wherever one
looks, and the total is how many ids there are, less those of rows that the list leaves out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.conditions import SoleTerm

FEW: Final = 1_000
_TERM: Final = "(SELECT term FROM sole)"


@dataclass(frozen=True, slots=True)
class Found:
    """The rows `t` of a table that a condition finds by their ids.

    `ids` is the SELECT of all of them; the first of `where` binds the tenant, the others leave rows out of the list. `kept` are the
    key and the columns by which `order` sorts. `sole` tells how they are found where they have one term in common.
    """

    table: str
    key: str
    kept: str
    ids: str
    where: Sequence[str]
    order: str
    tail: str
    sole: SoleTerm | None = None

    def sql(self) -> str:
        """Write the CTEs `ordered`, with what is kept of the page's rows, and `total`."""
        narrowed = " AND ".join(self.where)
        return (
            f"few(id) AS MATERIALIZED (({self.ids}) LIMIT {FEW + 1}), counted AS MATERIALIZED (SELECT count(*) AS n FROM few),"
            f" {self._all()}, matched AS MATERIALIZED ({self.fetched('SELECT id FROM few', f'NOT {_many()}')}),"
            f" walked AS (SELECT {self.kept} FROM {self.table} t WHERE {narrowed} AND {self._among} AND {_many()}"
            f" ORDER BY {self.order} {self.tail}),"
            f" ordered AS ((SELECT * FROM matched t ORDER BY {self.order} {self.tail}) UNION ALL SELECT * FROM walked),"
            f" total AS (SELECT CASE WHEN {_many()} THEN {self._count} ELSE (SELECT count(*) FROM matched) END AS n)"
        )

    def fetched(self, ids: str, gate: str = "true") -> str:
        """Write the SELECT of what is kept of rows, each of which is fetched by its key; of none if the gate is closed.

        `OFFSET 0` keeps the ids from becoming a join with all rows of the tenant, which PostgreSQL takes for cheaper where another
        condition has a set of its own.
        """
        tenant, *others = self.where
        return (
            f"SELECT {self.kept} FROM (SELECT DISTINCT unnest(ARRAY({ids})) AS id WHERE {gate}) u CROSS JOIN LATERAL"
            f' (SELECT * FROM {self.table} t WHERE {tenant} AND t."{self.key}" = u.id OFFSET 0) t'
            f"{' WHERE ' if others else ''}{' AND '.join(others)}"
        )

    def _all(self) -> str:
        """Write the CTE `ids` with all ids once, where there are many, and `sole` with the term that they may have in common."""
        listed = f"ids AS MATERIALIZED (SELECT DISTINCT u.id FROM ({self.ids}) u(id) WHERE {_many()}"
        if self.sole is None:
            return f"{listed})"
        return f"sole(term) AS MATERIALIZED ({self.sole.found} WHERE {_many()}), {listed} AND {_TERM} IS NULL)"

    @property
    def _among(self) -> str:
        """The condition that a row is one of many."""
        listed = f'(t."{self.key}" IN (SELECT id FROM ids)) IS TRUE'
        if self.sole is None:
            return listed
        return f"CASE WHEN {_TERM} IS NULL THEN {listed} ELSE {self.sole.has.format(term=_TERM)} END"

    @property
    def _count(self) -> str:
        """The number of many, without those that the list leaves out."""
        tenant, *others = self.where
        rows = f'SELECT t."{self.key}" FROM {self.table} t WHERE {tenant} AND NOT ({" AND ".join(others)})'
        shown = f" FILTER (WHERE (u.id IN ({rows})) IS NOT TRUE)" if others else ""
        listed = f"(SELECT count(*){shown} FROM ids u)"
        if self.sole is None:
            return listed
        by_term = f"(SELECT count(*){shown} FROM ({self.sole.ids.format(term=_TERM)}) u(id))"
        return f"CASE WHEN {_TERM} IS NULL THEN {listed} ELSE {by_term} END"

    def page(self) -> str:
        """Write the CTEs of `sql`, and `page` with the page's rows."""
        return f"{self.sql()}, {page_of(self.table, self.key, self.where[0])}"


def _many() -> str:
    """The condition that many rows are found."""
    return f"((SELECT n FROM counted) > {FEW})"


def page_of(table: str, key: str, tenant: str) -> str:
    """Write the CTE of the page's rows, of which `ordered` holds what is kept."""
    return f'page AS (SELECT t.* FROM ordered m JOIN {table} t ON t."{key}" = m."{key}"{f" AND {tenant}" if tenant else ""})'
