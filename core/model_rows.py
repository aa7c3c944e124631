"""Rows of a model read and changed by the pipeline, so that a lock and a versioned save travel with other statements.

locked = lock_call(Parcel, tenant_id, parcel_id)
(found,) = run([locked])
parcel = row_of(Parcel, found)  # None if the tenant has no such row
parcel.accept(at)
run([save_call(parcel, "status", at=at), ...])
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache, lru_cache
from typing import Any, TypeVar
from uuid import UUID

import orjson
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.postgresql.psycopg_any import get_adapters_template
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader, Transformer
from psycopg.types.datetime import TimestamptzLoader

from . import rows
from .arrays import in_document
from .pipeline import Call, Rows, Statement
from .row_security import security_of

M = TypeVar("M", bound=models.Model)
_LONG_NUMBER = re.compile(rb"[0-9]{19}")


def lock_call(model: type[models.Model], tenant_id: UUID, key: UUID) -> Call:
    """Return the statement that reads and locks one row of a tenant until the transaction ends."""
    return Call(_lock(model), [str(tenant_id), str(key)])


def row_of(model: type[M], found: Rows) -> M | None:
    """Make the model's row of what `lock_call` returned; None for no row."""
    return next(iter(rows_of(model, found)), None)


def rows_of(model: type[M], found: Rows) -> list[M]:
    """Make the model's rows of what a statement returned that selects all columns in the model's order."""
    if not len(found):
        return []
    held = connections[DEFAULT_DB_ALIAS]
    reader = Transformer(_adapters(held.timezone))
    reader.set_pgresult(found.result)
    names, converters = _columns(model)
    made = reader.load_rows(0, len(found), list)
    for place, convert in converters:
        for values in made:
            values[place] = convert(values[place], None, held)
    return [model.from_db(DEFAULT_DB_ALIAS, names, values) for values in made]


@lru_cache(maxsize=256)
def _columns(model: type[models.Model]) -> tuple[list[str], list[tuple[int, Any]]]:
    """Return the attributes of a model's columns, and the places whose values a field converts; JSON is read by now."""
    fields, held = model._meta.concrete_fields, connections[DEFAULT_DB_ALIAS]
    converted = [(place, field) for place, field in enumerate(fields) if not isinstance(field, models.JSONField)]
    names = [str(field.attname) for field in fields]
    return names, [(place, convert) for place, field in converted for convert in field.get_db_converters(held)]


class _Instants(TimestamptzLoader):
    """Reads instants in UTC, which sessions use, in C; others as psycopg does."""

    def load(self, data: Buffer) -> datetime:
        try:
            found = datetime.fromisoformat(bytes(data).decode())
        except ValueError:  # before the year 1, after 9999, or infinite
            return super().load(data)
        return found if found.tzinfo is UTC else super().load(data)


class _Documents(Loader):
    """Reads JSON as `json` does; orjson would make floats of integers of more than 64 bits."""

    def load(self, data: Buffer) -> Any:
        text = bytes(data)
        return json.loads(text) if _LONG_NUMBER.search(text) else orjson.loads(text)


@lru_cache(maxsize=4)
def _adapters(timezone: tzinfo) -> AdaptersMap:
    """Django's adapters, with faster readers of the types that rows have most of."""
    made = AdaptersMap(get_adapters_template(True, timezone))
    made.register_loader("timestamptz", _Instants)
    made.register_loader("jsonb", _Documents)
    return made


def save_call(row: Any, *names: str, at: datetime, versions: tuple[str, ...] = ("version",)) -> Call:
    """Return the statement that saves the named columns of a locked row of `core.versioned.Versioned` as its next version.

    `versions` names the counters that go up by one; the row in memory follows.
    """
    for name in versions:
        setattr(row, name, getattr(row, name) + 1)
    row.updated_at = at
    columns = tuple(dict.fromkeys((*names, *versions, "updated_at")))
    model: type[models.Model] = type(row)
    sql, attributes = _save(model, columns)
    tenant_id = getattr(row, str(security_of(model).tenant_column))
    return Call(Statement.composed(sql), [str(tenant_id), str(row.pk), *(_text(row, *one) for one in attributes)])


