"""Every write to endpoints and to their deliveries. Each demands a transaction and records one fact."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import connection
from django.db.models import Exists, OuterRef

from core.actor import Actor
from core.db import needs_transaction
from core.errors import Conflict, InvalidTransition
from core.results import Revealed
from ledger import public as ledger
from organizations.public import consume_quota, release_quota

from . import bodies, changes, egress, envelope, events, patterns, policies, states
from .keys.actions import add_secret
from .models import Delivery, DueDelivery, Endpoint, EndpointHealth, Event, Replay, Secret

QUOTA = "webhook_endpoints"
RESUMABLE = timedelta(hours=72)

_REACHING = frozenset({"url", "events", "payload_mode"})  # what decides who gets to see what
_DISABLING = ("disabled_reason", "disabled_at", "disabled_by")

# `claims` starts where `attempts` does: their difference is how often whoever took the row never came back.
_RESUME = """
INSERT INTO webhooks_delivery_due (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at, attempts, attempts_before,
                                   claims, resource_id, sequence)
SELECT d.id, d.created_at, d.tenant_id, d.event_id, d.endpoint_id, GREATEST(now(), d.next_attempt_at),
       d.attempts, d.attempts_before, d.attempts, e.resource_id, e.sequence
FROM webhooks_delivery d JOIN webhooks_event e ON e.created_at = d.created_at AND e.id = d.event_id
WHERE d.tenant_id = %(tenant)s AND e.tenant_id = %(tenant)s AND d.endpoint_id = %(endpoint)s AND d.state = ANY(%(states)s)
ON CONFLICT DO NOTHING RETURNING 1
"""

# Locked in the order in which the dispatcher locks them.
_DROP_DUE = """
DELETE FROM webhooks_delivery_due WHERE tenant_id = %(tenant)s AND delivery_id = ANY(ARRAY(
  SELECT delivery_id FROM webhooks_delivery_due
  WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND (lease IS NULL OR %(leased)s)
  ORDER BY delivery_id FOR UPDATE))
"""


class EndpointInactive(Conflict):
    """Nothing is sent to an endpoint that is disabled or deleted."""

    code: ClassVar[str] = "endpoint_inactive"
    title: ClassVar[str] = "The endpoint is not active; enable it first."


class EventGone(Conflict):
    """The event's body was dropped at the end of its retention, so there is nothing to send."""

    code: ClassVar[str] = "event_gone"
    title: ClassVar[str] = "The event is past its retention and can no longer be sent."


@needs_transaction
def create_endpoint(actor: Actor, data: Mapping[str, Any], at: datetime, addresses: Collection[str] = ()) -> Revealed:
    """Register an endpoint and make its first signing key; `addresses` is what the name of its URL was found to have.

    :raises BlockedDestination: the platform does not connect to such an address.
    :raises UnknownEventPattern: a pattern matches no event of the catalogue.
    :raises FullPayloadForbidden: full payloads would hold what the caller may not read.
    :raises QuotaExceeded: the tenant's plan allows no more endpoints.
    """
    wanted = _checked(data, addresses)
    kind = wanted.pop("signature", Secret.Kind.HMAC)
    if wanted.get("payload_mode") == bodies.FULL:
        policies.may_have_full(actor, wanted["events"])
    endpoint = Endpoint(tenant_id=actor.tenant_id, created_at=at, updated_at=at, **wanted)
    if not endpoint.active:
        _name_disabling(endpoint, actor, at)
    endpoint.save(force_insert=True)
    shown = add_secret(endpoint, kind=kind, at=at)
    changes.record(actor=actor, endpoint=endpoint, fact=events.EndpointCreated(active=endpoint.active), at=at)
    consume_quota(actor=actor, key=QUOTA, at=at)
    return shown


@needs_transaction
def update_endpoint(
    actor: Actor, endpoint: Endpoint, data: Mapping[str, Any], at: datetime, addresses: Collection[str] = ()
) -> Endpoint:
    """Change a locked endpoint. Disabling freezes its unfinished deliveries, enabling resumes those under 72 hours old.

    :raises BlockedDestination: as at creation.
    :raises UnknownEventPattern, FullPayloadForbidden: as at creation.
    """
    wanted = _checked(data, addresses)
    changed = sorted(endpoint.assign(wanted))
    if not changed:
        return endpoint
    if endpoint.payload_mode == bodies.FULL and not _REACHING.isdisjoint(changed):
        policies.may_have_full(actor, endpoint.events)
    if "active" in changed:
        _switch(endpoint, actor, at)
    fact = events.EndpointUpdated(active=endpoint.active, changed=changed)
    changes.change(actor=actor, endpoint=endpoint, fact=fact, at=at, names=(*changed, *_DISABLING))
    return endpoint


@needs_transaction
def delete_endpoint(actor: Actor, endpoint: Endpoint, at: datetime) -> Endpoint:
    """Take a locked endpoint out of use for good. What was delivered stays readable; what was not has failed."""
    open_replays = Replay.objects.of(actor).filter(endpoint=endpoint, state__in=states.REPLAYING)
    open_replays.update_versions(state=states.CANCELLED, error="endpoint_deleted", finished_at=at, at=at)
    _drop_due(endpoint, leased=True)
    _fail(_unfinished(endpoint), "endpoint_deleted", at)
    Secret.objects.of(actor).filter(Secret.VALIDITY.holds_at(at), endpoint=endpoint).update_versions(
        expires_at=at, at=at
    )
    endpoint.active, endpoint.deleted_at = False, at
    changes.change(actor=actor, endpoint=endpoint, fact=events.EndpointDeleted(), at=at, names=("active", "deleted_at"))
    release_quota(actor=actor, key=QUOTA, at=at)
    return endpoint


