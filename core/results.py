"""Results that an action may return instead of the changed row."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import PlatformError


@dataclass(frozen=True, slots=True)
class Revealed:
    """A row together with members that are shown only in this answer: a key, a secret, a link."""

    row: Any
    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal whose transaction commits: what the action wrote is kept, and the answer is the error.

    The answer is stored with the Idempotency-Key and replayed, like that of a success.
    """

    error: PlatformError
