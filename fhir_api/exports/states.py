"""The words for an export: its state from wish to end, what its files hold, and what it is about."""

from typing import Final

QUEUED: Final = "queued"
RUNNING: Final = "running"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"
EXPIRED: Final = "expired"

ALL: Final = (QUEUED, RUNNING, COMPLETED, FAILED, CANCELLED, EXPIRED)
OPEN: Final = (QUEUED, RUNNING)
OVER: Final = (FAILED, CANCELLED, EXPIRED)  # nobody fetches their files any more

OUTPUT: Final = "output"
DELETED: Final = "deleted"
ERROR: Final = "error"
KINDS: Final = (OUTPUT, DELETED, ERROR)

SYSTEM: Final = "system"
PATIENT: Final = "patient"
GROUP: Final = "group"
LEVELS: Final = (SYSTEM, PATIENT, GROUP)
