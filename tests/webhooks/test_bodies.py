"""Full payloads: the resource as it read at that version, signed, and only for those who may read it."""

import json

import pytest

from bench.receiver import Receiver
from core import pipeline
from core.db import tenant_context
from ledger import public as ledger
from suppliers.catalog.events import ProductUpdated
from suppliers.catalog.models import Product
from tests.factories import Api, api_key, as_member, suffix
from tests.security.worlds import product
from tests.webhooks.worlds import drain, new_world
from webhooks import envelope, policies
from webhooks.models import Event, EventBody


def make_product(world, **changes):
    answer = world.api.post("/v1/products", json={**product(suffix()), **changes})
    assert answer.status_code == 201, answer.content
    return answer.json()["data"]


def test_full_payload_is_the_representation_at_that_version(world):
    with Receiver() as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"], payload_mode="full")
        assert endpoint["payload_mode"] == "full"
        made = make_product(world)
        read = world.api.get(f"/v1/products/{made['id']}").json()["data"]
        drain()
        (arrival,) = receiver.received
        assert arrival.verified_by([endpoint["secret"]])
        event = arrival.event()
        assert event["data"] == {"object": read}
        thin = json.loads(bytes(next(row for row in world.rows(Event) if row.type == "product.created").body))
        assert {name: value for name, value in event.items() if name != "data"} == {
            name: value for name, value in thin.items() if name != "data"
        }
        (stored,) = world.rows(EventBody)
        assert bytes(stored.body) == arrival.body
        assert (stored.payload_mode, stored.api_version) == ("full", envelope.API_VERSION)
        assert world.api.delete(f"/v1/products/{made['id']}").status_code == 204
        drain()
        assert receiver.received[-1].event()["type"] == "product.deleted"
        assert bytes(world.rows(EventBody)[0].body) == arrival.body, "what was written stays as it was then"


def test_thin_and_full_endpoints_share_an_event(world):
    with Receiver() as full, Receiver() as thin:
        world.endpoint(full.url, events=["product.*"], payload_mode="full")
        world.endpoint(thin.url, events=["product.*"])
        make_product(world)
        drain()
        (rich,), (poor,) = full.received, thin.received
        assert rich.message_id == poor.message_id
        assert "supplier_sku" in rich.event()["data"]["object"]
        assert set(poor.event()["data"]["object"]) == {"type", "id", "supplier_sku", "status", "version", "href"}
        assert len(world.rows(EventBody)) == 1


def test_nothing_is_stored_where_nobody_wants_it(world, receiver):
    world.endpoint(receiver.url, events=["product.*"])
    world.endpoint(receiver.url, events=["product.deleted"], payload_mode="full")
    silent = world.endpoint(receiver.url, events=["product.*"], payload_mode="full", active=False)
    make_product(world)
    assert world.rows(EventBody) == []
    world.api.patch(f"/v1/webhooks/{silent['id']}", json={"active": True})
    make_product(world)
    assert len(world.rows(EventBody)) == 1


def test_another_tenants_wish_stores_nothing_here(world, receiver):
    other = new_world()
    other.endpoint(receiver.url, events=["product.*"], payload_mode="full")
    make_product(world)
    assert world.rows(EventBody) == other.rows(EventBody) == []


def test_full_payload_costs_no_further_round_trip(world, receiver):
    def trips():
        seen = []
        pipeline.observers.append(seen.append)
        make_product(world)
        pipeline.observers.remove(seen.append)
        return len(seen)

    world.endpoint(receiver.url, events=["product.*"])
    before = trips()
    world.endpoint(receiver.url, events=["product.*"], payload_mode="full")
    assert trips() == before


def test_previous_values_come_along(world, receiver):
    world.endpoint(receiver.url, events=["product.*"], payload_mode="full")
    made = make_product(world)

    class WithPrevious(ProductUpdated):
        def payload(self):
            return {**super().payload(), "previous": {"status": 'dra"ft'}}

    fact = WithPrevious(supplier_sku="x", status="draft", changes=["status"])
    world.record(made["id"], event=fact, version=2)
    newest = json.loads(bytes(world.rows(EventBody)[-1].body))
    assert (newest["type"], newest["sequence"]) == ("product.updated", "0" * 14 + "2")
    assert newest["data"]["previous"] == {"status": 'dra"ft'}
    assert newest["data"]["object"]["id"] == made["id"]


