"""Deliveries of one resource's events, for the pages of other apps."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from django.urls import reverse

from core import arrays
from core.db import run_bound
from core.pipeline import Call, Statement
from organizations.staff.deliveries import Told, tell_deliveries_by

MOST: Final = 200


class _Trace(NamedTuple):
    at: datetime
    event_id: UUID
    type: str
    delivery_id: UUID | None
    url: str | None
    state: str | None
    attempts: int | None
    done_at: datetime | None


# The log has no index by resource. An event is stored in the transaction of its fact, so it lies close behind it.
_TRACES: Final = Statement.of(
    f"""
WITH found AS MATERIALIZED (
  SELECT DISTINCT e.id, e.created_at, e.type FROM unnest($3::timestamptz[]) AS moment (at)
  JOIN webhooks_event e ON e.created_at BETWEEN moment.at - interval '10 seconds' AND moment.at + interval '2 minutes'
  WHERE e.tenant_id = $1 AND e.resource_id = $2
  ORDER BY e.created_at DESC, e.id DESC LIMIT {MOST})
SELECT f.created_at AS at, f.id AS event_id, f.type, d.id AS delivery_id, p.url, d.state, d.attempts, d.done_at
FROM found f
LEFT JOIN webhooks_delivery d ON d.tenant_id = $1 AND d.event_id = f.id AND d.created_at = f.created_at
LEFT JOIN webhooks_endpoint p ON p.tenant_id = $1 AND p.id = d.endpoint_id
ORDER BY f.created_at, f.id, d.id
""",
    row=_Trace,
)


def traces(tenant_id: UUID, resource_id: UUID, moments: Sequence[datetime]) -> list[Told]:
    """List where events of a resource went that occurred at these moments."""
    (rows,) = run_bound(tenant_id, [Call(_TRACES, [str(tenant_id), str(resource_id), arrays.moments(moments)])])
    return [_told(one) for one in rows.of(_Trace)]


def _told(one: _Trace) -> Told:
    if one.delivery_id is None:
        return Told(one.at, one.type, reverse("admin:webhooks_event_change", args=[one.event_id]))
    page = reverse("admin:webhooks_delivery_change", args=[one.delivery_id])
    return Told(one.at, one.type, page, one.url or "", one.state or "", one.attempts or 0, one.done_at)


tell_deliveries_by(traces)
