"""What follows from an endpoint that does badly for long: a warning, then disabling. 410 disables at once.

The dispatcher writes the health (`statements.py`) and stops sending by it; here it becomes a fact of the tenant. Any number
of callers may look at the same time: the endpoint's lock lets one decide.
"""

import logging
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q

from core.actor import system_actor
from core.clock import rfc3339
from core.db import role_context, tenant_context
from core.lanes import Lane, in_turn
from core.row_security import DISPATCHER
from ledger import public as ledger

from . import events, states
from .models import Delivery, Endpoint, EndpointHealth

log = logging.getLogger(__name__)

WARN_AFTER = timedelta(hours=24)
DISABLE_AFTER = timedelta(hours=72)
LEAST_FAILURES = 20
LEAST_SPREAD = timedelta(hours=12)
GONE = "gone"
FAILING = "failing"
PLATFORM = "platform"


def watch(*, at: datetime) -> int:
    """Warn of endpoints that fail, disable those that did so for too long or are gone; tell how many facts that made."""
    found = (one for lane in in_turn("webhooks.health") for one in _ill(lane, at))
    return sum(_look(tenant_id, endpoint_id, at) for tenant_id, endpoint_id in found)


def _ill(lane: Lane, at: datetime) -> list[tuple[UUID, UUID]]:
    with role_context(DISPATCHER):
        wanted = Q(gone_at__isnull=False) | Q(failing_since__lte=at - WARN_AFTER)
        return list(lane.filter(EndpointHealth.objects.filter(wanted)).values_list("tenant_id", "endpoint_id"))


def _look(tenant_id: UUID, endpoint_id: UUID, at: datetime) -> bool:
    """Decide on one endpoint under its lock; its health goes when it is disabled, so that it starts clean some day."""
    with tenant_context(tenant_id):
        mine = {"tenant_id": tenant_id, "endpoint_id": endpoint_id}
        endpoint = Endpoint.objects.filter(tenant_id=tenant_id, id=endpoint_id).select_for_update().first()
        health = EndpointHealth.objects.filter(**mine).select_for_update().first()
        if health is None:
            return False
        if endpoint is None or not endpoint.active:
            health.delete()
            return False
        reason = reason_to_disable(health, at=at)
        if reason:
            _disable(endpoint, health, reason, at)
            health.delete()
            return True
        if not is_worth_a_warning(health, at=at):
            return False
        EndpointHealth.objects.filter(**mine).update(warned_at=at)
        fact = events.EndpointFailing(**_told(endpoint, health))
        ledger.record(
            actor=system_actor(tenant_id), event=fact, resource_id=endpoint.id, at=at, resource_version=endpoint.version
        )
        return True


def reason_to_disable(health: EndpointHealth, *, at: datetime) -> str:
    """Tell why the endpoint is to be disabled; empty if it is not.

    Source: Standard Webhooks 1.0.0, "Best practices": 410 is a farewell; long failure is none by accident when it was seen
    often enough and over long enough.
    """
    if health.gone_at is not None:
        return GONE
    long = health.failing_since is not None and health.failing_since <= at - DISABLE_AFTER
    often = health.consecutive_failures >= LEAST_FAILURES
    return FAILING if long and often and _spread(health) >= LEAST_SPREAD else ""


def is_worth_a_warning(health: EndpointHealth, *, at: datetime) -> bool:
    """Tell whether the endpoint failed for a day, more than once, and nobody was warned since its last success."""
    long = health.failing_since is not None and health.failing_since <= at - WARN_AFTER
    return long and health.warned_at is None and health.consecutive_failures > 1


def _spread(health: EndpointHealth) -> timedelta:
    if health.failing_since is None or health.last_failure_at is None:
        return timedelta()
    return health.last_failure_at - health.failing_since


def _disable(endpoint: Endpoint, health: EndpointHealth, reason: str, at: datetime) -> None:
    """Switch the endpoint off; the dispatchers take what is queued for it out, as for one that its owner disabled."""
    endpoint.active, endpoint.disabled_reason, endpoint.disabled_by = False, reason, PLATFORM
    endpoint.disabled_at = at
    endpoint.save_version("active", "disabled_reason", "disabled_by", "disabled_at", at=at)
    fact = events.EndpointDisabled(reason=reason, by=PLATFORM, **_told(endpoint, health))
    ledger.record(
        actor=system_actor(endpoint.tenant_id),
        event=fact,
        resource_id=endpoint.id,
        at=at,
        resource_version=endpoint.version,
    )
    log.warning("endpoint disabled", extra={"endpoint": str(endpoint.id), "reason": reason})


def _told(endpoint: Endpoint, health: EndpointHealth) -> dict[str, Any]:
    """The fields that both facts about a failing endpoint have."""
    mine = Delivery.objects.filter(tenant_id=endpoint.tenant_id, endpoint=endpoint)
    tried = mine.filter(attempts__gt=0, state__in=[states.RETRYING, states.FAILED]).order_by("-created_at", "-id")
    last = tried.first()
    told = events.EndpointTrouble(
        failing_since=rfc3339(health.failing_since) if health.failing_since else None,
        failures=health.consecutive_failures,
        waiting=mine.filter(state__in=states.UNFINISHED).count(),
        event_type=last.event_type if last else "",
        last_status=last.last_status if last else None,
        last_error=last.last_error if last else "",
    )
    return vars(told)
