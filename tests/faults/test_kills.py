"""Kill -9 of every part in turn while products are written: nothing acknowledged is lost and all comes back by itself.

Source: test plan, group 8.
"""

import itertools
import time
from dataclasses import dataclass

import pytest

from tests.faults import service as parts
from tests.faults.service import Part, Service, kill, wait_for
from tests.faults.traffic import FULL_PER_SECOND, ORDINARY_PER_SECOND, Traffic
from tests.faults.verdicts import Write, judge, read

ANSWER_SECONDS = 5.0
DELIVERY_SECONDS = 30.0
_TAKES_THE_API = frozenset({"web_workers", "web", "worker", "deliveries", "pool", "beat", "valkey"})

ORDINARY: tuple[Part, ...] = (
    parts.web_workers,
    parts.web,
    parts.worker,
    parts.deliveries,
    parts.beat,
    parts.valkey,
    parts.whole_postgres,
    parts.postgres_session,
)


def full() -> list[Part]:
    """60 kills, shuffled the same way each time: 20 of PostgreSQL, 15 of Valkey, 15 of the worker, 10 of the web."""
    database = itertools.cycle((parts.postgres, parts.whole_postgres, parts.postgres_session))
    clock = itertools.cycle((parts.beat, parts.worker))
    rounds = [[next(database), parts.valkey, parts.deliveries, next(database)] for _ in range(5)]
    rounds += [[parts.valkey, parts.web_workers, next(database), parts.pool] for _ in range(5)]
    rounds += [[next(database), parts.web, parts.valkey, next(clock)] for _ in range(5)]
    return list(itertools.chain(*rounds))


@dataclass(frozen=True)
class Recovery:
    """One kill and the seconds until a write was acknowledged and a new product's event arrived."""

    part: str
    answer_seconds: float
    delivery_seconds: float


def strike(service: Service, traffic: Traffic, part: Part) -> Recovery:
    """Kill one part and wait until the whole works again, the part itself included."""
    victims = wait_for(lambda: part(service), what=part.__name__)
    if part in {parts.web_workers, parts.pool, parts.postgres_session}:
        victims = victims[:1]
    service.look_around()
    at = kill(*victims)
    written: Write = wait_for(lambda: traffic.acknowledged_after(at), what=f"a write after {part.__name__}")
    arrived = wait_for(lambda: traffic.delivered_after(at), what=f"a delivery after {part.__name__}")
    wait_for(service.is_complete, what="all parts")
    assert written.answered_at is not None
    return Recovery(part.__name__, written.answered_at - at, arrived.at - at)


def drained(service: Service, traffic: Traffic) -> None:
    """Wait until no delivery is owed any more."""

    def is_quiet() -> bool:
        with service.connect() as connection:
            kept = read(connection, tenant_id=traffic.tenant_id, endpoint_id=traffic.endpoint_id, mark=traffic.mark)
        return kept.queued == 0

    wait_for(is_quiet, every=0.5, what="the end of the queue")


def report(recoveries: list[Recovery], traffic: Traffic, seconds: float) -> None:
    """Print the figures; pytest shows them with -s or when the test fails."""
    for recovery in recoveries:
        print(
            f"{recovery.part:18} answer {recovery.answer_seconds:5.2f} s  delivery {recovery.delivery_seconds:5.2f} s"
        )
    writes, arrivals = traffic.evidence.writes, traffic.evidence.arrivals
    acknowledged = sum(write.acknowledged for write in writes)
    print(
        f"{len(writes)} writes ({acknowledged / seconds:.0f}/s), {acknowledged} acknowledged, "
        f"{sum(write.attempts for write in writes) - len(writes)} tried again, {len(arrivals)} arrivals, "
        f"{len(arrivals) - len({found.message_id for found in arrivals})} doubled, {traffic.walks} walks"
    )


def run(service: Service, kills: list[Part], per_second: float) -> tuple[Traffic, list[Recovery], float]:
    """Strike, kill `./dev` itself at the end and start it anew on the same data, then wait until all is delivered."""
    began = time.time()
    with Traffic(service.port, service.demo, per_second) as traffic:
        wait_for(lambda: traffic.evidence.arrivals, what="a first delivery")
        recoveries = [strike(service, traffic, part) for part in kills]
        service.look_around()
        at = kill(service.dev)
        service.reap()
        service.start()
        wait_for(lambda: traffic.delivered_after(at), what="a delivery after ./dev was started again")
        seconds = time.time() - began
        traffic.finish()
        drained(service, traffic)
    report(recoveries, traffic, seconds)
    return traffic, recoveries, seconds


def assert_all_held(service: Service, traffic: Traffic) -> None:
    with service.connect() as connection:
        kept = read(connection, tenant_id=traffic.tenant_id, endpoint_id=traffic.endpoint_id, mark=traffic.mark)
    assert judge(traffic.evidence, kept) == []
    assert traffic.failed_walks == []
    assert traffic.walks > 0
    assert sum(write.acknowledged for write in traffic.evidence.writes) > 100


def assert_recovered(recoveries: list[Recovery]) -> None:
    """Hold the service to seconds, on a machine with nothing else to do."""
    late = [found for found in recoveries if found.part in _TAKES_THE_API and found.answer_seconds > ANSWER_SECONDS]
    assert late == []
    assert [found for found in recoveries if found.delivery_seconds > DELIVERY_SECONDS] == []


def test_nothing_is_lost_when_each_part_is_killed_once(service):
    traffic, _, _ = run(service, list(ORDINARY), ORDINARY_PER_SECOND)
    assert_all_held(service, traffic)


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.timeout(1800)
def test_nothing_is_lost_in_sixty_kills(service):
    traffic, recoveries, seconds = run(service, full(), FULL_PER_SECOND)
    assert_all_held(service, traffic)
    assert_recovered(recoveries)
    assert len(traffic.evidence.writes) / seconds >= 30


def test_no_process_outlives_the_service(service):
    service.look_around()
    seen = len(service.seen)
    service.down()
    try:
        wait_for(lambda: not service.survivors(), seconds=15, what="the end of all processes")
        assert seen > 15
    finally:
        service.start()
