"""The approvers' rows of the table of an order's course, held against every state by HTTP: refused, and nothing changed."""

import pytest

from core.db import tenant_context
from suppliers.orders import course
from suppliers.orders.course import (
    ACCEPTED,
    BY_BUYER,
    BY_SUPPLIER,
    CANCELLED,
    CLOSED,
    DRAFT,
    FOR_BUYERS,
    FOR_SENDING,
    FOR_SUPPLIERS,
    PLACES,
    REJECTED,
    SENT,
    Place,
    Who,
)
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from tests.procurement.approvals.desk import Desk, decide, done
from tests.suppliers.inventory.shelf import refused

# How a submitted order comes to each state, by other actions than those of approvers.
PATHS: dict[Place, tuple[Place, ...]] = {
    SENT: (SENT,), BY_SUPPLIER: (SENT, BY_SUPPLIER), BY_BUYER: (SENT, BY_BUYER), ACCEPTED: (SENT, ACCEPTED),
    REJECTED: (SENT, REJECTED), CANCELLED: (CANCELLED,), CLOSED: (SENT, ACCEPTED, CLOSED),
    FOR_SUPPLIERS: (SENT, BY_SUPPLIER, FOR_SUPPLIERS), FOR_BUYERS: (SENT, FOR_BUYERS), FOR_SENDING: (), DRAFT: (),
}  # fmt: skip


def stored(desk: Desk, key: str) -> list[object]:
    with tenant_context(desk.trade.buyer.id):
        own = desk.trade.buyer.id
        return [
            list(PurchaseOrder.objects.filter(tenant_id=own, pk=key).values()),
            list(PurchaseOrderLine.objects.filter(tenant_id=own, order_id=key).order_by("line_no").values()),
        ]


def test_every_state_has_a_path() -> None:
    assert PATHS.keys() == set(PLACES)


# Where a change waits, it is decided in tests/suppliers/orders/changes: the row alone has none.
@pytest.mark.parametrize(
    "place",
    [one for one in PLACES if one not in (FOR_SUPPLIERS, FOR_BUYERS)],
    ids=lambda one: "-".join(filter(None, one)),
)
@pytest.mark.parametrize("action", ["approve", "reject"])
def test_a_decision_in_every_state(desk: Desk, place: Place, action: str) -> None:
    if place == DRAFT:
        key = desk.trade.draft((desk.trade.gloves, 11))["id"]
    else:
        key = desk.pending()["id"]
        desk.put_at(key, *PATHS[place])
    ann = desk.person()
    step = course.step_of(place, action, Who.APPROVER)
    if step is not None:
        assert done(decide(ann, key, action))["status"] in {one.status for one in step.targets}
        return
    before, told = stored(desk, key), (desk.told(), desk.heard())

    body = refused(decide(ann, key, action), 409, "invalid_transition")

    assert (body["from"], body["action"]) == (place.status, action)
    assert body["allowed"] == course.allowed(place, Who.BUYER, Who.APPROVER)
    assert (stored(desk, key), desk.rows()) == (before, [])
    assert (desk.told(), desk.heard()) == told
