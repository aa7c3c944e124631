"""Negotiating a price agreement over HTTP, from both sides."""

from typing import Any

import pytest

from core.invariants import breaches
from tests.suppliers.agreements.world import PATH, World, events, other


@pytest.mark.parametrize("by", ["supplier", "buyer"])
def test_draft_proposal_and_acceptance(world: World, by: str) -> None:
    author, answering = world.api(by), world.api(other(by))
    made = author.post(PATH, json=world.body(by, priority=3, payment_terms={"net_days": 30}))
    assert made.status_code == 201, made.content
    data = made.json()["data"]
    key = data["id"]
    assert made.headers["Location"] == f"{PATH}/{key}"
    assert (data["status"], data["revision"], data["agreement_number"], data["proposed_by"]) == ("draft", 1, None, None)
    assert (data["supplier_id"], data["buyer_id"]) == (str(world.supplier.id), str(world.hospital.id))
    assert (data["supplier_name"], data["buyer_name"]) == (world.supplier.name, world.hospital.name)
    assert data["lines"] == [
        {
            "line_no": 1, "category": None, "price_base_quantity": 1, "max_quantity": None, "consumed": 0,
            "min_remaining_shelf_life_days": None, "lead_time_days": None, **world.line(),
        }
    ]  # fmt: skip
    assert answering.get(f"{PATH}/{key}").status_code == 404
    assert author.get(f"{PATH}/{key}").json()["data"] == data

    sent = author.post(f"{PATH}/{key}/propose")
    assert sent.status_code == 200, sent.content
    proposed = sent.json()["data"]
    assert (proposed["status"], proposed["proposed_by"], proposed["agreement_number"]) == ("proposed", by, "PA-000001")
    seen = answering.get(f"{PATH}/{key}").json()["data"]
    assert {**seen, "timeline": 0, "timeline_total": 0, "created_at": 0, "updated_at": 0} == {
        **proposed, "timeline": 0, "timeline_total": 0, "created_at": 0, "updated_at": 0,
    }  # fmt: skip

    done = answering.post(f"{PATH}/{key}/accept")
    assert done.status_code == 200, done.content
    for api in (author, answering):
        found = api.get(f"{PATH}/{key}").json()["data"]
        assert found["status"] == "active"
        assert found["accepted_by_buyer_at"]
        assert found["accepted_by_supplier_at"]
        assert [one["status"] for one in found["versions"]] == ["active"]
        assert found["timeline"][0]["action"] == "activated"
    told = {by: ["price_agreement.created"], other(by): []}
    both = ["price_agreement.proposed", "price_agreement.activated"]
    assert events(world.supplier) == [*told["supplier"], *both]
    assert events(world.hospital) == [*told["buyer"], *both]
    for tenant in (world.supplier, world.hospital):
        assert not [*breaches(tenant.id)]


def test_next_version_supersedes_the_one_before(world: World) -> None:
    key = world.active()
    price: Any = [{"min_quantity": 1, "unit_price": "3.90"}]

    edited = world.buyer.patch(f"{PATH}/{key}", json={"lines": [world.line(tiers=price)]})
    assert edited.status_code == 200, edited.content
    draft = edited.json()["data"]
    assert (draft["id"], draft["status"], draft["revision"], draft["title"]) == (key, "draft", 2, "Gloves")
    assert world.buyer.get(f"{PATH}/{key}").json()["data"]["status"] == "active"
    assert world.buyer.get(f"{PATH}/{key}?revision=draft").json()["data"]["lines"][0]["tiers"] == price
    assert world.seller.get(f"{PATH}/{key}?revision=2").status_code == 404
    sent = world.act("buyer", key, "propose")
    assert sent.status_code == 200, sent.content
    waiting = world.seller.get(f"{PATH}/{key}?revision=2").json()["data"]
    assert (waiting["status"], waiting["proposed_by"]) == ("proposed", "buyer")
    assert world.seller.get(f"{PATH}/{key}").json()["data"]["revision"] == 1

    done = world.act("supplier", key, "accept")
    assert done.status_code == 200, done.content
    for api in (world.buyer, world.seller):
        found = api.get(f"{PATH}/{key}").json()["data"]
        assert (found["revision"], found["status"], found["lines"][0]["tiers"]) == (2, "active", price)
        assert [(one["revision"], one["status"]) for one in found["versions"]] == [(1, "superseded"), (2, "active")]
        assert api.get(f"{PATH}/{key}?revision=1").json()["data"]["lines"][0]["tiers"][0]["unit_price"] == "4.10"
    assert events(world.supplier)[-2:] == ["price_agreement.activated", "price_agreement.superseded"]
    for tenant in (world.supplier, world.hospital):
        assert not [*breaches(tenant.id)]
