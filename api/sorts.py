"""Sorts of lists: the names that `sort` knows, and the columns behind them."""

from typing import NamedTuple

from django.core.exceptions import ImproperlyConfigured

from core.errors import Malformed

from .casts import cast_of
from .shapes import Shape


class UnknownSort(Malformed):
    """`sort` names something the list cannot be sorted by."""

    code = "unknown_sort"
    title = "The list cannot be sorted by this."
    extensions = {"allowed": ["created_at", "name"]}


class Sort(NamedTuple):
    """A column to sort by (never null) and the PostgreSQL type its cursor values are cast to."""

    column: str
    cast: str


class SortBy(NamedTuple):
    """An entry of `ordering_fields` named unlike its column; `cast` is the type of a column that the model lacks."""

    name: str
    column: str
    cast: str = ""


ORDERING_FIELDS: tuple[str | SortBy, ...] = ("created_at", "updated_at")


def sort_of(shape: Shape, entry: str | SortBy) -> tuple[str, Sort]:
    """Return the name and the column of an entry of `ordering_fields`.

    :raises ImproperlyConfigured: it names no column of the model.
    """
    name, column, cast = entry if isinstance(entry, SortBy) else (entry, entry, "")
    if cast:
        return name, Sort(column, cast)
    found = next((one for one in shape.model._meta.concrete_fields if one.column == column), None)
    if found is None:
        raise ImproperlyConfigured(f"{shape.name}: {shape.model.__name__} has no column {column} to sort by.")
    return name, Sort(column, cast_of(found))


def tie_break(shape: Shape) -> Sort:
    """The key that tells any two rows apart, whose column a derived table may have of its own."""
    found = next((one for one in shape.model._meta.concrete_fields if one.column == shape.key), None)
    return Sort(shape.key, cast_of(found) if found else "uuid")
