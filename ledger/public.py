"""What other apps use of the ledger: record facts, subscribe to them, list the event types."""

from .audiences import Recording, SideMissing, record_for, recording_for
from .backlogs import Backlog, backlog
from .models import Event
from .recording import Occurrence, ReactionMissed, UnknownEventType, record, record_many, statements, statements_of_many
from .registry import (
    DATA_CLASSES,
    EventType,
    Fact,
    Representation,
    after_commit,
    catalogue,
    href_of,
    is_muted,
    react,
    register,
    represent,
    representation_of,
    subscribe,
)

__all__ = [
    "DATA_CLASSES",
    "Backlog",
    "Event",
    "EventType",
    "Fact",
    "Occurrence",
    "ReactionMissed",
    "Recording",
    "Representation",
    "SideMissing",
    "UnknownEventType",
    "after_commit",
    "backlog",
    "catalogue",
    "href_of",
    "is_muted",
    "react",
    "record",
    "record_for",
    "record_many",
    "recording_for",
    "register",
    "represent",
    "representation_of",
    "statements",
    "statements_of_many",
    "subscribe",
]
