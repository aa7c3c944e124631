"""Tables of several as one: what a tenant has of documents as either party, for lists and reads at one address.

PostgreSQL takes a UNION ALL apart only where all its branches have the same types, to the letter: a `varchar` beside a `text`
is enough to build every column of every row before a page of twenty is chosen. Texts are cast in each branch therefore. A
branch has no condition of its own either: such a one is read and sorted whole, others give a page in the order of their index.
So whoever reads these rows narrows them by `tenant_id`.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db import models


def union_of(
    model: type[models.Model],
    columns: Mapping[str, Sequence[str]],
    tables: Sequence[str],
    *,
    texts: Iterable[str] = (),
) -> str:
    """Write the SQL of rows with the columns of a model, of all tenants, in parentheses.

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

    return "({})".format(" UNION ALL ".join(branch(place) for place in range(len(tables))))
