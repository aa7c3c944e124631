"""How the deliveries of all tenants stand right now: what the command of the runbook prints. Reads the two live queues only."""

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from core.db import role_context
from core.named_rows import fetch
from core.row_security import DISPATCHER

BUSIEST = 5

# Due work of an endpoint that rests, or asked us to wait, or whose tenant is suspended, is not late: it is held back.
RESTING = """
SELECT endpoint.id AS endpoint_id FROM webhooks_endpoint endpoint
JOIN organizations_tenant tenant ON tenant.id = endpoint.tenant_id
LEFT JOIN webhooks_endpoint_health health ON health.endpoint_id = endpoint.id
WHERE tenant.status <> 'active' OR greatest(health.circuit_until, health.paused_until) > now() OR health.gone_at IS NOT NULL
"""
_QUEUES = f"""
SELECT (SELECT count(*) FROM webhooks_event_new) AS new_events,
       (SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM webhooks_event_new)
         AS new_events_seconds,
       count(*) AS queued, count(*) FILTER (WHERE is_due AND NOT is_held) AS due,
       count(*) FILTER (WHERE is_due AND is_held) AS held_back,
       count(*) FILTER (WHERE lease IS NOT NULL) AS in_flight,
       coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE is_due AND NOT is_held)), 0)::float8 AS due_seconds,
       count(*) FILTER (WHERE claims > attempts + 1) AS lost
FROM (SELECT due.*, due.due_at <= now() AND due.lease IS NULL AS is_due,
             resting.endpoint_id IS NOT NULL AS is_held
      FROM webhooks_delivery_due due LEFT JOIN ({RESTING}) resting USING (endpoint_id)) queue
"""
_HEALTH = """
SELECT count(*) FILTER (WHERE circuit_state <> 'closed') AS circuits_open,
       count(*) FILTER (WHERE consecutive_failures > 0) AS endpoints_failing,
       (SELECT count(*) FROM webhooks_replay WHERE state IN ('queued', 'running')) AS replays_open
FROM webhooks_endpoint_health
"""
_BUSIEST = f"""
SELECT due.endpoint_id, due.tenant_id, substring(endpoint.url FROM '^[a-z]+://([^/?#]+)') AS host, count(*) AS queued,
       min(due.attempts) AS least_attempts, max(due.attempts) AS most_attempts
FROM webhooks_delivery_due due JOIN webhooks_endpoint endpoint ON endpoint.id = due.endpoint_id
GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1 LIMIT {BUSIEST}
"""


@dataclass(frozen=True, slots=True)
class Busy:
    """An endpoint with much in the queue; of its address the host only."""

    endpoint_id: UUID
    tenant_id: UUID
    host: str
    queued: int
    least_attempts: int
    most_attempts: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """Events not fanned out, deliveries queued; of those due, held back though due, in flight. Ages in seconds."""

    new_events: int
    new_events_seconds: float
    queued: int
    due: int
    held_back: int
    in_flight: int
    due_seconds: float
    lost: int
    circuits_open: int
    endpoints_failing: int
    replays_open: int
    busiest: list[Busy]

    def as_json(self) -> dict[str, Any]:
        """The backlog as a JSON object."""
        return asdict(self)


def backlog() -> Backlog:
    """Read how things stand; `lost` are deliveries whose worker vanished at least once."""
    with role_context(DISPATCHER):
        (queues,), (health,) = fetch(dict[str, Any], _QUEUES), fetch(dict[str, Any], _HEALTH)
        return Backlog(**queues, **health, busiest=fetch(Busy, _BUSIEST))
