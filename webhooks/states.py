"""The words for states: of a delivery from event to end, of an endpoint's circuit, of a replay; and why one is sent."""

from collections.abc import Iterable
from typing import Final

CREATED: Final = "created"
PENDING: Final = "pending"
RETRYING: Final = "retrying"
DELIVERED: Final = "delivered"
FAILED: Final = "failed"

ALL: Final = (CREATED, PENDING, RETRYING, DELIVERED, FAILED)
UNFINISHED: Final = (CREATED, PENDING, RETRYING)
RESENDABLE: Final = (RETRYING, DELIVERED, FAILED)

TRANSITIONS: Final = {
    CREATED: (PENDING,),
    PENDING: (RETRYING, DELIVERED, FAILED),
    RETRYING: (RETRYING, DELIVERED, FAILED),
    DELIVERED: (RETRYING,),
    FAILED: (RETRYING,),
}

SCHEDULE: Final = "schedule"
PROBE: Final = "probe"
MANUAL: Final = "manual"
TRIGGER: Final = (SCHEDULE, PROBE, MANUAL)

CLOSED: Final = "closed"
OPEN: Final = "open"
HALF_OPEN: Final = "half_open"
CIRCUIT: Final = (CLOSED, OPEN, HALF_OPEN)

QUEUED: Final = "queued"
RUNNING: Final = "running"
COMPLETED: Final = "completed"
CANCELLED: Final = "cancelled"
REPLAYING: Final = [QUEUED, RUNNING]
REPLAY: Final = (QUEUED, RUNNING, COMPLETED, FAILED, CANCELLED)
REPLAY_ONLY: Final = ("failed", "missing", "all")


def choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """Names in the form of a model's `choices`; each is its own label."""
    return [(name, name) for name in names]
