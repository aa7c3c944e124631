"""Counting against quotas by one conditional UPDATE in the caller's transaction, so that no race passes a limit."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from core.actor import Actor
from core.clock import rfc3339
from core.db import needs_transaction
from core.errors import QuotaExceeded
from core.pipeline import Call, Rows, Statement, run
from ledger import public as ledger
from organizations import events, plans
from organizations.models import Entitlement, Quota
from organizations.periods import counted, period_end, period_start
from organizations.plans import Period

# The parameters of both statements: tenant, key, amount, instant, start of its month, start of its day.
# If the period that contains the instant began after the stored one, the stored count is outdated.
_START = (
    "CASE WHEN period = 'month' THEN $5::timestamptz WHEN period = 'day' THEN $6::timestamptz ELSE period_started END"
)
_COUNTED = f"CASE WHEN period_started < {_START} THEN 0 ELSE used END"


class _Counted(NamedTuple):
    """A quota after units were consumed."""

    id: UUID
    used: int
    limit: int | None
    warn_at: Decimal


_CONSUME = Statement.of(
    f"""
UPDATE organizations_quota
   SET used = {_COUNTED} + $3, period_started = GREATEST(period_started, {_START}),
       updated_at = $4, version = version + 1
 WHERE tenant_id = $1 AND key = $2
   AND (enforcement <> 'hard' OR "limit" IS NULL OR {_COUNTED} + $3 <= "limit")
RETURNING id, used, "limit", warn_at
""",
    row=_Counted,
)
_RELEASE = Statement.of(f"""
UPDATE organizations_quota
   SET used = GREATEST(0, {_COUNTED} - $3), period_started = GREATEST(period_started, {_START}),
       updated_at = $4, version = version + 1
 WHERE tenant_id = $1 AND key = $2
""")


@needs_transaction
def consume_quota(*, actor: Actor, key: str, amount: int = 1, at: datetime) -> None:
    """Consume `amount` units of the tenant's quota in the caller's transaction.

    The quota's row stays locked until the transaction ends: call this late. A missing row is created from the plan.

    :raises QuotaExceeded: a hard limit would be exceeded; nothing is counted.
    :raises ValueError: no quota has this key, or the amount is not positive.
    """
    (found,) = run([quota_call(actor.tenant_id, key, amount=amount, at=at)])
    take_quota(found, actor=actor, key=key, amount=amount, at=at)


def quota_call(tenant_id: UUID, key: str, *, amount: int = 1, at: datetime) -> Call:
    """Return the statement of `consume_quota`, to be sent late in another trip; `take_quota` takes its rows.

    :raises ValueError: as `consume_quota`.
    """
    _check(key, amount)
    return _call(_CONSUME, tenant_id, key, amount, at)


@needs_transaction
def take_quota(found: Rows, *, actor: Actor, key: str, amount: int = 1, at: datetime) -> None:
    """Finish what `quota_call` began.

    :raises QuotaExceeded: as `consume_quota`.
    """
    taken = _taken(found)
    if taken is None and add_missing_quota(actor.tenant_id, key, at):
        taken = _taken(run([quota_call(actor.tenant_id, key, amount=amount, at=at)])[0])
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
    run([_call(_RELEASE, actor.tenant_id, key, amount, at)])


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


def _call(statement: Statement, tenant_id: UUID, key: str, amount: int, at: datetime) -> Call:
    month, day = period_start(Period.MONTH, at), period_start(Period.DAY, at)
    assert month is not None
    assert day is not None
    return Call(statement, [str(tenant_id), key, str(amount), at.isoformat(), month.isoformat(), day.isoformat()])


def _taken(found: Rows) -> _Counted | None:
    return next(iter(found.of(_Counted)), None)


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
