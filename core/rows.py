"""INSERT statements of model rows for the pipeline, so that a write of several rows takes one round trip."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from types import NoneType
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db import models

from .lifecycle import LifecycleModel
from .pipeline import Call, Statement

Text = str | bytes | None
Encoder = Callable[[Any], Text]


class _Column(NamedTuple):
    """One column of an INSERT: the attribute that holds its value, whether it is JSON, and the default."""

    name: str
    json: bool
    default: Callable[[], Any] | None


def insert(row: models.Model) -> Call:
    """Return the statement that inserts a new row with all its columns; `save` and its signals are not run.

    :raises TransitionNotAllowed: the row has a lifecycle and was not built in its initial state.
    :raises TypeError: a value has no text form, for example an expression.
    """
    if isinstance(row, LifecycleModel):
        row.check_initial_states()
    return _call(type(row), vars(row))


def insert_values(model: type[models.Model], values: Mapping[str, Any]) -> Call:
    """Return the INSERT of values by column name, without building a row; missing columns take the model's default.

    :raises TypeError: the model has a lifecycle, or a value has no text form.
    :raises KeyError: a column without a default is missing.
    """
    if issubclass(model, LifecycleModel):
        raise TypeError(f"{model.__name__} has a lifecycle: build the row")
    return _call(model, values)


def insert_all(model: type[models.Model], rows: Sequence[Mapping[str, Any]]) -> Call:
    """Return the statement that inserts many rows with the same columns; other columns take the database's defaults.

    The rows are sent as one JSON document, so the statement is the same for one row and for thousands.
    """
    return Call(_many(model, tuple(rows[0])), [orjson.dumps(rows)])


@cache
def _many(model: type[models.Model], columns: tuple[str, ...]) -> Statement:
    table, names = model._meta.db_table, ", ".join(f'"{column}"' for column in columns)
    return Statement.of(
        f'INSERT INTO "{table}" ({names}) SELECT {names} FROM json_populate_recordset(NULL::"{table}", $1::json) RETURNING 1'
    )


def _call(model: type[models.Model], values: Mapping[str, Any]) -> Call:
    statement, columns = _plan(model)
    parameters = []
    for name, is_json, default in columns:
        value = values[name] if default is None or name in values else default()
        if value is not None and (is_json or type(value) is not str):
            value = _document(value) if is_json else text(value)
        parameters.append(value)
    return Call(statement, parameters)


@cache
def _plan(model: type[models.Model]) -> tuple[Statement, tuple[_Column, ...]]:
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    names = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(f"${number}" for number in range(1, len(fields) + 1))
    statement = Statement.of(f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({places})')
    return statement, tuple(_column(field) for field in fields)


def _column(field: Any) -> _Column:
    has_default = field.has_default() or field.null
    return _Column(str(field.attname), isinstance(field, models.JSONField), field.get_default if has_default else None)


def _document(value: Any) -> Text:
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer of more than 64 bits
        return json.dumps(value)


def _same(value: str | None) -> str | None:
    return value


_FORMS: dict[type, Encoder] = {
    NoneType: _same,
    str: _same,
    bool: lambda value: "t" if value else "f",
    int: str,
    Decimal: str,
    UUID: str,
    datetime: datetime.isoformat,
    date: date.isoformat,
    dict: _document,
    list: _document,
}


def text(value: Any) -> Text:
    """Return PostgreSQL's text form of a value; mappings and lists become JSON.

    :raises TypeError: values of this type have no text form here.
    """
    form = _FORMS.get(type(value))
    if form is None:
        form = next((known for kind, known in _FORMS.items() if isinstance(value, kind)), None)
    if form is None:
        raise TypeError(f"no text form for {type(value).__name__}")
    return form(value)
