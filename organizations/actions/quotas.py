"""Counting against quotas by one conditional UPDATE in the caller's transaction, so that no race passes a limit."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from core.actor import Actor
from core.clock import rfc3339
from core.db import needs_transaction
from core.errors import QuotaExceeded
from core.named_rows import fetch
from ledger import public as ledger
from organizations import events, plans
from organizations.models import Entitlement, Quota
from organizations.periods import counted, period_end, period_start
from organizations.plans import Period

# If the period that contains `at` began after the stored one, the stored count is outdated.
_START = (
    "CASE WHEN period = 'month' THEN %(month)s::timestamptz WHEN period = 'day' THEN %(day)s::timestamptz"
    " ELSE period_started END"
)
_COUNTED = f"CASE WHEN period_started < {_START} THEN 0 ELSE used END"

_CONSUME = f"""
UPDATE organizations_quota
   SET used = {_COUNTED} + %(amount)s, period_started = GREATEST(period_started, {_START}),
       updated_at = %(at)s, version = version + 1
 WHERE tenant_id = %(tenant)s AND key = %(key)s
   AND (enforcement <> 'hard' OR "limit" IS NULL OR {_COUNTED} + %(amount)s <= "limit")
RETURNING id, used, "limit", warn_at
"""  # built from the constants above; values are parameters

_RELEASE = f"""
UPDATE organizations_quota
   SET used = GREATEST(0, {_COUNTED} - %(amount)s), period_started = GREATEST(period_started, {_START}),
       updated_at = %(at)s, version = version + 1
 WHERE tenant_id = %(tenant)s AND key = %(key)s
RETURNING id
"""  # as above


@dataclass(frozen=True, slots=True)
class _Counted:
    """A quota after units were consumed."""

    id: UUID
    used: int
    limit: int | None
    warn_at: Decimal


@needs_transaction
def consume_quota(*, actor: Actor, key: str, amount: int = 1, at: datetime) -> None:
    """Consume `amount` units of the tenant's quota in the caller's transaction.

    The quota's row stays locked until the transaction ends: call this late. A missing row is created from the plan.

    :raises QuotaExceeded: a hard limit would be exceeded; nothing is counted.
    :raises ValueError: no quota has this key, or the amount is not positive.
    """
    _check(key, amount)
    taken = _consume(actor.tenant_id, key, amount, at)
    if taken is None and add_missing_quota(actor.tenant_id, key, at):
        taken = _consume(actor.tenant_id, key, amount, at)
    if taken is None:
        raise _exceeded(actor.tenant_id, key, amount, at)
    for share in _thresholds(taken, amount):
        _record_threshold(actor, key, taken, share, at)


@needs_transaction
def release_quota(*, actor: Actor, key: str, amount: int = 1, at: datetime) -> None:
    """Release units, never below zero; units of an earlier period no longer count.

    :raises ValueError: as `consume_quota`.
    """
    _check(key, amount)
    with connection.cursor() as cursor:
        cursor.execute(_RELEASE, _values(actor.tenant_id, key, amount, at))


def add_missing_quota(tenant_id: UUID, key: str, at: datetime) -> bool:
    """Create the row of a quota that the tenant's plan has; return whether it was missing."""
    if Quota.objects.filter(tenant_id=tenant_id, key=key).exists():
        return False
    held = Entitlement.objects.filter(tenant_id=tenant_id).values_list("plan", flat=True).first()
    terms = plans.plan_named(held or plans.FALLBACK_PLAN).quotas[key]
    row = Quota(tenant_id=tenant_id, key=key, period_started=period_start(terms.period, at) or at)
    row.limit, row.period, row.enforcement, row.warn_at = terms.limit, terms.period, terms.enforcement, terms.warn_at
    Quota.objects.bulk_create([row], ignore_conflicts=True)
    return True


def _check(key: str, amount: int) -> None:
    if key not in plans.QUOTA_KEYS or amount < 1:
        raise ValueError(f"no such quota, or an amount below 1: {key} {amount}")


def _values(tenant_id: UUID, key: str, amount: int, at: datetime) -> dict[str, Any]:
    month, day = period_start(Period.MONTH, at), period_start(Period.DAY, at)
    return {"tenant": tenant_id, "key": key, "amount": amount, "at": at, "month": month, "day": day}


def _consume(tenant_id: UUID, key: str, amount: int, at: datetime) -> _Counted | None:
    found = fetch(_Counted, _CONSUME, _values(tenant_id, key, amount, at))
    return found[0] if found else None


def _exceeded(tenant_id: UUID, key: str, amount: int, at: datetime) -> QuotaExceeded:
    row = Quota.objects.get(tenant_id=tenant_id, key=key)
    ends = period_end(row.period, at)
    used = counted(row.period, row.period_started, row.used, at)
    return QuotaExceeded(
        f"The quota {key} allows {row.limit}; {used} are used, and {amount} more were requested.",
        quota=key,
        limit=row.limit,
        used=used,
        resets_at=rfc3339(ends) if ends else None,
    )


def _thresholds(taken: _Counted, amount: int) -> Iterator[Decimal]:
    """Yield the thresholds that were just reached: the warning threshold and the limit itself."""
    if taken.limit:
        for share in sorted({taken.warn_at, Decimal(1)}):
            if taken.used - amount < share * taken.limit <= taken.used:
                yield share


def _record_threshold(actor: Actor, key: str, taken: _Counted, share: Decimal, at: datetime) -> None:
    fact = events.QuotaThresholdReached(key=key, used=taken.used, limit=taken.limit or 0, percent=int(share * 100))
    ledger.record(actor=actor, event=fact, resource_id=taken.id, at=at)
