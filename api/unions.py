"""Tables of several as one: what a tenant has of documents as either party, for lists and reads at one address.

PostgreSQL takes a UNION ALL apart only where all its branches have the same types, to the letter: a `varchar` beside a `text`
is enough to build every column of every row before a page of twenty is chosen. Texts are cast in each branch therefore. Nor has
a branch a condition of its own, for which it would be planned alone: whoever reads these rows narrows them by `tenant_id`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from django.db import models

from core.conditions import TENANT

COPIED: Final = "c.representation"  # what a copy shows, as JSON
_COPIED: Final = re.compile(rf"\b{re.escape(COPIED)}\b")
# A plain reference would be taken apart, and decompressed for each member.
_ONCE: Final = (
    f" CROSS JOIN LATERAL (SELECT {COPIED} || '{{}}'::jsonb AS value OFFSET 0) AS unpacked WHERE c.tenant_id = {TENANT}"
)


class Branch(NamedTuple):
    """The rows of one table of a union.

    `side` is the tenant's own side in all of them, "" where it is not the same. `built` is the SQL of the bound tenant's rows
    for whoever reads their members: the JSON of a copy is decompressed once for a row, not for each member.
    """

    sql: str
    built: str
    side: str = ""


class Union(str):
    """The SQL of rows of several tables, in parentheses. To find rows, use it as it is; to read found ones, use `built`."""

    __slots__ = ("branches", "built")
    branches: tuple[Branch, ...]
    built: str

    def __new__(cls, branches: Sequence[Branch]) -> "Union":
        """Join the SQL of the branches."""
        made = super().__new__(cls, f"({' UNION ALL '.join(one.sql for one in branches)})")
        made.branches = tuple(branches)
        made.built = f"({' UNION ALL '.join(one.built for one in branches)})"
        return made

    def of_side(self, side: str) -> "Union":
        """Return the rows of the tables in which the tenant can have a side."""
        return _of_side(self, side)


@lru_cache(maxsize=64)
def _of_side(rows: Union, side: str) -> Union:
    return Union([one for one in rows.branches if one.side in ("", side)])


def union_of(
    model: type[models.Model],
    columns: Mapping[str, Sequence[str]],
    tables: Sequence[str],
    *,
    texts: Iterable[str] = (),
) -> Union:
    """Write the SQL of rows with the columns of a model, of all tenants.

    `columns` are by name the SQL in each branch, `tables` its table with an alias. `texts` are further columns of text.
    """
    named = {*texts} | {
        one.attname for one in model._meta.concrete_fields if isinstance(one, models.CharField | models.TextField)
    }

    def branch(place: int) -> Branch:
        shown = ", ".join(
            f'({sql[place]}){"::text" if name in named else ""} AS "{name}"' for name, sql in columns.items()
        )
        built, many = _COPIED.subn("unpacked.value", shown)
        side = re.fullmatch(r"'(\w+)'", columns["side"][place])
        return Branch(
            f"SELECT {shown} FROM {tables[place]}",
            f"SELECT {built} FROM {tables[place]}{_ONCE if many else ''}",
            side[1] if side else "",
        )

    return Union([branch(place) for place in range(len(tables))])
