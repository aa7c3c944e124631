"""Results that an action may return instead of the changed row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import PlatformError


@dataclass(frozen=True, slots=True)
class Revealed:
    """A row together with members that are shown only in this answer: a key, a secret, a link."""

    row: Any
    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A row that was there already: a creation that would make it twice answers it with 200.

    `members` are shown only in this answer.
    """

    row: Any
    members: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal whose transaction commits: what the action wrote is kept, and the answer is the error.

    The answer is stored with the Idempotency-Key and replayed, like that of a success.
    """

    error: PlatformError
