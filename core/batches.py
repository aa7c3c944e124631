"""Rows of a batch and their results, as an action takes and gives them; `api.batches` reads bodies and answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from .errors import PlatformError

FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Row:
    """A valid row: its position in the request, and its validated members."""

    index: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a row: a status of the batch with the object's id, or `error`.

    Field names in the error are relative to the row.
    """

    index: int
    status: str = FAILED
    id: UUID | None = None
    error: PlatformError | None = None
