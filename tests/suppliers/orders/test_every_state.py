"""Every state with every action of an answer or an end, from its side, over HTTP: what the table does not have changes nothing."""

from typing import Any

import pytest
from django.db import transaction

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.pipeline import run
from ledger.public import Event
from organizations.public import write_documents
from procurement.approvals.steps import begin_call
from suppliers.orders import course
from suppliers.orders.course import PLACES, Place, Who, allowed, step_of
from suppliers.orders.models import ORDERS as ORDERS_KIND
from suppliers.orders.models import PurchaseOrder
from tests.procurement.purchasing.orders import PATH, Trade, act
from tests.suppliers.deliveries.shipping import LEFT, hall
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import accepted, answer

ACTIONS: list[tuple[str, Who, str, dict[str, Any]]] = [
    ("accept", Who.SUPPLIER, "", {}), ("reject", Who.SUPPLIER, "", {"reason_code": "late"}),
    ("cancel", Who.BUYER, "", {}), ("cancel", Who.BUYER, "remainder", {"remainder": True}),
    ("close", Who.BUYER, "", {}), ("submit", Who.BUYER, "", {}),
    ("confirm-changes", Who.BUYER, "accept", {"revision": 1, "decision": "accept"}),
    ("confirm-changes", Who.BUYER, "decline", {"revision": 1, "decision": "decline"}),
    ("confirm-changes", Who.BUYER, "withdraw", {"revision": 1, "decision": "withdraw"}),
    ("propose-changes", Who.BUYER, "", {"revision": 1, "reason": "Need", "lines": [{"line_no": 1, "quantity": 4}]}),
]  # fmt: skip
BETWEEN = {
    course.BY_SUPPLIER: [course.BY_SUPPLIER], course.BY_BUYER: [course.BY_BUYER], course.FOR_BUYERS: [course.FOR_BUYERS],
    course.FOR_SUPPLIERS: [course.BY_SUPPLIER, course.FOR_SUPPLIERS], course.FOR_SENDING: [course.FOR_SENDING],
}  # fmt: skip


def order_in(trade: Trade, place: Place) -> str:
    """Bring an order into a state: by its actions where there are some, else by the transitions of the model."""
    key: str = trade.draft((trade.masks, 5))["id"]
    if place not in (course.DRAFT, course.FOR_SENDING):
        assert act(trade, key, "submit").status_code == 200
    if place in (course.ACCEPTED, course.CLOSED):
        accepted(trade, key)
    ends = {
        course.CLOSED: lambda: act(trade, key, "close"), course.CANCELLED: lambda: act(trade, key, "cancel"),
        course.REJECTED: lambda: answer(trade, key, "reject", reason_code="late"),
    }  # fmt: skip
    if place in ends:
        assert ends[place]().status_code == 200
    for one in BETWEEN.get(place, []):
        with tenant_context(trade.buyer.id), transaction.atomic():
            row = PurchaseOrder.objects.get(tenant_id=trade.buyer.id, pk=key)
            row.become(one)
            row.save_version("status", "approval_for", "proposed_by", at=now())
            if row.approval_for:
                run([begin_call(row, {"approval_overdue_hours": 24}, now())])
            write_documents(
                system_actor(trade.buyer.id), trade.buyer.id, [(ORDERS_KIND, row.id)], [], told={}, at=now()
            )
    return key


def state(trade: Trade) -> tuple[Any, ...]:
    """Return what would differ had anything happened: orders, and the number of facts of both."""
    counts = []
    for tenant in (trade.buyer.tenant, trade.shelf.tenant):
        with tenant_context(tenant.id):
            counts.append(Event.objects.filter(tenant_id=tenant.id).count())
    return (trade.stored(), *counts)


@pytest.mark.parametrize("place", PLACES, ids=lambda one: "-".join(filter(None, one)))
def test_what_the_table_does_not_have_is_refused(trade: Trade, place: Place) -> None:
    trade.shelf.stock(trade.masks, 5)
    key = order_in(trade, place)
    before = state(trade)
    is_unknown = place in (course.DRAFT, course.FOR_SENDING)  # to the supplier
    tried = 0

    for action, who, choice, body in ACTIONS:
        step = step_of(place, action, who, choice)
        if step is not None:
            continue
        tried += 1
        found = (answer if who is Who.SUPPLIER else act)(trade, key, action, **body)
        if who is Who.SUPPLIER and is_unknown:
            refused(found, 404, "not_found")
            continue
        refusal = refused(found, 409, "invalid_transition")
        roles = (Who.SUPPLIER,) if who is Who.SUPPLIER else (Who.BUYER, Who.APPROVER)
        assert (refusal["from"], refusal["action"], refusal["allowed"]) == (
            course.shown(place, who), action, allowed(place, *roles),
        )  # fmt: skip

    assert tried > 0
    assert state(trade) == before


@pytest.mark.parametrize("place", PLACES, ids=lambda one: "-".join(filter(None, one)))
def test_only_drafts_are_edited_and_only_accepted_orders_are_shipped(trade: Trade, place: Place) -> None:
    trade.shelf.stock(trade.masks, 5)
    key = order_in(trade, place)
    path, line = f"{PATH}/{key}", trade.read(key)["lines"][0]["id"]
    before = state(trade)

    if place != course.DRAFT:
        edited = refused(trade.api.patch(path, json={"internal_note": "Late"}), 409, "invalid_transition")
        assert (edited["from"], edited["action"], edited["allowed"]) == (
            place.status, "update", allowed(place, Who.BUYER, Who.APPROVER),
        )  # fmt: skip
    if place != course.ACCEPTED:
        body = {"from_location_id": hall(trade), "lines": [{"order_line_id": line, "quantity": 1}]}
        for more in ({}, {"dispatched_at": LEFT}):
            found = answer(trade, key, "shipments", **body, **more)
            if place in (course.DRAFT, course.FOR_SENDING):
                refused(found, 404, "not_found")
                continue
            refusal = refused(found, 409, "invalid_transition")
            assert refusal["from"] == course.shown(place, Who.SUPPLIER)

    assert state(trade) == before
