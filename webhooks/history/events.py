"""The fact that what an event said was taken back."""

from dataclasses import dataclass
from typing import ClassVar

from ledger.public import EventType, register


@register
@dataclass(frozen=True)
class EventExpunged(EventType):
    """What an earlier event said was expunged, because it held what it never should have; receivers should do the same.

    Its id, type, time and place in the order stay. `event_id` is the one receivers know it by.
    """

    type: ClassVar[str] = "webhook_event.expunged"
    resource: ClassVar[str] = "webhook_event"

    event_id: str
