"""Lists of values as PostgreSQL's array literals, one parameter for a whole column."""

from collections.abc import Iterable
from itertools import chain, repeat
from typing import Any


def numbers(values: Iterable[int | float]) -> str:
    """Numbers; floats are written so that they read back the same."""
    return "{" + ",".join(map(repr, values)) + "}"


def texts(values: Iterable[str | None]) -> str:
    """Texts of any content; None is NULL."""
    return "{" + ",".join(map(_quoted, values)) + "}"


def repeated(values: Iterable[tuple[int, int]]) -> str:
    """Numbers, each as often as is said."""
    return "{" + ",".join(chain.from_iterable(repeat(str(number), times) for number, times in values)) + "}"


def columns(rows: Iterable[tuple[Any, ...]], width: int) -> list[str]:
    """Rows of numbers and texts, turned into one array for each column."""
    turned = list(zip(*rows, strict=True)) or [()] * width
    return [texts(column) if column and isinstance(column[0], str) else numbers(column) for column in turned]


def _quoted(value: str | None) -> str:
    if value is None:
        return "NULL"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
