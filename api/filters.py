"""Filters of lists: django-filter declares and checks them, this module turns them into SQL conditions.

Only operators that PostgreSQL treats as leakproof are offered, so that indexes work under row security.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import django_filters
from django.http import QueryDict

from core import clock
from core.arrays import array_literal
from core.conditions import Condition
from core.errors import FieldError, InvalidFields, Malformed

from .body import check_text
from .serializers import listed

__all__ = [  # `Condition` is defined in core, because rules below HTTP use it too
    "Condition",
    "DuplicateParameter",
    "Filters",
    "UnknownParameter",
    "array_literal",
    "check_names",
    "conditions",
    "one_of",
]

_MOST_KEPT, _LONGEST_KEPT = 2_048, 256
_known: dict[tuple[Any, ...], list[tuple[str, Condition]]] = {}  # by filters and the texts that were given
_OPERATORS = {"exact": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "startswith": "^@"}


class UnknownParameter(Malformed):
    """A query parameter the operation does not know: a misspelt filter must not return everything."""

    code = "unknown_parameter"
    title = "The operation has no such query parameter."
    extensions = {"allowed": ["limit", "page", "sort"]}


class DuplicateParameter(Malformed):
    """A query parameter was given twice; which one counts would be a guess."""

    code = "duplicate_parameter"
    title = "A query parameter was given more than once."


class Filters(django_filters.FilterSet):
    """Base of every list's filters. A filter's `field_name` is a column; `condition_<name>` methods override the SQL.

    `otherwise` maps the name of a filter to the condition (SQL over `t`) that holds where the filter is not given.
    A condition depends on the texts that were given and on nothing else: it is kept for whoever sends them again.
    """

    otherwise: ClassVar[Mapping[str, str]] = {}


def one_of(column: str, value: str, known: Sequence[str], *, is_literal: bool = False) -> Condition:
    """Return the condition that a column equals one of a comma-separated list of known values.

    `is_literal` writes the values into the statement, which then has a form for each choice: plans are made without the
    parameters (decision 62), so that only such a form can use an index that is partial on the column.

    :raises InvalidFields: a value is unknown, or the list is empty.
    """
    names = [part.strip() for part in value.split(",") if part.strip()]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        message = f"{', '.join(unknown)[:64] or 'nothing'!r} is not among {', '.join(known)}."
        raise InvalidFields(errors=[FieldError(column, "invalid_choice", message)])
    if is_literal:
        values = [f"'{name}'" for name in known if name in names]
        return Condition(
            f't."{column}" = {values[0]}' if len(values) == 1 else f't."{column}" IN ({", ".join(values)})'
        )
    if len(names) == 1:
        return Condition(f't."{column}" = {{0}}', (names[0],))
    return Condition(f't."{column}" = ANY({{0}}::text[])', (array_literal(names),))


def check_names(query: QueryDict, allowed: Iterable[str]) -> None:
    """Refuse unknown and repeated query parameters, and text that cannot be stored.

    :raises UnknownParameter: a name is unknown; the refusal lists the allowed ones.
    :raises DuplicateParameter: a name is given twice.
    """
    if not query:
        return
    names = set(allowed)
    for name, values in query.lists():
        if name not in names:
            raise UnknownParameter(f"Unknown query parameter {name[:64]!r}.", allowed=sorted(names))
        if len(values) > 1:
            raise DuplicateParameter(f"{name!r} was given {len(values)} times.")
        check_text(str(values[0]))


def conditions(filters: type[Filters] | None, query: QueryDict) -> list[tuple[str, Condition]]:
    """Return the conditions of the filters that were given, by name.

    :raises InvalidFields: a value is invalid for its filter.
    """
    named = tuple(name for name in filters.base_filters if name in query) if filters is not None and query else ()
    if filters is None or not named:
        return []
    given = (filters, *((name, query[name]) for name in named))
    found = _known.get(given)
    if found is None:
        found = _parsed(filters, named, query)
        if sum(len(query[name]) for name in named) <= _LONGEST_KEPT:
            if len(_known) >= _MOST_KEPT:
                _known.clear()
            _known[given] = found
    return found


def _parsed(filters: type[Filters], named: tuple[str, ...], query: QueryDict) -> list[tuple[str, Condition]]:
    narrowed = _narrowed(filters, named)  # type: ignore[arg-type]  # untyped: its metaclass is not known as hashable
    found = narrowed(data=query, queryset=filters._meta.model._default_manager.none())
    form = found.form
    if not form.is_valid():
        raise InvalidFields(
            "A query parameter is invalid.",
            errors=[
                FieldError(name, str(error.code or "invalid"), _told(form.fields[name], error))
                for name, list_ in form.errors.as_data().items()
                for error in list_
            ],
        )
    # Of what is neither true nor false, django-filter's widget makes None, as if the filter were not given.
    if lost := [name for name in named if form.cleaned_data[name] is None and str(query[name]).strip()]:
        message = "Choose true or false."
        raise InvalidFields(
            "A query parameter is invalid.", errors=[FieldError(name, "invalid_choice", message) for name in lost]
        )
    given = {name: value for name, value in form.cleaned_data.items() if name in query and value not in (None, "")}
    return [(name, _condition(found, name, value)) for name, value in given.items()]


def _told(field: Any, error: Any) -> str:
    """The message of a fault; where a choice was refused, with what may be chosen."""
    choices = getattr(field, "choices", None) if error.code == "invalid_choice" else None
    names = listed(value for value, _ in choices) if choices else ""
    return f"Choose one of {names}." if names else "; ".join(error.messages)


@lru_cache(maxsize=512)
def _narrowed(filters: type[Filters], names: tuple[str, ...]) -> type[Filters]:
    """The set with the named filters alone: django-filter copies each filter of a set for each request."""
    made: type[Filters] = type(filters.__name__, (filters,), {"__module__": filters.__module__})
    made.base_filters = OrderedDict((name, filters.base_filters[name]) for name in names)
    return made


def _condition(found: Filters, name: str, value: Any) -> Condition:
    own: Callable[[Any], Condition] | None = getattr(found, f"condition_{name}", None)
    if own is not None:
        return own(value)
    declared = found.filters[name]
    if declared.lookup_expr == "isnull":
        return Condition(f't."{declared.field_name}" IS {"" if value else "NOT "}NULL')
    return Condition(f't."{declared.field_name}" {_OPERATORS[declared.lookup_expr]} {{0}}', (_text(name, value),))


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return clock.rfc3339(value) if hasattr(value, "tzinfo") else str(value)
    except OverflowError:
        told = FieldError(name, "invalid", "The instant is beyond the years 1 to 9999 of UTC.")
        raise InvalidFields("A query parameter is invalid.", errors=[told]) from None
