"""One change that two tenants hear of: each has a row, a sequence and a projection of its own, in the same transaction."""

from uuid import uuid4

import pytest
from django.db import transaction

from core.actor import system_actor
from core.clock import now
from core.db import bind_tenant, tenant_context
from ledger import public as ledger
from suppliers.catalog.events import ProductCreated, ProductUpdated
from tests.webhooks.worlds import drain, new_world
from webhooks.models import Event


class Fault(Exception):
    """Thrown by a test inside a transaction."""


def change(seller, buyer, thing):
    """What a seller does to a thing, told to the buyer as well and in other words; then to the seller again."""
    bind_tenant(seller.tenant.id)
    theirs = system_actor(buyer.tenant.id, request_id=seller.actor.request_id)
    at = now()
    ledger.record(actor=seller.actor, event=ProductCreated("OURS", "draft"), resource_id=thing, at=at)
    with tenant_context(buyer.tenant.id):
        ledger.record(actor=theirs, event=ProductCreated("YOURS", "active"), resource_id=thing, at=at)
    ledger.record(actor=seller.actor, event=ProductUpdated("OURS", "active", ["status"]), resource_id=thing, at=at)


def test_each_party_hears_its_own_words_in_its_own_order(receiver):
    seller, buyer, thing = new_world(), new_world(), uuid4()
    secrets = [party.endpoint(f"{receiver.url}/{name}")["secret"] for party, name in ((seller, "s"), (buyer, "b"))]
    with transaction.atomic():
        change(seller, buyer, thing)
    drain()

    heard = []
    for arrival in receiver.received:
        whose = arrival.path[-1]
        assert arrival.verified_by([secrets["sb".index(whose)]])
        event = arrival.event()
        if event["data"]["object"]["id"] == str(thing):
            heard.append((whose, int(event["sequence"]), event["tenant_id"], event["data"]["object"]["supplier_sku"]))
    ours, theirs = str(seller.tenant.id), str(buyer.tenant.id)
    assert sorted(heard) == [("b", 1, theirs, "YOURS"), ("s", 1, ours, "OURS"), ("s", 2, ours, "OURS")]
    assert [len(party.rows(Event, resource_id=thing)) for party in (seller, buyer)] == [2, 1]


def test_change_that_is_rolled_back_reaches_neither_party():
    seller, buyer, thing = new_world(), new_world(), uuid4()
    with pytest.raises(Fault), transaction.atomic():
        change(seller, buyer, thing)
        raise Fault

    assert [party.rows(Event, resource_id=thing) for party in (seller, buyer)] == [[], []]
