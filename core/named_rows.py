"""Rows of raw SQL by name: named tuples for the rows of the pipeline, any class for the rows of a cursor.

The pipeline answers in PostgreSQL's text form. A statement names the tuple whose fields are its columns, in their order
(`Statement.of(sql, row=Seen)`, then `rows.of(Seen)`); a test compares the two with the columns that PostgreSQL reports.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

import orjson
from django.db import connection

N = TypeVar("N", bound=tuple[Any, ...])
T = TypeVar("T")
Raw = Sequence[bytes | None]
Converter = Callable[[Any], Any]


class _Form(NamedTuple):
    """How a Python type is read from PostgreSQL's text form, and the column types that it may be read from."""

    convert: Converter
    columns: frozenset[str]


def _same(value: bytes) -> bytes:
    return value


_FORMS: dict[Any, _Form] = {
    str: _Form(bytes.decode, frozenset({"text", "varchar", "bpchar"})),
    int: _Form(int, frozenset({"int2", "int4", "int8"})),
    float: _Form(float, frozenset({"float4", "float8"})),
    bool: _Form(b"t".__eq__, frozenset({"bool"})),
    Decimal: _Form(lambda value: Decimal(value.decode()), frozenset({"numeric"})),
    UUID: _Form(lambda value: UUID(value.decode()), frozenset({"uuid"})),
    date: _Form(lambda value: date.fromisoformat(value.decode()), frozenset({"date"})),
    datetime: _Form(lambda value: datetime.fromisoformat(value.decode()), frozenset({"timestamptz"})),
    Any: _Form(orjson.loads, frozenset({"json", "jsonb"})),
    bytes: _Form(_same, frozenset({"json", "jsonb", "text"})),  # unparsed, to be passed on or read later
}


def read(kind: type[N], raw: Raw) -> N:
    """Read one row in PostgreSQL's text form into a named tuple.

    :raises TypeError: a column is NULL, but its field is not optional.
    """
    return kind(*[convert(value) for convert, value in zip(converters(kind), raw, strict=True)])


def fetch(kind: Callable[..., T], sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[T]:
    """Run a statement on a cursor and return each row as a named tuple or dataclass, by the names of the columns.

    :raises TypeError: the columns differ from the fields; a programming error.
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        names = [column.name for column in cursor.description]
        return [kind(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]


def columns(kind: type[tuple[Any, ...]]) -> list[tuple[str, frozenset[str]]]:
    """Return the name of each field of a named tuple, with the column types that it can be read from."""
    return [(name, _FORMS[_plain(hint)[0]].columns) for name, hint in get_type_hints(kind).items()]


@lru_cache(maxsize=256)
def converters(kind: type[tuple[Any, ...]]) -> tuple[Converter, ...]:
    """Return what reads each column of a named tuple from PostgreSQL's text form; it raises TypeError for a NULL that may not be."""
    return tuple(_converter(kind, name, hint) for name, hint in get_type_hints(kind).items())


def _converter(kind: type[tuple[Any, ...]], name: str, hint: Any) -> Converter:
    plain, is_nullable = _plain(hint)
    convert = _FORMS[plain].convert
    if convert is _same and is_nullable:
        return _same

    def nullable(value: bytes | None) -> Any:
        return None if value is None else convert(value)

    def required(value: bytes | None) -> Any:
        if value is None:
            raise TypeError(f"{kind.__name__}.{name} is NULL")
        return convert(value)

    def present(value: bytes | None) -> Any:
        if value is None:
            raise TypeError(f"{kind.__name__}.{name} is NULL")
        return value

    return nullable if is_nullable else present if convert is _same else required


def _plain(hint: Any) -> tuple[Any, bool]:
    """Return a type without its `| None`, and whether it had one."""
    if get_origin(hint) is not UnionType:
        return hint, False
    (plain,) = (one for one in get_args(hint) if one is not NoneType)
    return plain, True
