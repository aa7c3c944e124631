"""Whatever dies, every committed event is delivered and none of a transaction that was rolled back."""

import time

import pytest

from bench import javascript
from tests.faults import service as parts
from tests.faults.chaos import ORDINARY, Storm, rage
from tests.faults.service import frozen, wait_for
from tests.faults.verdicts import judge

# An event of a product that is nowhere, made of one that is somewhere.
GHOST = """
WITH model AS (
  SELECT * FROM webhooks_event WHERE tenant_id = %(tenant)s AND type = 'product.created'
    AND position(%(mark)s in convert_from(body, 'UTF8')) > 0 LIMIT 1),
ghost AS (
  INSERT INTO webhooks_event (id, tenant_id, type, resource_type, resource_id, sequence, api_version, request_id, body)
  SELECT uuidv7(), tenant_id, type, resource_type, %(ghost)s::uuid, sequence, api_version, request_id,
         convert_to(replace(convert_from(body, 'UTF8'), resource_id::text, %(ghost)s::uuid::text), 'UTF8')
  FROM model RETURNING id, created_at, tenant_id, type, resource_id)
INSERT INTO webhooks_event_new (id, created_at, tenant_id, type, resource_id)
SELECT id, created_at, tenant_id, type, resource_id FROM ghost
"""


def assert_verified_in_javascript(storm: Storm) -> None:
    try:
        found = javascript.verdicts(storm.requests, [storm.secret])
    except javascript.Unavailable as reason:
        print(f"not judged by the npm package: {reason}")
        return
    assert found == [True] * len(storm.requests)


def run(service, strikes) -> None:
    with Storm(service) as storm:
        outcome = rage(storm, strikes)
        print(outcome.shown())
        assert judge(storm.evidence, storm.kept()) == []
        assert_verified_in_javascript(storm)
    assert outcome.events == outcome.deliveries >= outcome.committed > 100
    assert outcome.rolled_back > 10
    assert outcome.replies["busy"] > 0
    assert outcome.replies["hung"] > 0


def test_every_committed_event_is_delivered_through_a_storm(service):
    run(service, ORDINARY)


def test_loss_and_ghost_planted_in_a_storm_are_found(service):
    """The proof that the judge sees: events taken out of the queue by hand, and one of a product that is not there."""
    with Storm(service) as storm:
        wait_for(lambda: len(storm.requests) > 5, what="first deliveries")
        with frozen(parts.pool(service)), service.connect() as connection:
            time.sleep(1)
            chosen = {"tenant": storm.tenant_id, "mark": storm.mark, "ghost": "01999999-0000-7000-8000-000000000000"}
            lost = connection.execute("DELETE FROM webhooks_event_new WHERE tenant_id = %(tenant)s", chosen).rowcount
            connection.execute(GHOST, chosen)
        storm.finish()
        wait_for(lambda: storm.kept().queued == 0, what="the end of the queue")
        findings = [line.partition(", as ")[0] for line in judge(storm.evidence, storm.kept())]
    assert lost > 0
    assert sorted(findings) == [
        "delivered, but not there: 1",
        f"never delivered: {lost}",
        f"not exactly one of its deliveries: {lost}",
        "told of nothing: 1",
    ]


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_every_committed_event_is_delivered_through_a_long_storm(service):
    run(service, ORDINARY * 4)
