"""Rows of raw SQL by name: what tuples say of their statements is what PostgreSQL says, and values come by type."""

import importlib
import pkgutil
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from core import pipeline
from core.named_rows import columns, fetch
from core.pipeline import Call, Statement

APPS = ("api", "core", "fhir_api", "ledger", "organizations", "suppliers", "webhooks")


class Everything(NamedTuple):
    """A value of each type."""

    text: str
    whole: int
    share: float
    flag: bool
    amount: Decimal
    key: UUID
    at: datetime
    document: Any
    bytes_of_it: bytes
    nothing: str | None


EVERYTHING = Statement.of(
    "SELECT 'Ärzte' AS text, -7 AS whole, 0.5::float8 AS share, true AS flag, 1.50 AS amount,"
    " '018f0000-0000-7000-8000-000000000001'::uuid AS key, '2026-02-03T04:05:06.789012Z'::timestamptz AS at,"
    " '{\"a\": [1]}'::jsonb AS document, '[1]'::json AS bytes_of_it, NULL::text AS nothing, 'more' AS behind",
    row=Everything,
)


def import_all() -> None:
    for name in APPS:
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if ".migrations" not in found.name:
                importlib.import_module(found.name)


def test_every_tuple_agrees_with_its_statement():
    import_all()
    connection.ensure_connection()
    low = connection.connection.pgconn
    types = psycopg.adapters.types

    for number, (statement, kind) in enumerate(pipeline.row_types):
        name = b"described_%d" % number
        assert low.prepare(name, statement.sql).status == psycopg.pq.ExecStatus.COMMAND_OK, statement.sql
        told = low.describe_prepared(name)
        found = [(told.fname(n).decode(), types[told.ftype(n)].name) for n in range(told.nfields)]
        wanted = columns(kind)
        assert [column for column, _ in found[: len(wanted)]] == [column for column, _ in wanted], kind
        for (column, type_name), (_, allowed) in zip(found, wanted, strict=False):
            assert type_name in allowed, (kind, column)

    assert len(pipeline.row_types) > 5


def test_values_come_by_type():
    (rows,) = pipeline.run([Call(EVERYTHING)])

    assert rows.of(Everything) == [
        Everything(
            text="Ärzte",
            whole=-7,
            share=0.5,
            flag=True,
            amount=Decimal("1.50"),
            key=UUID("018f0000-0000-7000-8000-000000000001"),
            at=datetime(2026, 2, 3, 4, 5, 6, 789012, UTC),
            document={"a": [1]},
            bytes_of_it=b"[1]",
            nothing=None,
        )
    ]


def test_null_where_the_tuple_has_none_is_refused():
    class Named(NamedTuple):
        name: str

    (rows,) = pipeline.run([Call(Statement.of("SELECT NULL::text AS name"))])

    with pytest.raises(TypeError, match=r"Named\.name is NULL"):
        rows.of(Named)


@dataclass(frozen=True)
class Pair:
    """Two values by name."""

    first: int
    second: str


def test_rows_of_a_cursor_are_read_by_name_whatever_their_order():
    assert fetch(Pair, "SELECT %s::text AS second, 1 AS first", ["b"]) == [Pair(first=1, second="b")]


def test_rows_of_a_cursor_with_other_columns_are_refused():
    with pytest.raises(TypeError, match="third"):
        fetch(Pair, "SELECT 1 AS first, 'b' AS third")
