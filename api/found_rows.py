"""The rows of a list that a search finds: fetched all where they are few, walked to in the list's order where they are many.

A common word is in ten thousand rows. To sort them, each would be fetched by its key; but then the page is near wherever one
looks, and the total is how many ids there are, less those of rows that the list leaves out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

FEW: Final = 1_000


@dataclass(frozen=True, slots=True)
class Found:
    """The rows `t` of a table that a condition finds by their ids.

    `ids` is the SELECT of all of them; the first of `where` binds the tenant, the others leave rows out of the list. `kept` are the
    key and the columns by which `order` sorts.
    """

    table: str
    key: str
    kept: str
    ids: str
    where: Sequence[str]
    order: str
    tail: str

    def sql(self) -> str:
        """Write the CTEs `ordered`, with what is kept of the page's rows, and `total`."""
        tenant, *others = self.where
        narrowed = " AND ".join(self.where)
        among = f'(t."{self.key}" IN (SELECT id FROM ids)) IS TRUE'
        left_out = (
            f"(SELECT count(*) FROM {self.table} t WHERE {tenant} AND NOT ({' AND '.join(others)}) AND {among})"
            if others
            else "0"
        )
        found = f't."{self.key}" IN (SELECT unnest(ARRAY(SELECT id FROM ids)))'  # each by its key, as `core.search_terms` says
        few, many = f"(SELECT n FROM size) <= {FEW}", f"(SELECT n FROM size) > {FEW}"
        return (
            f"ids AS MATERIALIZED (SELECT DISTINCT u.id FROM ({self.ids}) u(id)), size AS MATERIALIZED (SELECT count(*) AS n FROM ids),"
            f" matched AS MATERIALIZED (SELECT {self.kept} FROM {self.table} t WHERE {narrowed} AND {found} AND {few}),"
            f" walked AS (SELECT {self.kept} FROM {self.table} t WHERE {narrowed} AND {among} AND {many}"
            f" ORDER BY {self.order} {self.tail}),"
            f" ordered AS ((SELECT * FROM matched t ORDER BY {self.order} {self.tail}) UNION ALL SELECT * FROM walked),"
            f" total AS (SELECT CASE WHEN {few} THEN (SELECT count(*) FROM matched) ELSE (SELECT n FROM size) - {left_out} END AS n)"
        )

    def page(self) -> str:
        """Write the CTEs of `sql`, and `page` with the page's rows."""
        return f"{self.sql()}, {page_of(self.table, self.key, self.where[0])}"


def page_of(table: str, key: str, tenant: str) -> str:
    """Write the CTE of the page's rows, of which `ordered` holds what is kept."""
    return f'page AS (SELECT t.* FROM ordered m JOIN {table} t ON t."{key}" = m."{key}"{f" AND {tenant}" if tenant else ""})'
