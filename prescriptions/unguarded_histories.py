"""Audit histories that have changed for too long without a checkpoint, over all tenants; for the overview of the staff."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.db import connections

LATE_AFTER: Final = timedelta(hours=2)  # one is made each hour
MOST: Final = 20
_PLATFORM: Final = "platform"


class Unguarded(NamedTuple):
    """A tenant, and when the first change occurred that stands in no checkpoint."""

    tenant_id: UUID
    name: str
    since: datetime


_UNGUARDED: Final = f"""
SELECT n.id, n.name, late.since FROM organizations_tenant n
CROSS JOIN LATERAL (
  SELECT e.occurred_at AS since FROM prescriptions_auditentry e WHERE e.tenant_id = n.id AND e.occurred_at <= %s
    AND e.occurred_at > coalesce((SELECT max(c.at) FROM prescriptions_checkpoint c WHERE c.tenant_id = n.id), '-infinity')
  ORDER BY e.occurred_at LIMIT 1) late
WHERE n.status <> 'closed' ORDER BY late.since, n.id LIMIT {MOST}
"""


def unguarded_tenants(at: datetime) -> list[Unguarded]:
    """Name the tenants whose histories have changed for two hours without a checkpoint, the longest first; at most 20.

    The platform's own connection reads it, since no tenant is bound on the overview.
    """
    with connections[_PLATFORM].cursor() as cursor:
        cursor.execute(_UNGUARDED, [at - LATE_AFTER])
        return [Unguarded(*row) for row in cursor.fetchall()]
