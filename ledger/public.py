"""What other apps use of the ledger: record facts, subscribe to them, list the event types."""

from .backlogs import Backlog, backlog
from .models import Event
from .recording import Occurrence, UnknownEventType, record, record_many, statements, statements_of_many
from .registry import (
    DATA_CLASSES,
    EventType,
    Fact,
    Representation,
    after_commit,
    catalogue,
    href_of,
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
    "Representation",
    "UnknownEventType",
    "after_commit",
    "backlog",
    "catalogue",
    "href_of",
    "record",
    "record_many",
    "register",
    "represent",
    "representation_of",
    "statements",
    "statements_of_many",
    "subscribe",
]
