"""Every write to endpoints and their secrets. Each demands a transaction and records one fact."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import connection
from django.db.models import Q

from core.actor import Actor
from core.db import needs_transaction
from core.errors import QuotaExceeded
from core.ids import uuid7
from ledger import public as ledger

from . import egress, events, patterns, sealing, signing, states
from .models import Delivery, DueDelivery, Endpoint, Secret

ENDPOINT_LIMIT = 100
LIVE_SECRETS = 3
RESUMABLE = timedelta(hours=72)

_RESUME = """
INSERT INTO webhooks_delivery_due (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at, attempts, claims)
SELECT id, created_at, tenant_id, event_id, endpoint_id, GREATEST(now(), COALESCE(next_attempt_at, now())), attempts, attempts
FROM webhooks_delivery
WHERE tenant_id = %s AND endpoint_id = %s AND state = ANY(%s) ON CONFLICT (delivery_id) DO NOTHING
"""


class EndpointLimitReached(QuotaExceeded):
    """The tenant has as many endpoints as it may have."""

    title: ClassVar[str] = f"A tenant has at most {ENDPOINT_LIMIT} webhook endpoints."


@dataclass(frozen=True, slots=True)
class Shown:
    """An endpoint with the one secret that is shown this once."""

    endpoint: Endpoint
    secret: str


@needs_transaction
def create_endpoint(*, actor: Actor, data: Mapping[str, Any], at: datetime, addresses: Collection[str] = ()) -> Shown:
    """Register an endpoint and make its first signing key; `addresses` is what the name of its URL was found to have.

    :raises BlockedDestination: the platform does not connect to such an address.
    :raises UnknownEventPattern: a pattern matches no event of the catalogue.
    :raises EndpointLimitReached: the tenant has 100 of them.
    """
    wanted = _checked(data, addresses)
    _take_place(actor)
    endpoint = Endpoint.objects.create(tenant_id=actor.tenant_id, created_at=at, updated_at=at, **wanted)
    secret = _add_secret(endpoint, at)
    fact = events.EndpointCreated(active=endpoint.active)
    ledger.record(actor=actor, event=fact, resource_id=endpoint.id, at=at, resource_version=endpoint.version)
    return Shown(endpoint, secret)


@needs_transaction
def update_endpoint(
    *, actor: Actor, endpoint: Endpoint, data: Mapping[str, Any], at: datetime, addresses: Collection[str] = ()
) -> Endpoint:
    """Change a locked endpoint. Disabling freezes its unfinished deliveries, enabling resumes those under 72 hours old.

    :raises BlockedDestination: as at creation.
    :raises UnknownEventPattern: as at creation.
    """
    wanted = _checked(data, addresses)
    changed = sorted(name for name, value in wanted.items() if getattr(endpoint, name) != value)
    if not changed:
        return endpoint
    for name in changed:
        setattr(endpoint, name, wanted[name])
    if "active" in changed:
        _switch(endpoint, at)
    _save(endpoint, [*changed, "disabled_reason", "disabled_at"], at)
    fact = events.EndpointUpdated(active=endpoint.active, changed=changed)
    ledger.record(actor=actor, event=fact, resource_id=endpoint.id, at=at, resource_version=endpoint.version)
    return endpoint


@needs_transaction
def delete_endpoint(*, actor: Actor, endpoint: Endpoint, at: datetime) -> Endpoint:
    """Take a locked endpoint out of use for good. What was delivered stays readable; what was not has failed."""
    _drop_due(endpoint, leased=True)
    _unfinished(endpoint).update(state=states.FAILED, done_at=at, next_attempt_at=None)
    Secret.objects.of(actor).filter(_live(at), endpoint=endpoint).update(expires_at=at, updated_at=at)
    endpoint.active, endpoint.deleted_at = False, at
    _save(endpoint, ["active", "deleted_at"], at)
    ledger.record(
        actor=actor, event=events.EndpointDeleted(), resource_id=endpoint.id, at=at, resource_version=endpoint.version
    )
    return endpoint


@needs_transaction
def rotate_secret(*, actor: Actor, endpoint: Endpoint, overlap_seconds: int, at: datetime) -> Shown:
    """Sign with a new key at once; older ones sign beside it until the overlap ends, three live keys at most."""
    until = at + timedelta(seconds=overlap_seconds)
    live = Secret.objects.of(actor).filter(_live(at), endpoint=endpoint)
    oldest = list(live.order_by("-created_at", "-id").values_list("id", flat=True))[LIVE_SECRETS - 1 :]
    live.filter(id__in=oldest).update(expires_at=at, updated_at=at)
    live.filter(Q(expires_at=None) | Q(expires_at__gt=until)).update(expires_at=until, updated_at=at)
    secret = _add_secret(endpoint, at)
    _save(endpoint, [], at)
    fact = events.SecretRotated(overlap_seconds=overlap_seconds)
    ledger.record(actor=actor, event=fact, resource_id=endpoint.id, at=at, resource_version=endpoint.version)
    return Shown(endpoint, secret)


def _checked(data: Mapping[str, Any], addresses: Collection[str]) -> dict[str, Any]:
    wanted = dict(data)
    if "url" in wanted:
        egress.check_url(wanted["url"], egress.rules(), addresses=addresses)
    if "events" in wanted:
        wanted["events"] = patterns.check(wanted["events"], ledger.catalogue())
    return wanted


def _take_place(actor: Actor) -> None:
    """Count under a lock of the tenant, so that a hundred and one at once make a hundred."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"webhooks.endpoints:{actor.tenant_id}"]
        )
    if Endpoint.objects.of(actor).filter(deleted_at=None).count() >= ENDPOINT_LIMIT:
        raise EndpointLimitReached(quota="webhook_endpoints", limit=ENDPOINT_LIMIT)


