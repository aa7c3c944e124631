"""What an event said can be taken back, with a fact in the tenant's ledger and never without."""

import json
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from ledger import public as ledger
from tests.webhooks.history.past import attempt, body, delivery, event
from tests.webhooks.worlds import drain, new_world
from webhooks.history import actions
from webhooks.history.events import EventExpunged
from webhooks.models import Attempt, Event, EventBody


def told(world):
    with tenant_context(world.tenant.id):
        return list(ledger.Event.objects.filter(tenant_id=world.tenant.id, type="webhook_event.expunged"))


def test_body_is_emptied_in_every_form_and_the_rest_stays(world):
    one, other = event(world, now() - timedelta(hours=3)), event(world, now())
    body(one)
    sent = delivery(one, world.endpoint("https://example.org/hook")["id"])
    attempt(sent)

    with tenant_context(world.tenant.id):
        changed = actions.expunge(actor=world.actor, event=one, at=now())

    assert changed == 2
    found = {row.id: bytes(row.body) for row in world.rows(Event)}
    emptied = {"data": {"object": {"type": "product", "id": "x", "expunged": True}}}
    assert json.loads(found[one.id]) == emptied
    assert [json.loads(bytes(row.body)) for row in world.rows(EventBody)] == [emptied]
    assert found[other.id] == other.body
    assert [(row.status, row.response_excerpt) for row in world.rows(Attempt)] == [(500, "")]
    (fact,) = told(world)
    assert (fact.resource_id, fact.data) == (one.id, {"event_id": f"evt_{one.id.hex}"})


def test_receivers_hear_of_it_and_get_the_rest_of_the_envelope(world, receiver):
    world.endpoint(receiver.url, events=["*"])
    world.record()
    (one,) = world.rows(Event, type="product.created")
    before = json.loads(bytes(one.body))

    with tenant_context(world.tenant.id):
        actions.expunge(actor=world.actor, event=one, at=now())
    drain()

    bodies = {json.loads(found.body)["type"]: json.loads(found.body) for found in receiver.received}
    assert bodies["webhook_event.expunged"]["data"]["object"]["event_id"] == before["id"]
    thing = {"type": "product", "id": before["data"]["object"]["id"], "expunged": True}
    assert bodies["product.created"] == before | {"data": {"object": thing}}


def test_expunging_twice_changes_nothing_more(world):
    one = event(world, now())
    for _ in range(2):
        with tenant_context(world.tenant.id):
            actions.expunge(actor=world.actor, event=one, at=now())

    assert json.loads(bytes(world.rows(Event, id=one.id)[0].body))["data"]["object"]["expunged"] is True


def test_rolled_back_expunging_leaves_body_and_ledger(world):
    one = event(world, now())

    with pytest.raises(ZeroDivisionError), tenant_context(world.tenant.id):
        actions.expunge(actor=world.actor, event=one, at=now())
        raise ZeroDivisionError

    assert bytes(world.rows(Event, id=one.id)[0].body) == one.body
    assert told(world) == []


def call(world, fact_id, happened):
    with tenant_context(world.tenant.id), connection.cursor() as cursor:
        cursor.execute("SELECT hp_webhooks_expunge(%s, %s)", [fact_id, happened])


def test_nothing_is_expunged_without_a_fact_of_this_tenant_and_moment(world):
    other = new_world()
    one, theirs = event(world, now()), event(other, now())

    def fact(of, row, at):
        with tenant_context(of.tenant.id):
            name = EventExpunged(event_id="evt_x")
            return ledger.record(actor=of.actor, event=name, resource_id=row.id, at=at).id

    stale = fact(world, one, now() - timedelta(hours=1))
    foreign = fact(other, theirs, now())
    with tenant_context(world.tenant.id):
        unrelated = (
            ledger.Event.objects.filter(tenant_id=world.tenant.id).exclude(type="webhook_event.expunged").first()
        )
    for found in (uuid7(), stale, foreign, unrelated.id):
        with pytest.raises(DatabaseError, match="ledger does not tell"):
            call(world, found, one.created_at)
    assert bytes(world.rows(Event, id=one.id)[0].body) == one.body
    assert bytes(other.rows(Event, id=theirs.id)[0].body) == theirs.body


def test_fact_about_a_foreign_event_touches_nothing(world):
    other = new_world()
    theirs = event(other, now())

    with tenant_context(world.tenant.id):
        assert actions.expunge(actor=world.actor, event=theirs, at=now()) == 0

    assert bytes(other.rows(Event, id=theirs.id)[0].body) == theirs.body