def test_too_large_a_representation_gives_way_to_the_thin_one(world, receiver):
    world.endpoint(receiver.url, events=["product.*"], payload_mode="full")
    made = make_product(world)
    big = {f"k{n}": "x" * 900 for n in range(90)}
    with tenant_context(world.tenant.id):
        Product._base_manager.filter(id=made["id"]).update(attributes=big)
    world.record(made["id"], event=ProductUpdated(supplier_sku="x", status="draft", changes=[]), version=2)
    body = bytes(world.rows(EventBody)[-1].body)
    assert len(body) < envelope.LARGEST_BYTES
    event = json.loads(body)
    assert event["data"]["object_omitted"] == "too_large"
    assert event["data"]["object"]["href"] == f"/v1/products/{made['id']}"


def test_facts_of_a_resource_that_is_gone_stay_thin(world, receiver):
    world.endpoint(receiver.url, events=["product.*"], payload_mode="full")
    world.record()  # of a product that never was
    drain()
    assert world.rows(EventBody) == []
    assert receiver.received[0].event()["data"]["object"]["supplier_sku"] == "GLOVE-M"


def test_kinds_nobody_represents_stay_thin(world, receiver):
    assert ledger.representation_of("membership.activated") is None
    assert ledger.representation_of("product.created").scope == "catalog.read"


def test_patients_data_is_never_represented(monkeypatch):
    kind = ledger.catalogue()["product.created"]
    monkeypatch.setattr(kind, "data_class", "phi")
    assert ledger.representation_of("product.created") is None
    assert policies.full_scopes(["product.created"]) == set()


@pytest.mark.parametrize("wanted", [["product.*"], ["*"], ["api_key.created", "product.deleted"]])
def test_full_payloads_need_the_scope_to_read_what_they_hold(world, receiver, wanted):
    narrow = Api(key=api_key(world.tenant, scopes=["webhooks:read", "webhooks:write"]), tenant=world.tenant)
    body = {"url": receiver.url, "events": wanted, "payload_mode": "full"}
    answer = narrow.post("/v1/webhooks", json=body)
    assert (answer.status_code, answer.json()["code"], answer.json()["required"]) == (
        403, "insufficient_scope", ["catalog.read"],
    )  # fmt: skip
    assert world.api.get("/v1/webhooks").json()["data"]["items"] == []
    assert as_member(world.tenant).post("/v1/webhooks", json=body).status_code == 403, (
        "an administrator reads no catalog"
    )
    assert narrow.post("/v1/webhooks", json={**body, "events": ["api_key.*"]}).status_code == 201
    reader = Api(key=api_key(world.tenant, scopes=["webhooks:write", "catalog:read"]), tenant=world.tenant)
    assert reader.post("/v1/webhooks", json=body).status_code == 201


def test_what_decides_who_sees_what_cannot_be_changed_without_the_scope(world, receiver):
    full = world.endpoint(receiver.url, events=["product.created"], payload_mode="full")
    thin = world.endpoint(receiver.url, events=["product.created"])
    narrow = Api(key=api_key(world.tenant, scopes=["webhooks:read", "webhooks:write"]), tenant=world.tenant)
    refused = [
        (full, {"url": receiver.url + "/mine"}),
        (full, {"events": ["product.*"]}),
        (thin, {"payload_mode": "full"}),
    ]
    for endpoint, changes in refused:
        answer = narrow.patch(f"/v1/webhooks/{endpoint['id']}", json=changes)
        assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")
        assert world.api.get(f"/v1/webhooks/{endpoint['id']}").json()["data"]["version"] == 1
    for changes in ({"description": "x"}, {"active": False}, {"payload_mode": "thin", "url": receiver.url + "/mine"}):
        assert narrow.patch(f"/v1/webhooks/{full['id']}", json=changes).status_code == 200
