"""What other parties see of an order from its draft to its end: nothing; and what each side never reads of the other."""

from dataclasses import dataclass
from typing import Any

import pytest

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from organizations.actions.tenants import suspend_tenant
from organizations.management.base import locked_tenant
from tests.factories import Api, as_member
from tests.procurement.approvals import desk as desks
from tests.procurement.approvals.desk import Desk, decide, done
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, act, approver
from tests.suppliers.deliveries.receiving.arrivals import place
from tests.suppliers.deliveries.shipping import DELIVERIES, body
from tests.suppliers.exchange import network
from tests.suppliers.exchange.network import LD_JSON, XML
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import ORDERS, accepted, answer, seen
from tests.suppliers.orders.proof.parties import asked, kept, lists

BUYERS = (
    "qxnote", "qxbudget", "qxcentre", "qxtoomuch", "qxfine", "qxputaway", "internal_note", "cost_center", "budget",
    "approvals", "tolerance",
)  # fmt: skip
SUPPLIERS = ("qxpicking", "qxdepot", 'picking_notes": "')
WORDS = ("qxnote", "qxbudget", "qxcentre", "qxtoomuch", "qxfine", "qxputaway"), ("qxpicking", "qxdepot")


@dataclass
class Walk:
    """An order on its way, with the words of each side planted wherever they are taken."""

    desk: Desk
    key: str
    delivery: str
    strangers: list[tuple[Api, str]]
    hidden: str = ""

    @property
    def trade(self) -> Any:
        return self.desk.trade

    def line(self) -> str:
        """Return the first line."""
        return str(self.trade.read(self.key)["lines"][0]["id"])

    def stored(self) -> Any:
        """Return what would differ had anybody changed something."""
        return (self.trade.stored(), len(self.trade.facts()), len(self.trade.facts(self.trade.shelf.tenant)))

    def closed_to_strangers(self) -> None:
        """Require that nobody else sees or changes anything, as if the order were not there."""
        before, line = self.stored(), self.line()
        for api, side in self.strangers:
            none = api.get(f"{ORDERS if side == 'seller' else PATH}/{uuid7()}").json()
            for name, found in asked(api, side, self.key, line, self.delivery):
                refusal = refused(found, 404, "not_found")
                assert refusal["detail"] in (none["detail"], "No such delivery.", "No such shipment."), (name, refusal)
            for found in lists(api, side):
                assert found.status_code == 200, found.content
                assert self.key not in found.text
                assert self.delivery not in found.text
        assert self.stored() == before

    def keeps_words(self) -> None:
        """Require that neither side holds or is answered a private word of the other."""
        seller, buyer = (side.tenant for side in (self.trade.shelf, self.trade.buyer))
        for tenant, words in ((seller, WORDS[0]), (buyer, WORDS[1])):
            text = kept(tenant)
            assert [one for one in words if one in text] == [], tenant.type
        bodies = [found.text for found in lists(self.trade.shelf.api, "seller")]
        for path in (f"{ORDERS}/{self.key}", f"{DELIVERIES}/{self.delivery}"):
            bodies += [self.trade.shelf.api.get(path, headers={"Accept": kind}).text for kind in (XML, LD_JSON, "*/*")]
        assert [one for one in BUYERS for text in bodies if one in text] == []
        bodies = [found.text for found in lists(self.trade.api, "buyer")]
        for path in (f"{PATH}/{self.key}", f"{DELIVERIES}/{self.delivery}"):
            bodies += [self.trade.api.get(path, headers={"Accept": kind}).text for kind in (XML, LD_JSON, "*/*")]
        assert [one for one in SUPPLIERS for text in bodies if one in text] == []


@pytest.fixture
def walk() -> Walk:
    """Return a draft with private words, and strangers: another hospital, another supplier."""
    desk = desks.desk()
    trade = network.named(desk.trade)
    trade.shelf.stock(trade.gloves, 5_000)
    trade.shelf.places["hall"] = trade.shelf.place("qxdepot", zone="")
    trade.shelf.stock(trade.gloves, 5_000, place=trade.shelf.places["hall"])
    assert put_budget(approver(trade), "qxbudget", amount="1000", name="qxbudget of wards").status_code == 201
    made = trade.draft(
        (trade.gloves, 11), internal_note="qxnote", notes_to_supplier="Ring twice",
        budget={"code": "qxbudget", "cost_center": "qxcentre"},
    )  # fmt: skip
    other, rival = shelves.buyer(), shelves.shelf()
    people = as_member(other.tenant, ["buyer", "approver", "receiving_clerk"])
    return Walk(desk, made["id"], str(uuid7()), [(people, "buyer"), (rival.api, "seller")])


def hidden_before_sending(walk: Walk) -> None:
    """The order's own supplier does not see it yet."""
    walk.strangers.append((walk.trade.shelf.api, "seller"))
    walk.closed_to_strangers()
    walk.strangers.pop()
    assert walk.trade.facts(walk.trade.shelf.tenant) == []
    walk.keeps_words()


