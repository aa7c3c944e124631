"""A tenant whose webhooks have a past worth looking at: hours of figures, deliveries in every state, a replay half done."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from tests.webhooks.history import past
from tests.webhooks.worlds import World, new_world
from webhooks import states
from webhooks.models import Attempt, Delivery, DueDelivery, EndpointHealth, EndpointHour, Event, Replay
from webhooks.stats import BUCKETS

URL = "https://hooks.example.com/orders"
ANSWER = '{"error": "<script>alert(1)</script> no such warehouse"}'


@dataclass
class Scene:
    """What the pages show."""

    world: World
    endpoint: dict[str, Any]
    event: Event
    delivered: Delivery
    retrying: Delivery
    failed: Delivery
    replay: Replay

    @property
    def tenant(self) -> Any:
        return self.world.tenant


def scene() -> Scene:
    world = new_world()
    endpoint = world.endpoint(URL, events=["product.*"], description="Warehouse")
    quiet = world.endpoint("https://quiet.example.org/", events=["membership.*"])
    happened = past.event(world, now() - timedelta(minutes=9))
    made = Scene(
        world,
        endpoint,
        happened,
        _delivery(happened, endpoint, states.DELIVERED, [503, None, 200]),
        _delivery(past.event(world, now() - timedelta(hours=2)), endpoint, states.RETRYING, [500, 404]),
        _delivery(past.event(world, now() - timedelta(hours=30)), endpoint, states.FAILED, [410]),
        _replay(world, endpoint),
    )
    past.delivery(happened, quiet["id"], states.PENDING)
    _hours(world, endpoint)
    return made


def _delivery(event: Event, endpoint: dict[str, Any], state: str, statuses: list[int | None]) -> Delivery:
    made = past.delivery(event, endpoint["id"], state)
    met = [_attempt(made, number, status) for number, status in enumerate(statuses, start=1)]
    ended = state in (states.DELIVERED, states.FAILED)
    values = {
        "attempts": len(met),
        "last_status": met[-1].status,
        "done_at": met[-1].created_at if ended else None,
        "next_attempt_at": None if ended else now() + timedelta(minutes=7),
    }
    with tenant_context(made.tenant_id):
        Delivery._base_manager.filter(id=made.id).update(**values)
        if not ended:
            DueDelivery.objects.create(
                delivery_id=made.id,
                created_at=made.created_at,
                tenant_id=made.tenant_id,
                event_id=made.event_id,
                endpoint_id=made.endpoint_id,
                due_at=now() + timedelta(minutes=7),
                attempts=len(met),
            )
        return Delivery.objects.get(id=made.id)


def _attempt(of: Delivery, number: int, status: int | None) -> Attempt:
    return Attempt.objects.using("owner").create(
        created_at=of.created_at + timedelta(seconds=5 * 4 ** (number - 1)),
        tenant_id=of.tenant_id,
        delivery_id=of.id,
        endpoint_id=of.endpoint_id,
        number=number,
        status=status,
        error="" if status else "connect_timeout",
        duration_ms=180,
        timings={"dns_ms": 4, "connect_ms": 21, "tls_ms": 40, "ttfb_ms": 96} if status else {"dns_ms": 3},
        remote_ip="203.0.113.9",
        trigger=states.MANUAL if number == 3 else states.SCHEDULE,
        response_excerpt=ANSWER if status and status >= 400 else "",
        response_headers={"content-type": "application/json"} if status else {},
        lease=uuid7(),
    )


def _replay(world: World, endpoint: dict[str, Any]) -> Replay:
    since = now() - timedelta(hours=10)
    with tenant_context(world.tenant.id):
        return Replay.objects.create(
            tenant_id=world.tenant.id,
            endpoint_id=endpoint["id"],
            since=since,
            until=since + timedelta(hours=8),
            only="failed",
            state="running",
            requested_by="user:1",
            cursor_at=since + timedelta(hours=2),
            examined=40,
            queued=10,
        )


def _hours(world: World, endpoint: dict[str, Any]) -> None:
    start = now().replace(minute=0, second=0, microsecond=0)
    with tenant_context(world.tenant.id):
        for number in range(47):
            bad = 30 if number == 5 else number % 4
            good = 20 + (number * 7) % 40
            buckets = [0] * BUCKETS
            buckets[3], buckets[6] = good, bad
            EndpointHour.objects.create(
                tenant_id=world.tenant.id,
                endpoint_id=endpoint["id"],
                hour=start - timedelta(hours=number),
                attempts=good + bad,
                delivered=good,
                failed=bad // 10,
                duration_ms=100 * (good + bad),
                duration_buckets=buckets,
            )
        EndpointHealth.objects.create(
            tenant_id=world.tenant.id,
            endpoint_id=endpoint["id"],
            consecutive_failures=3,
            failing_since=now() - timedelta(hours=5),
            last_failure_at=now() - timedelta(minutes=2),
        )