@needs_transaction
def resend_delivery(actor: Actor, delivery: Delivery, at: datetime) -> Delivery:
    """Send a locked delivery of a locked endpoint again, or now if it waits; its schedule begins anew, its attempts count on.

    :raises EndpointInactive: the endpoint is disabled or deleted.
    :raises InvalidTransition: the delivery is on its way this moment.
    :raises EventGone: the event's body is no longer kept.
    """
    endpoint = delivery.endpoint
    if not endpoint.active:
        raise EndpointInactive
    before = delivery.state
    queued = DueDelivery.objects.filter(tenant_id=actor.tenant_id, delivery_id=delivery.id).first()
    if before in states.UNFINISHED and not (before == states.RETRYING and _waits(queued, at)):
        raise InvalidTransition("The delivery is on its way this moment.", state=before, action="redeliver")
    event = Event.objects.filter(tenant_id=actor.tenant_id, created_at=delivery.created_at, id=delivery.event_id)
    found = event.only("resource_id", "sequence").first()
    if found is None:
        raise EventGone
    delivery.state, delivery.next_attempt_at, delivery.done_at = states.RETRYING, at, None
    delivery.attempts_before = delivery.attempts
    mine = Delivery.objects.filter(tenant_id=actor.tenant_id, created_at=delivery.created_at, id=delivery.id)
    mine.update(state=delivery.state, next_attempt_at=at, done_at=None, attempts_before=delivery.attempts)
    _queue(delivery, found, at)
    fact = events.DeliveryResent(
        delivery_id=str(delivery.id), event_id=envelope.message_id(delivery.event_id), from_state=before
    )
    changes.record(actor=actor, endpoint=endpoint, fact=fact, at=at)
    return delivery


def _waits(queued: DueDelivery | None, at: datetime) -> bool:
    """Tell whether the next attempt lies ahead and nobody is making it."""
    return queued is None or (queued.lease is None and queued.due_at > at)


def _queue(delivery: Delivery, event: Event, at: datetime) -> None:
    """Put a delivery into the live queue, due at once, or have its row there be due at once."""
    DueDelivery.objects.update_or_create(
        tenant_id=delivery.tenant_id, delivery_id=delivery.id,
        defaults={"due_at": at, "attempts_before": delivery.attempts, "trigger": states.MANUAL},
        create_defaults={
            "due_at": at, "attempts_before": delivery.attempts, "trigger": states.MANUAL,
            "created_at": delivery.created_at, "event_id": delivery.event_id, "endpoint_id": delivery.endpoint_id,
            "attempts": delivery.attempts, "claims": delivery.attempts, "resource_id": event.resource_id,
            "sequence": event.sequence,
        },
    )  # fmt: skip


def _checked(data: Mapping[str, Any], addresses: Collection[str]) -> dict[str, Any]:
    wanted = dict(data)
    if "url" in wanted:
        egress.check_url(wanted["url"], egress.rules(), addresses=addresses)
    if "events" in wanted:
        wanted["events"] = patterns.check(wanted["events"], ledger.catalogue())
    return wanted


def _name_disabling(endpoint: Endpoint, actor: Actor, at: datetime) -> None:
    endpoint.disabled_reason, endpoint.disabled_at, endpoint.disabled_by = "by_user", at, changes.name_of(actor)


def _switch(endpoint: Endpoint, actor: Actor, at: datetime) -> None:
    if not endpoint.active:
        _name_disabling(endpoint, actor, at)
        _drop_due(endpoint, leased=False)
        return
    endpoint.disabled_reason, endpoint.disabled_at, endpoint.disabled_by = "", None, ""
    # Too old to be of use by itself: it has failed, so that it can be replayed on purpose and nothing is stuck.
    # What is being sent this moment is left to its outcome, whose writer holds the queue's row and then the delivery.
    queued = DueDelivery.objects.filter(tenant_id=endpoint.tenant_id, delivery_id=OuterRef("id"))
    old = _unfinished(endpoint).filter(~Exists(queued), created_at__lt=at - RESUMABLE)
    _fail(old, "endpoint_disabled", at)
    with connection.cursor() as cursor:
        cursor.execute(_RESUME, _named(endpoint) | {"states": list(states.UNFINISHED)})
    # It is trusted again: failures of before its owner looked after it must not disable it a second time.
    EndpointHealth.objects.filter(tenant_id=endpoint.tenant_id, endpoint_id=endpoint.id).delete()


def _unfinished(endpoint: Endpoint) -> Any:
    return Delivery.objects.filter(tenant_id=endpoint.tenant_id, endpoint=endpoint, state__in=states.UNFINISHED)


def _fail(deliveries: Any, error: str, at: datetime) -> None:
    deliveries.update(state=states.FAILED, last_error=error, done_at=at, next_attempt_at=None)


def _drop_due(endpoint: Endpoint, *, leased: bool) -> None:
    """Take the endpoint's rows out of the live queue.

    Rows that are being sent right now stay when the endpoint is only disabled: their outcome still counts.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DROP_DUE, _named(endpoint) | {"leased": leased})


def _named(endpoint: Endpoint) -> dict[str, Any]:
    return {"tenant": endpoint.tenant_id, "endpoint": endpoint.id}