def _live(at: datetime) -> Q:
    return Q(expires_at=None) | Q(expires_at__gt=at)


def _add_secret(endpoint: Endpoint, at: datetime) -> str:
    key, secret_id = signing.new_key(), uuid7()
    Secret.objects.create(
        id=secret_id,
        tenant_id=endpoint.tenant_id,
        endpoint=endpoint,
        sealed_key=sealing.seal_key(key, endpoint_id=endpoint.id, secret_id=secret_id),
        created_at=at,
        updated_at=at,
    )
    return signing.write_secret(key)


def _save(endpoint: Endpoint, names: list[str], at: datetime) -> None:
    endpoint.version += 1
    endpoint.updated_at = at
    endpoint.save(update_fields=[*names, "version", "updated_at"])


def _switch(endpoint: Endpoint, at: datetime) -> None:
    if not endpoint.active:
        endpoint.disabled_reason, endpoint.disabled_at = "by_user", at
        _drop_due(endpoint, leased=False)
        return
    endpoint.disabled_reason, endpoint.disabled_at = "", None
    # Too old to be of use by itself: it has failed, so that it can be replayed on purpose and nothing is stuck.
    _unfinished(endpoint).filter(created_at__lt=at - RESUMABLE).update(
        state=states.FAILED, done_at=at, next_attempt_at=None
    )
    with connection.cursor() as cursor:
        cursor.execute(_RESUME, [endpoint.tenant_id, endpoint.id, list(states.UNFINISHED)])


def _unfinished(endpoint: Endpoint) -> Any:
    return Delivery.objects.filter(tenant_id=endpoint.tenant_id, endpoint=endpoint, state__in=states.UNFINISHED)


def _drop_due(endpoint: Endpoint, *, leased: bool) -> None:
    """Take the endpoint's rows out of the live queue, locked in the order in which the dispatcher locks them.

    Rows that are being sent right now stay when the endpoint is only disabled: their outcome still counts.
    """
    due = DueDelivery.objects.filter(tenant_id=endpoint.tenant_id, endpoint_id=endpoint.id)
    if not leased:
        due = due.filter(lease=None)
    ids = list(due.order_by("delivery_id").select_for_update().values_list("delivery_id", flat=True))
    DueDelivery.objects.filter(tenant_id=endpoint.tenant_id, delivery_id__in=ids).delete()
