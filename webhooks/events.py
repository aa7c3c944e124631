"""Facts about webhook endpoints themselves; an endpoint never hears of its own."""

from dataclasses import dataclass
from typing import ClassVar

from ledger.public import EventType, register

_RESOURCE = "webhook_endpoint"
_HREF = "/v1/webhooks/{id}"


@register
@dataclass(frozen=True)
class EndpointCreated(EventType):
    """An endpoint was registered."""

    type: ClassVar[str] = "webhook_endpoint.created"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    active: bool


@register
@dataclass(frozen=True)
class EndpointUpdated(EventType):
    """An endpoint's address, events, description or activity was changed."""

    type: ClassVar[str] = "webhook_endpoint.updated"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    active: bool
    changed: list[str]


@register
@dataclass(frozen=True)
class EndpointDeleted(EventType):
    """An endpoint was deleted; its history stays."""

    type: ClassVar[str] = "webhook_endpoint.deleted"
    resource: ClassVar[str] = _RESOURCE


@register
@dataclass(frozen=True)
class SecretRotated(EventType):
    """An endpoint signs with a new key; the old one counts until the overlap ends."""

    type: ClassVar[str] = "webhook_endpoint.secret_rotated"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    overlap_seconds: int
