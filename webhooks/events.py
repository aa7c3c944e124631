"""Facts about webhook endpoints themselves; an endpoint never hears of its own."""

from dataclasses import dataclass
from typing import ClassVar

from ledger.public import EventType, register


@dataclass(frozen=True)
class _EndpointFact(EventType):
    resource: ClassVar[str] = "webhook_endpoint"
    href: ClassVar[str] = "/v1/webhooks/{id}"


@register
@dataclass(frozen=True)
class EndpointCreated(_EndpointFact):
    """An endpoint was registered."""

    type: ClassVar[str] = "webhook_endpoint.created"

    active: bool


@register
@dataclass(frozen=True)
class EndpointUpdated(_EndpointFact):
    """Members of an endpoint were changed; `changed` names which."""

    type: ClassVar[str] = "webhook_endpoint.updated"

    active: bool
    changed: list[str]


@register
@dataclass(frozen=True)
class EndpointDeleted(_EndpointFact):
    """An endpoint was deleted; its history stays."""

    type: ClassVar[str] = "webhook_endpoint.deleted"
    href: ClassVar[str] = ""


@register
@dataclass(frozen=True)
class SecretRotated(_EndpointFact):
    """An endpoint signs with a new key; the old one counts until the overlap ends."""

    type: ClassVar[str] = "webhook_endpoint.secret_rotated"

    overlap_seconds: int


@register
@dataclass(frozen=True)
class SecretRevoked(_EndpointFact):
    """The overlap of an older key was ended before its time."""

    type: ClassVar[str] = "webhook_endpoint.secret_revoked"

    secret_id: str


@register
@dataclass(frozen=True)
class DeliveryResent(_EndpointFact):
    """Somebody asked that one finished delivery be sent again."""

    type: ClassVar[str] = "webhook_endpoint.delivery_resent"

    delivery_id: str
    event_id: str
    from_state: str


@register
@dataclass(frozen=True)
class ReplayRequested(_EndpointFact):
    """Somebody asked that a stretch of the past be sent again."""

    type: ClassVar[str] = "webhook_endpoint.replay_requested"

    replay_id: str
    only: str
    since: str
    until: str


@register
@dataclass(frozen=True)
class ReplayCancelled(_EndpointFact):
    """A replay was stopped before its end; what it had queued is still delivered."""

    type: ClassVar[str] = "webhook_endpoint.replay_cancelled"

    replay_id: str


@dataclass(frozen=True)
class EndpointTrouble(_EndpointFact):
    """What whoever reads of a failing endpoint wants to know at once: since when, how often, what came back, what waits."""

    failing_since: str | None
    failures: int
    waiting: int
    event_type: str
    last_status: int | None
    last_error: str


@register
@dataclass(frozen=True)
class EndpointFailing(EndpointTrouble):
    """An endpoint has accepted nothing for a day; in two more days it is disabled."""

    type: ClassVar[str] = "webhook_endpoint.failing"


@register
@dataclass(frozen=True)
class EndpointDisabled(EndpointTrouble):
    """The platform disabled an endpoint, because it is gone or failed for too long; what waits for it is kept."""

    type: ClassVar[str] = "webhook_endpoint.disabled"

    reason: str
    by: str
