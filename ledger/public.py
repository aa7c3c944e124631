"""The door of the ledger: record a fact, hear of one, list the kinds there are."""

from .backlogs import Backlog, backlog
from .models import Event
from .recording import UnknownEventType, record
from .registry import EventType, after_commit, catalogue, register, subscribe

__all__ = [
    "Backlog",
    "Event",
    "EventType",
    "UnknownEventType",
    "after_commit",
    "backlog",
    "catalogue",
    "record",
    "register",
    "subscribe",
]
