"""Expiry of API keys and memberships, and the announcement of keys that expire soon."""

from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from core.actor import system_actor
from core.clock import rfc3339
from core.db import tenant_context
from core.lanes import in_turn
from ledger import public as ledger
from organizations.events import ApiKeyExpiring, MembershipExpired
from organizations.models import LIVE, ApiKey, Membership
from organizations.plans import USERS

from .keys import end_unused_membership
from .quotas import release_quota

Row = TypeVar("Row", ApiKey, Membership)

NOTICE = timedelta(days=14)
BATCH = 200


def expire_keys(*, at: datetime) -> int:
    """Expire the keys whose validity or overlap has ended, each in its own transaction; return their number."""
    over = ApiKey.objects.filter(~ApiKey.VALIDITY.holds_at(at), status__in=ApiKey.WORKING)
    count = 0
    for tenant_id, key_id in _due(over):
        with tenant_context(tenant_id):
            key = over.select_for_update(no_key=True).filter(pk=key_id).first()
            if key is None:
                continue
            key.expire()
            key.save_version("status", at=at)
            end_unused_membership(actor=system_actor(tenant_id), key=key, at=at)
            count += 1
    return count


def announce_keys(*, at: datetime) -> int:
    """Record once for each active key that it expires within two weeks; return the number of keys."""
    soon = ApiKey.objects.filter(
        status=ApiKey.Status.ACTIVE, expiring_told_at=None, expires_at__gt=at, expires_at__lte=at + NOTICE
    )
    count = 0
    for tenant_id, key_id in _due(soon):
        with tenant_context(tenant_id):
            if not soon.filter(tenant_id=tenant_id, pk=key_id).update(expiring_told_at=at):
                continue
            key = ApiKey.objects.get(pk=key_id)
            fact = ApiKeyExpiring(key_id=key.key_id, expires_at=rfc3339(key.expires_at))
            ledger.record(
                actor=system_actor(tenant_id), event=fact, resource_id=key.id, at=at, resource_version=key.version
            )
            count += 1
    return count


def expire_memberships(*, at: datetime) -> int:
    """Expire the memberships whose validity has ended and release their quota; return their number."""
    over = Membership.objects.filter(status__in=LIVE, valid_until__lte=at)
    count = 0
    for tenant_id, membership_id in _due(over):
        actor = system_actor(tenant_id)
        with tenant_context(tenant_id):
            row = over.select_for_update(no_key=True).filter(pk=membership_id).first()
            if row is None:
                continue
            row.expire()
            row.save_version("status", at=at)
            if row.user_id is not None:
                release_quota(actor=actor, key=USERS, at=at)
            ledger.record(
                actor=actor, event=MembershipExpired(), resource_id=row.id, at=at, resource_version=row.version
            )
            count += 1
    return count


def _due(rows: QuerySet[Row]) -> list[tuple[UUID, UUID]]:
    """Read a batch of each lane."""
    found: list[tuple[UUID, UUID]] = []
    for lane in in_turn(rows.model.__name__):
        with transaction.atomic():
            found += lane.filter(rows).order_by("id").values_list("tenant_id", "id")[:BATCH]
    return found
