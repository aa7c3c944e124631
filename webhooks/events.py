"""Facts about webhook endpoints themselves; an endpoint never hears of its own."""

from dataclasses import dataclass
from typing import ClassVar, TypedDict

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
    """Members of an endpoint were changed; `changed` names which."""

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


@register
@dataclass(frozen=True)
class SecretRevoked(EventType):
    """The overlap of an older key was ended before its time."""

    type: ClassVar[str] = "webhook_endpoint.secret_revoked"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    secret_id: str


@register
@dataclass(frozen=True)
class DeliveryResent(EventType):
    """Somebody asked that one finished delivery be sent again."""

    type: ClassVar[str] = "webhook_endpoint.delivery_resent"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    delivery_id: str
    event_id: str
    from_state: str


@register
@dataclass(frozen=True)
class ReplayRequested(EventType):
    """Somebody asked that a stretch of the past be sent again."""

    type: ClassVar[str] = "webhook_endpoint.replay_requested"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    replay_id: str
    only: str
    since: str
    until: str


@register
@dataclass(frozen=True)
class ReplayCancelled(EventType):
    """A replay was stopped before its end; what it had queued is still delivered."""

    type: ClassVar[str] = "webhook_endpoint.replay_cancelled"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    replay_id: str


class Trouble(TypedDict):
    """What the two facts about a failing endpoint tell alike."""

    failing_since: str | None
    failures: int
    waiting: int
    event_type: str
    last_status: int | None
    last_error: str


@register
@dataclass(frozen=True)
class EndpointFailing(EventType):
    """An endpoint has accepted nothing for a day; in two more days it is disabled."""

    type: ClassVar[str] = "webhook_endpoint.failing"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    failing_since: str | None
    failures: int
    waiting: int
    event_type: str
    last_status: int | None
    last_error: str


@register
@dataclass(frozen=True)
class EndpointDisabled(EventType):
    """The platform disabled an endpoint, because it is gone or failed for too long; what waits for it is kept."""

    type: ClassVar[str] = "webhook_endpoint.disabled"
    resource: ClassVar[str] = _RESOURCE
    href: ClassVar[str] = _HREF

    reason: str
    by: str
    failing_since: str | None
    failures: int
    waiting: int
    event_type: str
    last_status: int | None
    last_error: str