def test_nobody_else_sees_an_order_and_no_side_reads_private_words(walk: Walk) -> None:
    trade, desk, key = walk.trade, walk.desk, walk.key
    first, second = desk.person(), desk.person()
    hidden_before_sending(walk)
    assert act(trade, key, "submit").json()["data"]["status"] == "pending_approval"
    hidden_before_sending(walk)
    done(decide(first, key, "reject", reason="qxtoomuch"))
    hidden_before_sending(walk)
    assert act(trade, key, "submit").status_code == 200
    revision = trade.read(key)["revision"]
    done(decide(second, key, revision=revision, note="qxfine"))
    walk.closed_to_strangers()
    walk.keeps_words()

    accepted(trade, key)
    walk.closed_to_strangers()
    sent = body(trade, seen(trade, key), 600, picking_notes="qxpicking")
    draft = trade.shelf.api.post(f"{ORDERS}/{key}/shipments", json=sent)
    assert draft.status_code == 201, draft.content
    walk.delivery = draft.json()["data"]["id"]
    assert refused(trade.api.get(f"{DELIVERIES}/{walk.delivery}"), 404, "not_found")
    walk.closed_to_strangers()
    left = trade.shelf.api.patch(f"{ORDERS}/{key}/shipments/{walk.delivery}", json={"status": "in_transit"})
    assert left.status_code == 200, left.content
    walk.closed_to_strangers()
    walk.keeps_words()

    _receive(walk)
    walk.closed_to_strangers()
    walk.keeps_words()
    own, other = kept(trade.buyer.tenant), kept(trade.shelf.tenant)  # the words were there to be found
    assert [one for one in WORDS[0] if one not in own] == []
    assert [one for one in WORDS[1] if one not in other] == []


def _receive(walk: Walk) -> None:
    clerk, trade = as_member(walk.trade.buyer.tenant, ["receiving_clerk"]), walk.trade
    hall = place(trade.buyer)["location_id"]
    shelf = place(trade.buyer, name="qxputaway", type="bin", parent_id=hall)["location_id"]
    (line,) = trade.api.get(f"{DELIVERIES}/{walk.delivery}").json()["data"]["lines"]
    given = {"delivery_line_id": line["id"], "unit": "base", "accepted_quantity": 600}
    where = {"delivery_line_id": line["id"], "location_id": shelf, "quantity": 600, "unit": "base"}
    got = clerk.post(
        f"{DELIVERIES}/{walk.delivery}/receipts",
        json={"received_at": "2026-11-02T08:00:00Z", "location_id": hall, "lines": [given], "putaway": [where]},
    )
    assert got.status_code == 201, got.content


def _ended(walk: Walk) -> None:
    """After the end both parties read on, and every act is refused without a private word."""
    before, line = walk.stored(), walk.line()
    for api, side in ((walk.trade.shelf.api, "seller"), (walk.trade.api, "buyer")):
        words = BUYERS[:6] if side == "seller" else SUPPLIERS
        for name, found in asked(api, side, walk.key, line, walk.delivery):
            assert found.status_code in (200, 400, 403, 404, 406, 409), (name, found.content)
            assert found.status_code != 200 or "GET" in name or name == "delivery" or "application" in name, name
            assert [one for one in words if one in found.text] == [], name
    assert walk.stored() == before


def test_nothing_happens_to_a_closed_order(walk: Walk) -> None:
    walk.desk.policies(approval_steps=[])
    assert act(walk.trade, walk.key, "submit").json()["data"]["status"] == "sent"
    accepted(walk.trade, walk.key)
    assert act(walk.trade, walk.key, "close", reason="Enough").status_code == 200
    walk.closed_to_strangers()
    walk.keeps_words()
    _ended(walk)


@pytest.mark.parametrize("side", ["buyer", "seller"])
def test_a_suspended_party_changes_nothing(walk: Walk, side: str) -> None:
    trade, key = walk.trade, walk.key
    walk.desk.policies(approval_steps=[])
    assert act(trade, key, "submit").json()["data"]["status"] == "sent"
    line, party = walk.line(), trade.buyer if side == "buyer" else trade.shelf
    with tenant_context(party.id):
        row = locked_tenant(str(party.id))
        suspend_tenant(actor=system_actor(party.id), tenant=row, reason="Unpaid", at=now())
    before = walk.stored()

    for name, found in asked(party.api, side, key, line, str(uuid7())):
        if name.startswith(("POST", "PATCH")):
            assert refused(found, 403, "tenant_suspended"), name
    assert walk.stored() == before
    other = answer(trade, key, "reject", reason_code="late") if side == "buyer" else act(trade, key, "cancel")
    assert other.status_code in (200, 409), other.content
    walk.keeps_words()
