"""GET /v1/webhooks/{id}/stats: hours as they were written down, sums over them, what waits and how healthy it is."""

from datetime import timedelta
from uuid import UUID

import pytest

from core.clock import now, rfc3339
from core.db import tenant_context
from tests.factories import Api, api_key, as_member
from tests.webhooks.worlds import new_world
from webhooks.models import DueDelivery, EndpointHealth, EndpointHour
from webhooks.stats import BOUNDS_MS, BUCKETS


def counted(**places):
    """Buckets with so many attempts below each bound, e.g. `ms100=3`."""
    found = [0] * BUCKETS
    for name, count in places.items():
        found[BOUNDS_MS.index(int(name.removeprefix("ms")))] = count
    return found


def hour(world, endpoint, ago, **values):
    at = now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=ago)
    with tenant_context(world.tenant.id):
        EndpointHour.objects.create(tenant_id=world.tenant.id, endpoint_id=endpoint["id"], hour=at, **values)
    return rfc3339(at)


def figures(world, endpoint, query=""):
    answer = world.api.get(f"/v1/webhooks/{endpoint['id']}/stats{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


@pytest.fixture
def endpoint(world, receiver):
    return world.endpoint(receiver.url, events=["product.*"])


def test_endpoint_that_sent_nothing_has_empty_figures(world, endpoint):
    empty = {
        "attempts": 0, "delivered": 0, "failed": 0, "success_ratio": None, "p50_ms": None, "p95_ms": None,
    }  # fmt: skip
    found = figures(world, endpoint)
    assert (found["hours"], found["totals"], found["by_hour"]) == (24, empty, [])
    assert found["backlog"] == {"waiting": 0, "due": 0, "oldest_due_seconds": None}
    assert found["health"] == {
        "active": True, "consecutive_failures": 0, "failing_since": None, "circuit_state": "closed",
        "circuit_until": None, "paused_until": None,
    }  # fmt: skip


def test_hours_are_listed_and_summed(world, endpoint):
    older = hour(world, endpoint, 2, attempts=10, delivered=8, failed=1, duration_buckets=counted(ms50=6, ms1000=4))
    newer = hour(world, endpoint, 0, attempts=10, delivered=10, failed=0, duration_buckets=counted(ms10=10))
    hour(world, endpoint, 24, attempts=99, delivered=0, failed=99, duration_buckets=counted(ms15000=99))
    found = figures(world, endpoint)
    assert found["by_hour"] == [
        {
            "hour": older,
            "attempts": 10,
            "delivered": 8,
            "failed": 1,
            "success_ratio": 0.8,
            "p50_ms": 50,
            "p95_ms": 1000,
        },
        {"hour": newer, "attempts": 10, "delivered": 10, "failed": 0, "success_ratio": 1, "p50_ms": 10, "p95_ms": 10},
    ]
    assert found["totals"] == {
        "attempts": 20, "delivered": 18, "failed": 1, "success_ratio": 0.9, "p50_ms": 10, "p95_ms": 1000,
    }  # fmt: skip
    assert figures(world, endpoint, "?hours=25")["totals"]["attempts"] == 119
    assert [row["hour"] for row in figures(world, endpoint, "?hours=1")["by_hour"]] == [newer]


def test_backlog_tells_what_waits_and_since_when(world, endpoint):
    with tenant_context(world.tenant.id):
        for seconds in (-120, -60, 3600):
            DueDelivery.objects.create(
                delivery_id=UUID(int=now().microsecond * 1000 + seconds + 5000), created_at=now(), event_id=UUID(int=1),
                tenant_id=world.tenant.id, endpoint_id=endpoint["id"], due_at=now() + timedelta(seconds=seconds),
            )  # fmt: skip
    backlog = figures(world, endpoint)["backlog"]
    with tenant_context(world.tenant.id):
        DueDelivery._base_manager.filter(endpoint_id=endpoint["id"]).delete()
    assert (backlog["waiting"], backlog["due"]) == (3, 2)
    assert 119 <= backlog["oldest_due_seconds"] <= 600


def test_health_is_what_the_dispatcher_wrote(world, endpoint):
    since, until = now() - timedelta(hours=3), now() + timedelta(minutes=1)
    with tenant_context(world.tenant.id):
        EndpointHealth.objects.create(
            endpoint_id=endpoint["id"], tenant_id=world.tenant.id, consecutive_failures=9, failing_since=since,
            circuit_state="open", circuit_until=until,
        )  # fmt: skip
    health = figures(world, endpoint)["health"]
    assert (health["consecutive_failures"], health["circuit_state"]) == (9, "open")
    assert (health["failing_since"], health["circuit_until"]) == (rfc3339(since), rfc3339(until))


@pytest.mark.parametrize("query", ["?hours=0", "?hours=721", "?hours=x", "?hours=-1", "?day=1", "?hours=1&hours=2"])
def test_strange_parameters_are_refused(world, endpoint, query):
    assert world.api.get(f"/v1/webhooks/{endpoint['id']}/stats{query}").status_code == 400
    assert figures(world, endpoint, "?hours=720")["hours"] == 720


def test_figures_follow_the_credential_and_hide_from_others(world, endpoint):
    hour(world, endpoint, 0, attempts=5, delivered=5, failed=0, duration_buckets=counted(ms10=5))
    path = f"/v1/webhooks/{endpoint['id']}/stats"
    assert as_member(world.tenant).get(path).json() == {"data": world.api.get(path).json()["data"]}
    assert world.api.get(path).json()["success"] is True
    assert new_world().api.get(path).status_code == 404
    nobody = Api(key=api_key(world.tenant, scopes=["catalog:read"]), tenant=world.tenant)
    assert nobody.get(path).json()["code"] == "insufficient_scope"


def test_figures_of_a_deleted_endpoint_stay(world, endpoint):
    hour(world, endpoint, 0, attempts=5, delivered=5, failed=0, duration_buckets=counted(ms10=5))
    world.api.delete(f"/v1/webhooks/{endpoint['id']}")
    found = figures(world, endpoint)
    assert (found["totals"]["attempts"], found["health"]["active"]) == (5, False)
