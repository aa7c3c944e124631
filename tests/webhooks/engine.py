"""The dispatcher's statements in a test's own hands: claim, pretend an answer, finish; no network, no loop."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import connections

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from core.lanes import Lane, lanes
from webhooks import schedule, states
from webhooks.deliveries import judge
from webhooks.egress import Answer
from webhooks.models import Endpoint, EndpointHealth
from webhooks.queues import Claim, Fanned, Outcome, Queues, Share, Work


def outcome(work: Work, *, state: str = states.DELIVERED, status: int | None = 200, **more: object) -> Outcome:
    """What a dispatcher would write down of one attempt."""
    values = {
        "attempt_id": uuid7(),
        "at": now(),
        "delivery_id": work.delivery_id,
        "created_at": work.created_at,
        "tenant_id": work.tenant_id,
        "endpoint_id": work.endpoint_id,
        "number": work.attempts + 1,
        "attempts_before": work.attempts_before,
        "status": status,
        "error": "",
        "duration_ms": 1,
        "excerpt": "",
        "headers": {},
        "timings": {},
        "remote_ip": None,
        "trigger": work.trigger,
        "state": state,
        "delay_seconds": None,
        "pause_seconds": None,
        "asked": True,
    }
    return Outcome(**(values | more))  # type: ignore[arg-type]


def judged(work: Work, *, status: int | None, retry_after: str = "", at: datetime | None = None) -> Outcome:
    """An outcome as the platform judges the answer."""
    answer = Answer(status, headers={"retry-after": retry_after} if retry_after else {})
    probe = work.trigger == states.PROBE
    verdict = judge(
        answer,
        number=work.attempts + 1 - work.attempts_before,
        at=at or now(),
        steps=schedule.DEFAULT,
        probe=probe,
    )
    return outcome(
        work,
        state=verdict.state,
        status=status,
        delay_seconds=verdict.delay_seconds,
        pause_seconds=verdict.pause_seconds,
        attempts_before=work.attempts_before + (probe and verdict.state == states.RETRYING),
        at=at or now(),
    )


class Engine:
    """One dispatcher without its loop; it sees the rows of one world only."""

    def __init__(self, world) -> None:
        self.world = world
        self.lane = lane_of(world.tenant)
        self.queues = Queues(lease=uuid4())
        self._runner = asyncio.Runner()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self.queues.close())
        self._runner.close()

    def fan_out(self) -> int:
        """Match everything new with the endpoints."""
        total = 0
        for lane in lanes():
            while any(found := self._runner.run(self.queues.fan_out(lane, limit=1000))):
                total += found.events
        return total

    def fan_out_once(self) -> Fanned:
        """Match one batch of the lane of the world."""
        return self._runner.run(self.queues.fan_out(self.lane, limit=1000))

    def claim_all(self, *, limit: int = 500, first: int = 350, lease_seconds: float = 60.0) -> Claim:
        """One claim in the lane of the world, whoever the rows belong to."""
        return self._runner.run(self.queues.claim(self.lane, Share(limit, first, lease_seconds)))

    def claim(self, **share) -> list[Work]:
        """One claim; what other tests left behind is put back."""
        found = self.claim_all(**share).work
        mine = [work for work in found if work.tenant_id == self.world.tenant.id]
        if foreign := [work for work in found if work.tenant_id != self.world.tenant.id]:
            self._runner.run(self.queues.release(foreign))
        return mine

    def finish(self, *outcomes: Outcome) -> None:
        """Write outcomes down."""
        self._runner.run(self.queues.finish(outcomes))

    def freeze(self, *endpoints: UUID) -> None:
        """Take disabled endpoints' rows out of the queue."""
        self._runner.run(self.queues.freeze(dict.fromkeys(endpoints, self.world.tenant.id)))

    def release(self, *work: Work) -> None:
        """Put claimed rows back."""
        self._runner.run(self.queues.release(work))


def lane_of(tenant) -> Lane:
    """The lane of a tenant, as the database sees it."""
    every = lanes()
    ((number,),) = run_as_owner("SELECT hp_lane(%s, %s)", [tenant.id, len(every)])
    return every[number]


def change_endpoint(world, endpoint, **values) -> None:
    """Set columns of an endpoint."""
    with tenant_context(world.tenant.id):
        Endpoint.objects.filter(tenant_id=world.tenant.id, id=endpoint["id"]).update(**values)


def health_of(endpoint) -> EndpointHealth | None:
    """The health row, if there is one."""
    return EndpointHealth.objects.using("platform").filter(endpoint_id=endpoint["id"]).first()


def make_ill(world, endpoint, *, hours: float, failures: int, last_hours: float = 0.0, **more) -> None:
    """Let an endpoint have failed for some hours."""
    at = now()
    EndpointHealth.objects.using("platform").update_or_create(
        endpoint_id=endpoint["id"],
        defaults={
            "tenant_id": world.tenant.id,
            "consecutive_failures": failures,
            "failing_since": at - timedelta(hours=hours),
            "last_failure_at": at - timedelta(hours=last_hours),
            **more,
        },
    )


def run_as_owner(sql: str, parameters: list | None = None) -> list[tuple]:
    """Run SQL as the owner of the tables."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall() if cursor.description else []
