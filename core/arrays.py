"""PostgreSQL array literals: a list of values as one parameter of a statement, for example a whole column."""

from collections.abc import Iterable
from datetime import date
from itertools import chain, repeat
from typing import Any
from uuid import UUID


def array_literal(values: Iterable[str | UUID | None]) -> str:
    """Write an array of texts or ids; None becomes NULL."""
    return "{" + ",".join(map(_quoted, values)) + "}"


def moments(instants: Iterable[date]) -> str:
    """Write an array of instants, or of days; an instant without an offset is one of the session's time zone."""
    return "{" + ",".join(one.isoformat() for one in instants) + "}"


def numbers(values: Iterable[int | float]) -> str:
    """Write an array of numbers; a float reads back as the same float."""
    return "{" + ",".join(map(repr, values)) + "}"


def repeated(values: Iterable[tuple[int, int]]) -> str:
    """Write an array of numbers from pairs of a number and how often it is repeated."""
    return "{" + ",".join(chain.from_iterable(repeat(str(number), times) for number, times in values)) + "}"


def columns(rows: Iterable[tuple[Any, ...]], width: int) -> list[str]:
    """Turn rows of numbers and texts into one array literal for each of their `width` columns."""
    turned = list(zip(*rows, strict=True)) or [()] * width
    return [array_literal(column) if column and isinstance(column[0], str) else numbers(column) for column in turned]


def in_document(column: str, document: str, member: str = "id") -> str:
    """Write the condition that a column has one of the ids that a JSON document of objects holds; all are given as SQL.

    It stands beside the join of such a document in a write: PostgreSQL takes a document for a hundred rows, for which it reads
    every row of the tenant, but knows that an array is short.
    """
    return f"{column} = ANY(ARRAY(SELECT d.{member} FROM json_to_recordset({document}::json) AS d ({member} uuid)))"


def _quoted(value: str | UUID | None) -> str:
    if value is None:
        return "NULL"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