def save_all_call(changed: Sequence[Any], *names: str, at: datetime, versions: tuple[str, ...] = ("version",)) -> Call:
    """Return the statement that saves the same columns of several locked rows of one tenant, each as its next version.

    The values are sent as one JSON document, so the statement is the same for two rows and for hundreds. One row is looked up
    by its key.
    """
    if len(changed) == 1:
        return save_call(changed[0], *names, at=at, versions=versions)
    for row in changed:
        for name in versions:
            setattr(row, name, getattr(row, name) + 1)
        row.updated_at = at
    columns = tuple(dict.fromkeys((*names, *versions, "updated_at")))
    model: type[models.Model] = type(changed[0])
    sql, attributes = _save_all(model, columns)
    given = [{column: getattr(row, name) for column, name in attributes} for row in changed]
    tenant_id = getattr(changed[0], str(security_of(model).tenant_column))
    return Call(Statement.composed(sql), [str(tenant_id), orjson.dumps(given, default=str)])


def delete_call(row: models.Model) -> Call:
    """Return the statement that deletes one row of a tenant."""
    model = type(row)
    tenant_id = getattr(row, str(security_of(model).tenant_column))
    return Call(_delete(model), [str(tenant_id), str(row.pk)])


def _text(row: models.Model, name: str, is_json: bool) -> rows.Text:
    value = getattr(row, name)
    return orjson.dumps(value) if is_json and value is not None else rows.text(value)


@cache
def _lock(model: type[models.Model]) -> Statement:
    columns = ", ".join(f'"{field.column}"' for field in model._meta.concrete_fields)
    return Statement.of(f'SELECT {columns} FROM "{model._meta.db_table}" WHERE {_own(model)} FOR UPDATE')


@lru_cache(maxsize=256)
def _save(model: type[models.Model], names: tuple[str, ...]) -> tuple[str, tuple[tuple[str, bool], ...]]:
    """Return the SQL, and the attributes of the values that it takes; which columns change is often the caller's choice."""
    fields = [model._meta.get_field(name) for name in names]
    assigned = ", ".join(f'"{field.column}" = ${number}' for number, field in enumerate(fields, 3))  # type: ignore[union-attr]
    sql = f'UPDATE "{model._meta.db_table}" SET {assigned} WHERE {_own(model)} RETURNING 1'
    return sql, tuple((str(field.attname), isinstance(field, models.JSONField)) for field in fields)  # type: ignore[union-attr]


@lru_cache(maxsize=64)
def _save_all(model: type[models.Model], names: tuple[str, ...]) -> tuple[str, list[tuple[str, str]]]:
    """Return the SQL, and columns and attributes of the values that it takes."""
    table, key = model._meta.db_table, model._meta.pk
    fields = [model._meta.get_field(name) for name in names]
    assigned = ", ".join(f'"{field.column}" = given."{field.column}"' for field in fields)  # type: ignore[union-attr]
    named = in_document(f'kept."{key.column}"', "$2", str(key.column))
    sql = (
        f'UPDATE "{table}" AS kept SET {assigned} FROM json_populate_recordset(NULL::"{table}", $2::json) AS given'
        f' WHERE kept."{security_of(model).tenant_column}" = $1 AND {named}'
        f' AND kept."{key.column}" = given."{key.column}" RETURNING 1'
    )
    return sql, [(str(field.column), str(field.attname)) for field in (key, *fields)]  # type: ignore[union-attr]


@cache
def _delete(model: type[models.Model]) -> Statement:
    return Statement.of(f'DELETE FROM "{model._meta.db_table}" WHERE {_own(model)}')


def _own(model: type[models.Model]) -> str:
    return f'"{security_of(model).tenant_column}" = $1 AND "{model._meta.pk.column}" = $2'
