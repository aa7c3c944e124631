"""The judges of the kills notice what is planted: by hand in their evidence, and by hand in the running service."""

import time
from dataclasses import replace

import pytest

from tests.faults import service as parts
from tests.faults.service import frozen, wait_for
from tests.faults.traffic import Traffic
from tests.faults.verdicts import Arrival, Evidence, Kept, Write, judge, read

NOW = 1_000.0


def sound() -> tuple[Evidence, Kept]:
    """Return the evidence of two products of which one answer was lost, and what PostgreSQL holds of them."""
    acknowledged = Write("S-1", "k1", NOW, attempts=2, answered_at=NOW, product_id="p1")
    unanswered = Write("S-2", "k2", NOW, attempts=1)
    arrivals = [Arrival("p1", "e1", NOW, True), Arrival("p1", "e1", NOW, True), Arrival("p2", "e2", NOW, True)]
    once = {"p1": 1, "p2": 1}
    return Evidence([acknowledged, unanswered], arrivals), Kept({"p1": "S-1", "p2": "S-2"}, once, once, once)


def with_arrival(evidence: Evidence, *more: Arrival) -> Evidence:
    return Evidence(evidence.writes, [*evidence.arrivals, *more])


def undone(evidence: Evidence) -> Evidence:
    """The unanswered write was rolled back after all."""
    return Evidence([evidence.writes[0], replace(evidence.writes[1], rolled_back=True)], evidence.arrivals)


def test_sound_evidence_is_passed():
    assert judge(*sound()) == []


@pytest.mark.parametrize(
    ("plant", "finding"),
    [
        (lambda e, k: (e, replace(k, products={"p2": "S-2"})), "acknowledged, but lost"),
        (lambda e, k: (e, replace(k, products=k.products | {"p3": "S-2"})), "created more than once"),
        (lambda e, k: (e, replace(k, products=k.products | {"p3": "S-3"})), "never asked for"),
        (lambda e, k: (e, replace(k, facts={"p1": 1})), "not exactly one of its facts"),
        (lambda e, k: (e, replace(k, events={"p1": 1, "p2": 2})), "not exactly one of its events"),
        (lambda e, k: (e, replace(k, deliveries={"p2": 1})), "not exactly one of its deliveries"),
        (lambda e, k: (Evidence(e.writes, e.arrivals[:2]), k), "never delivered"),
        (lambda e, k: (with_arrival(e, Arrival("p1", "e9", NOW, True)), k), "delivered under several ids"),
        (lambda e, k: (with_arrival(e, Arrival("p2", "e2", NOW, False)), k), "badly signed"),
        (lambda e, k: (with_arrival(e, Arrival("p9", "e9", NOW, True)), k), "delivered, but not there"),
        (lambda e, k: (Evidence([*e.writes, Write("S-4", "k", NOW, refusal="500")], e.arrivals), k), "refused"),
        (lambda e, k: (undone(e), k), "rolled back, but there"),
        (lambda e, k: (e, replace(k, orphans=["e9"])), "told of nothing"),
        (lambda e, k: (e, replace(k, states={"delivered": 1, "pending": 1})), "not delivered to the end"),
        (lambda e, k: (e, replace(k, states={"delivered": 1, "failed": 1})), "not delivered to the end"),
    ],
)
def test_planted_fault_is_found(plant, finding):
    assert any(line.startswith(finding) for line in judge(*plant(*sound())))


def test_faults_planted_in_the_running_service_are_found(service):
    """An unacknowledged write counted as acknowledged, and a delivery taken out of the queue by hand."""
    with Traffic(service.port, service.demo) as traffic:
        wait_for(lambda: traffic.evidence.arrivals, what="a first delivery")  # workers yield to others
        with frozen(parts.pool(service)):
            time.sleep(0.5)
            with service.connect() as connection:
                chosen = "tenant_id = %s AND type = 'product.created'"
                gone = connection.execute(
                    f"DELETE FROM webhooks_event_new WHERE {chosen}", [traffic.tenant_id]
                ).rowcount
        traffic.finish()  # only now, since the demo's walk waits for its own event

        def read_now() -> Kept:
            with service.connect() as connection:
                return read(connection, tenant_id=traffic.tenant_id, endpoint_id=traffic.endpoint_id, mark=traffic.mark)

        kept = wait_for(lambda: (found := read_now()).queued == 0 and found, what="the end of the queue")
        traffic.evidence.writes.append(Write(f"{traffic.mark}never", "k", NOW, product_id="0" * 32))
    findings = [line.partition(",")[0] for line in judge(traffic.evidence, kept)]
    assert gone > 0
    assert findings == ["acknowledged", f"not exactly one of its deliveries: {gone}", f"never delivered: {gone}"]
