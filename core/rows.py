"""Inserting rows of models through the pipeline, so that a write that makes several of them takes one round trip."""

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import models

from .lifecycle import LifecycleModel
from .pipeline import Call, Statement

Encoder = Callable[[Any], str | None]


def insert(row: models.Model) -> Call:
    """The statement that inserts a new row with all its columns; what a save would do besides is not done.

    :raises TransitionNotAllowed: it has a lifecycle and was built in a later state than the first.
    :raises TypeError: a value has no form here, e.g. an expression.
    """
    if isinstance(row, LifecycleModel):
        row.check_start()
    statement, columns = _plan(type(row))
    return Call(statement, [encode(getattr(row, name)) for name, encode in columns])


def inserts(rows: Sequence[models.Model]) -> list[Call]:
    """One statement for each row."""
    return [insert(row) for row in rows]


@lru_cache(maxsize=256)
def _plan(model: type[models.Model]) -> tuple[Statement, tuple[tuple[str, Encoder], ...]]:
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    names = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(f"${number}" for number in range(1, len(fields) + 1))
    statement = Statement.of(f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES ({places})')
    return statement, tuple((str(field.attname), _encoder(field)) for field in fields)


def _encoder(field: Any) -> Encoder:
    return _document if isinstance(field, models.JSONField) else _text


def _document(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _text(value: Any) -> str | None:
    """PostgreSQL's text form of a value."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, int | Decimal | UUID):
        return str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise TypeError(f"no text form for {type(value).__name__}")
