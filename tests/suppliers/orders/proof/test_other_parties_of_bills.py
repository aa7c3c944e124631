"""What other parties see of invoices, payments and returns: nothing; and what each side never reads of the other."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from organizations.actions.tenants import suspend_tenant
from organizations.management.base import locked_tenant
from tests.factories import Api, as_member
from tests.procurement.purchasing.orders import submitted
from tests.suppliers.deliveries.receiving.arrivals import place
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices import bills
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.orders.answers import accepted
from tests.suppliers.orders.proof.bill_parties import (
    BUYERS,
    PAYMENTS,
    RETURNS,
    SELLERS,
    asked,
    listed,
    nothing,
    read,
    told,
)
from tests.suppliers.orders.proof.parties import kept

OF_BUYER = ("qxnote", "qxhall", "qxoverride", "qxaccount", "qxrun")
OF_SUPPLIER = ("qxquarantine",)
ROLES = ["buyer", "approver", "receiving_clerk", "finance"]


@dataclass
class Walk:
    """An order that is received, its documents so far, and strangers: another hospital, another supplier."""

    desk: Desk
    people: Api
    names: dict[str, str]
    strangers: list[Api] = field(default_factory=list)

    @property
    def sides(self) -> tuple[Any, Any]:
        return self.desk.dock.buyer, self.desk.dock.shelf

    def stored(self) -> list[list[str]]:
        """Return what would differ had anybody changed something, on either side; that requests were refused is kept anyway."""
        texts = (kept(side.tenant).splitlines() for side in self.sides)
        return [sorted(row for row in rows if "'route': " not in row) for rows in texts]

    def closed_to_strangers(self) -> None:
        """Require that strangers get the answers of what is not there, and that nothing changes."""
        before = self.stored()
        for api in self.strangers:
            assert told(api, self.names) == told(api, nothing(self.names))
            for answer in listed(api, self.names):
                assert answer.status_code in (200, 403), answer.content
                known = [kind for kind, key in self.names.items() if kind != "supplier" and key in answer.text]
                assert known in ([], ["order"] if "purchase_order_id" in answer.request["QUERY_STRING"] else [])
        assert self.stored() == before

    def keeps_words(self) -> None:
        """Require that neither side holds or is answered a private word of the other."""
        buyer, shelf = self.sides
        for side, api, words in ((shelf, shelf.api, OF_BUYER), (buyer, self.people, OF_SUPPLIER)):
            text = kept(side.tenant)
            assert [one for one in words if one in text] == []
            for answer in (*(one for _, one in read(api, self.names)), *listed(api, self.names)):
                assert [one for one in words if one in answer.text] == []

    def post(self, api: Api, path: str, wanted: int, /, **body: Any) -> dict[str, Any]:
        """Write something as one of the parties."""
        answer = api.post(path, json=body)
        assert answer.status_code == wanted, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def looked_at(self) -> None:
        """Look at all, after a step."""
        self.closed_to_strangers()
        self.keeps_words()

    def invoice(self) -> None:
        """Invoice more than was agreed for the first 60 units, which does not match."""
        order = self.desk.dock.trade.read(self.names["order"])
        made = self.desk.issue(order, self.desk.line(order, 1, 60, unit_price="9.90"))
        assert made["status"] == "mismatched"
        self.names["invoice"] = made["id"]

    def pay(self) -> None:
        """Prepare a payment of a part."""
        part = {"invoice_id": self.names["invoice"], "amount": "5.00"}
        made = self.post(
            self.people, PAYMENTS, 201, supplier_id=self.names["supplier"], amount="5.00", currency="EUR", allocations=[part],
            bank_account="qxaccount", provider_reference="qxrun",
        )  # fmt: skip
        self.names["payment"] = made["id"]

    def send_back(self) -> None:
        """Request a return of 10 units."""
        line = {"delivery_line_id": self.names["delivered"], "quantity": 10, "unit": "base", "reason_code": "quality"}
        made = self.post(self.people, RETURNS, 201, delivery_id=self.names["delivery"], lines=[line])
        self.names |= {"return": made["id"], "return_line": made["lines"][0]["id"]}


@pytest.fixture
def walk() -> Walk:
    """Return 100 received units of an order, with private words where they are taken."""
    desk = bills.desk()
    dock = desk.dock
    dock.place = place(dock.buyer, name="qxhall")
    order = submitted(dock.trade, (dock.vials, 10), internal_note="qxnote")
    accepted(dock.trade, order["id"])
    delivery = dock.ship(order, {"units": 100, "lot": "L1"})
    dock.receive(delivery, {"accepted_quantity": 100})
    names = nothing({"supplier": str(dock.shelf.id)}) | {
        "order": order["id"], "line": order["lines"][0]["id"], "delivery": str(delivery),
        "delivered": str(dock.lines(delivery)[0].id), "location": str(dock.shelf.place("qxquarantine", sellable=False)),
    }  # fmt: skip
    other, rival = shelves.buyer(), shelves.shelf()
    people = as_member(dock.buyer.tenant, ROLES)
    return Walk(desk, people, names, [as_member(other.tenant, ROLES), rival.api])


def test_nobody_else_sees_what_is_billed_paid_and_sent_back(walk: Walk) -> None:
    desk, names = walk.desk, walk.names
    walk.invoice()
    walk.looked_at()
    walk.post(walk.people, f"{bills.PATH}/{names['invoice']}/approve", 200, override_reason="qxoverride")
    walk.pay()
    walk.looked_at()
    for outcome in ("processing", "succeeded"):
        walk.post(walk.people, f"{PAYMENTS}/{names['payment']}/confirm", 200, status=outcome)
    walk.send_back()
    walk.looked_at()

    base, supplier = f"{RETURNS}/{names['return']}", desk.supplier
    walk.post(supplier, f"{base}/authorize", 200, instructions="Gate 4")
    walk.post(walk.people, f"{base}/ship", 200)
    walk.closed_to_strangers()
    walk.post(supplier, f"{base}/receive", 200, location_id=names["location"])
    walk.keeps_words()
    line = {"return_line_id": names["return_line"], "disposition": "quarantine"}
    done = walk.post(supplier, f"{base}/inspect", 200, lines=[line], credit_note_number="CN-1")
    assert done["status"] == "completed"
    names["invoice"] = done["credit_note_id"] or names["invoice"]
    walk.looked_at()
    _ended(walk)
    own, other = kept(desk.dock.buyer.tenant), kept(desk.dock.shelf.tenant)  # the words were there to be found
    assert [one for one in OF_BUYER if one not in own] == []
    assert [one for one in OF_SUPPLIER if one not in other] == []


def _ended(walk: Walk) -> None:
    """Whatever a party asks then, no answer has a private word of the other, and none is an error of ours."""
    for api, words in ((walk.desk.supplier, OF_BUYER), (walk.people, OF_SUPPLIER)):
        for name, answer in asked(api, (*BUYERS, *SELLERS), walk.names):
            assert answer.status_code < 500, (name, answer.content)
            assert [one for one in words if one in answer.text] == [], name


def test_the_supplier_bills_no_order_that_was_not_sent(walk: Walk) -> None:
    draft = walk.desk.dock.trade.draft((walk.desk.dock.vials, 1), internal_note="qxnote")
    names = walk.names | {"order": draft["id"], "line": draft["lines"][0]["id"]}
    before = walk.stored()
    for name, answer in asked(walk.desk.supplier, SELLERS[:2], names):
        assert refused(answer, 404, "not_found"), name
    assert walk.stored() == before


@pytest.mark.parametrize("side", ["buyer", "seller"])
def test_a_suspended_party_bills_pays_and_sends_back_nothing(walk: Walk, side: str) -> None:
    walk.invoice()
    walk.desk.did({"id": walk.names["invoice"]}, "approve", override_reason="qxoverride")
    walk.pay()
    walk.send_back()
    party, api, acts = (
        (walk.sides[0], walk.people, BUYERS) if side == "buyer" else (walk.sides[1], walk.desk.supplier, SELLERS)
    )
    with tenant_context(party.id):
        row = locked_tenant(str(party.id))
        suspend_tenant(actor=system_actor(party.id), tenant=row, reason="Unpaid", at=now())
    before = walk.stored()

    for name, answer in asked(api, acts, walk.names):
        assert refused(answer, 403, "tenant_suspended"), name
    assert walk.stored() == before
    walk.looked_at()
    if side == "buyer":
        walk.post(walk.desk.supplier, f"{RETURNS}/{walk.names['return']}/authorize", 200)
    else:
        walk.post(walk.people, f"{PAYMENTS}/{walk.names['payment']}/cancel", 200)


def test_the_walk_notices_a_stranger_who_is_told_more(walk: Walk) -> None:
    """Proof of power: a party itself gets other answers than of what is not there."""
    walk.invoice()
    walk.strangers = [walk.people]
    with pytest.raises(AssertionError):
        walk.closed_to_strangers()
    assert str(uuid7()) not in walk.names.values()
