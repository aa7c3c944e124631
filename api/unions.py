"""Tables of several as one: what a tenant has of documents as either party, for lists and reads at one address.

PostgreSQL takes a UNION ALL apart only where all its branches have the same types, to the letter: a `varchar` beside a `text`
is enough to build every column of every row before a page of twenty is chosen. Texts are cast in each branch therefore. Nor has
a branch a condition of its own, for which it would be planned alone: whoever reads these rows narrows them by `tenant_id`.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db import models


class Union(str):
    """The SQL of rows of several tables, in parentheses; `branches` are those of each table alone."""

    __slots__ = ("branches",)
    branches: tuple[str, ...]

    def __new__(cls, branches: Sequence[str]) -> "Union":
        """Join the SQL of the branches."""
        made = super().__new__(cls, f"({' UNION ALL '.join(branches)})")
        made.branches = tuple(f"({one})" for one in branches)
        return made


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

    def branch(place: int) -> str:
        shown = ", ".join(
            f'({sql[place]}){"::text" if name in named else ""} AS "{name}"' for name, sql in columns.items()
        )
        return f"SELECT {shown} FROM {tables[place]}"

    return Union([branch(place) for place in range(len(tables))])
