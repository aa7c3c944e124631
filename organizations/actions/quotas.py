"""Counting against a quota: one conditional UPDATE in the transaction of what is counted, so the limit holds under any race."""

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

# The period that holds `at` may have begun after the stored one: then what is stored no longer counts.
_START = (
    "CASE period WHEN 'month' THEN %(month)s::timestamptz WHEN 'day' THEN %(day)s::timestamptz ELSE period_started END"
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
    """A quota after a successful count."""

    id: UUID
    used: int
    limit: int | None
    warn_at: Decimal


@needs_transaction
def consume_quota(*, actor: Actor, key: str, amount: int = 1, at: datetime) -> None:
    """This function will count `amount` units of the tenant's quota, in the caller's transaction.

    The quota's row stays locked until that transaction ends: call it late. A quota the tenant has no row for yet is
    made from its plan.

    :raises QuotaExceeded: a hard limit would be passed; nothing was counted.
    :raises ValueError: no quota has this key, or the amount is not positive.
    """
    _check(key, amount)
    taken = _consume(actor.tenant_id, key, amount, at)
    if taken is None and add_missing_quota(actor.tenant_id, key, at):
        taken = _consume(actor.tenant_id, key, amount, at)
    if taken is None:
        raise _exceeded(actor.tenant_id, key, amount, at)
    for share in _thresholds(taken, amount):
        _tell(actor, key, taken, share, at)


@needs_transaction
def release_quota(*, actor: Actor, key: str, amount: int = 1, at: datetime) -> None:
    """This function will give units back, never below zero; units of an earlier period are gone already.

    :raises ValueError: as `consume_quota`.
    """
    _check(key, amount)
    with connection.cursor() as cursor:
        cursor.execute(_RELEASE, _values(actor.tenant_id, key, amount, at))


def add_missing_quota(tenant_id: UUID, key: str, at: datetime) -> bool:
    """This function will make the tenant's row for a quota that its plan has and its table has not; tell whether it did."""
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
        raise ValueError(f"no such quota, or no such amount: {key} {amount}")


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
        f"The quota {key} allows {row.limit}, {used} are used, {amount} more were asked for.",
        quota=key,
        limit=row.limit,
        used=used,
        resets_at=rfc3339(ends) if ends else None,
    )


def _thresholds(taken: _Counted, amount: int) -> Iterator[Decimal]:
    """The shares of the limit that this count has just reached: a warning, and the limit itself."""
    if taken.limit:
        for share in sorted({taken.warn_at, Decimal(1)}):
            if taken.used - amount < share * taken.limit <= taken.used:
                yield share


def _tell(actor: Actor, key: str, taken: _Counted, share: Decimal, at: datetime) -> None:
    fact = events.QuotaThresholdReached(key=key, used=taken.used, limit=taken.limit or 0, percent=int(share * 100))
    ledger.record(actor=actor, event=fact, resource_id=taken.id, at=at)
