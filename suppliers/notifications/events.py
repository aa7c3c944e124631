"""Event types of messages and alerts. Source: contract, supply.md 8.

A message is told to both tenants, each by the id of its own row, an alert to the tenant that has it.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


class _NotificationEvent(EventType):
    href: ClassVar[str] = "/v1/notifications/{id}"


@register
@dataclass(frozen=True)
class MessageSent(_NotificationEvent):
    """A party of a document has written to the other one; the text is read at the address of the message."""

    type: ClassVar[str] = "message.sent"
    resource: ClassVar[str] = "message"
    data_class: ClassVar[str] = "personal"

    thread_id: str
    about_type: str = field(metadata={"example": "reservation"})
    about_id: str
    by: str = field(metadata={"example": "buyer"})


@dataclass(frozen=True)
class _AlertEvent(_NotificationEvent):
    resource: ClassVar[str] = "alert"

    alert_type: str = field(metadata={"example": "low_stock"})
    severity: str = field(metadata={"example": "warning"})
    about_type: str = field(metadata={"example": "stock_level"})
    about_id: str


@register
@dataclass(frozen=True)
class AlertRaised(_AlertEvent):
    """An alert has opened; `webhook` false, as the tenant's preferences say, keeps it from webhook endpoints."""

    type: ClassVar[str] = "alert.raised"
    muted_by: ClassVar[str] = "webhook"

    webhook: bool = True


@register
@dataclass(frozen=True)
class AlertAcknowledged(_AlertEvent):
    """A member of the tenant has taken note of an alert."""

    type: ClassVar[str] = "alert.acknowledged"
