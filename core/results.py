"""What an action may return instead of the row that it changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import PlatformError


@dataclass(frozen=True, slots=True)
class Revealed:
    """A row whose answer shows, this once, members that nothing stores in clear: a key, a secret, a link."""

    row: Any
    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal that keeps what the action wrote: the transaction commits, and the caller is answered the error.

    The answer is kept with the Idempotency-Key and replayed, as that of a success is.
    """

    error: PlatformError
