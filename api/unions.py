"""Tables of several as one: what a tenant has of documents as either party, for lists and reads at one address.

PostgreSQL takes a UNION ALL apart only where all its branches have the same types, to the letter: a `varchar` beside a `text`
is enough to build every column of every row before a page of twenty is chosen. Texts are cast in each branch therefore.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db import models

from core.conditions import TENANT


def union_of(
    model: type[models.Model],
    columns: Mapping[str, Sequence[str]],
    tables: Sequence[tuple[str, str]],
    *,
    texts: Iterable[str] = (),
) -> str:
    """Write the SQL of rows with the columns of a model, those of the tenant alone, in parentheses.

    `columns` are by name the SQL in each branch, `tables` the FROM and the alias of each. `texts` are further columns of text.
    """
    named = {*texts} | {
        one.attname for one in model._meta.concrete_fields if isinstance(one, models.CharField | models.TextField)
    }

    def branch(place: int) -> str:
        shown = ", ".join(
            f'({sql[place]}){"::text" if name in named else ""} AS "{name}"' for name, sql in columns.items()
        )
        table, alias = tables[place]
        return f"SELECT {shown} FROM {table} WHERE {alias}.tenant_id = {TENANT}"

    return "({})".format(" UNION ALL ".join(branch(place) for place in range(len(tables))))
