"""A tenant's entitlement and the use of its quotas."""

from datetime import datetime
from typing import Any
from uuid import UUID

from core.clock import rfc3339
from core.db import needs_transaction
from core.errors import NotFound
from organizations.models import Entitlement, Quota
from organizations.periods import counted, period_end
from organizations.plans import FEATURES


@needs_transaction
def entitlement(tenant_id: UUID, at: datetime) -> dict[str, Any]:
    """Return the bound tenant's entitlement as the API shows it.

    :raises NotFound: the tenant has no entitlement, or is not the bound one.
    """
    row = Entitlement.objects.filter(tenant_id=tenant_id).first()
    if row is None:
        raise NotFound("The tenant has no entitlement.")
    return {
        "id": str(row.id),
        "tenant_id": str(tenant_id),
        "plan": row.plan,
        "features": {name: name in row.features for name in sorted({*FEATURES, *row.features})},
        "quotas": quotas(tenant_id, at),
        "rate_limits": row.rate_limits,
        "valid_from": rfc3339(row.valid_from),
        "valid_until": rfc3339(row.valid_until) if row.valid_until else None,
        "source": row.source,
        "version": row.version,
    }


@needs_transaction
def quotas(tenant_id: UUID, at: datetime) -> list[dict[str, Any]]:
    """List the bound tenant's quotas and their use at the instant `at`."""
    rows = Quota.objects.filter(tenant_id=tenant_id).order_by("key", "id")
    return [_quota(row, at) for row in rows]


def _quota(row: Quota, at: datetime) -> dict[str, Any]:
    used, ends = counted(row.period, row.period_started, row.used, at), period_end(row.period, at)
    return {
        "key": row.key,
        "limit": row.limit,
        "used": used,
        "remaining": max(0, row.limit - used) if row.limit is not None else None,
        "period": row.period,
        "resets_at": rfc3339(ends) if ends else None,
        "enforcement": row.enforcement,
        "warn_at": float(row.warn_at),
    }
