"""Changes that raise the total of an order above a step of the approvals: both kinds, approved and rejected."""

from decimal import Decimal

import pytest

from bench.statements import recording
from core.ids import uuid7
from tests.procurement.approvals import desk as desks
from tests.procurement.approvals.desk import Desk, decide
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, approver
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.orders.answers import counters, seen
from tests.suppliers.orders.changes.proposals import (
    changes,
    check_limits,
    confirm,
    counter,
    done,
    items,
    propose,
    sent,
)


@pytest.fixture
def desk() -> Desk:
    """Return a buyer whose orders above 49 need one approval."""
    return desks.desk()


def held(desk: Desk) -> Decimal:
    """Return what is committed of the budget."""
    found: Decimal = amounts(desk.trade.buyer.tenant)["wards"][0]
    return found


def ordered(desk: Desk) -> str:
    """Send an order of 49, which needs no approval yet."""
    put_budget(approver(desk.trade), "wards", amount="1000")
    desk.trade.shelf.stock(desk.trade.gloves, 5_000)
    key: str = sent(desk.trade, (desk.trade.gloves, 10), budget={"code": "wards"})["id"]
    return key


def substituted(desk: Desk, key: str) -> None:
    """Let the supplier propose something dearer in the place of the order's only line."""
    trade = desk.trade
    (first,) = items(trade, key)
    other = {"product_id": trade.masks["id"], "quantity": 10, "unit_price": "6.00"}
    done(counter(trade, key, {"item_id": first, "substitute": other}))
    trade.shelf.stock(trade.masks, 100)


@pytest.mark.parametrize("is_approved", [True, False])
def test_the_buyer_s_change_waits_for_its_approver(desk: Desk, is_approved: bool) -> None:
    trade, key, ann = desk.trade, ordered(desk), desk.person()

    data = done(propose(trade, key, lines=[{"line_no": 1, "quantity": 20}]))

    assert (data["status"], data["approval_for"], data["revision"]) == ("pending_approval", "buyer_change", 2)
    assert data["change"]["lines"][0]["proposed"]["ordered"] == 2000
    assert held(desk) == 98
    copy = seen(trade, key)
    assert (copy["status"], copy["awaiting"], copy["change"]) == ("change_proposed", "buyer_approval", None)
    assert "order.change_proposed" not in desk.heard()
    check_limits(trade, key)

    action = "approve" if is_approved else "reject"
    data = done(decide(ann, key, action, revision=2))

    copy = seen(trade, key)
    if is_approved:
        assert (data["status"], data["proposed_by"]) == ("change_proposed", "buyer")
        assert copy["change"] == data["change"]
        assert desk.told()[-2:] == ["purchase_order.approved", "purchase_order.change_proposed"]
        assert desk.heard()[-1] == "order.change_proposed"
    else:
        assert (data["status"], data["change"], copy["status"], copy["change"]) == ("sent", None, "sent", None)
        assert changes(trade) == [("buyer", "declined")]
        assert held(desk) == 49
    check_limits(trade, key)


@pytest.mark.parametrize("is_approved", [True, False])
def test_the_supplier_s_dearer_change_waits_for_an_approver(desk: Desk, is_approved: bool) -> None:
    trade, key, ann = desk.trade, ordered(desk), desk.person()
    substituted(desk, key)

    data = done(confirm(trade, key, "accept"))

    assert (data["status"], data["approval_for"]) == ("pending_approval", "supplier_change")
    assert held(desk) == 60
    assert seen(trade, key)["change"]["proposed_by"] == "supplier"
    check_limits(trade, key)

    data = done(decide(ann, key, "approve" if is_approved else "reject", revision=2))

    check_limits(trade, key)
    if is_approved:
        assert (data["status"], data["lines"][1]["substitutes_line_id"]) == ("accepted", data["lines"][0]["id"])
        assert counters(trade) == [(1000, 0, 0, 1000), (10, 10, 0, 0)]
        assert held(desk) == 60
        assert desk.heard()[-1] == "order.accepted"
        return
    assert (data["status"], data["proposed_by"], data["change"]["revision"]) == ("change_proposed", "supplier", 2)
    assert held(desk) == 49
    again = done(confirm(trade, key, "accept"))
    assert (again["approval_for"], again["revision"]) == ("supplier_change", 3)
    assert refused(decide(ann, key, revision=2), 409, "revision_changed")
    assert done(decide(ann, key, revision=3))["status"] == "accepted"
    check_limits(trade, key)


def test_a_pending_change_can_be_cancelled_with_its_order(desk: Desk) -> None:
    trade, key = desk.trade, ordered(desk)
    done(propose(trade, key, lines=[{"line_no": 1, "quantity": 20}]))

    done(trade.api.post(f"/v1/purchase-orders/{key}/cancel", json={}))

    assert (held(desk), changes(trade), desk.steps()) == (0, [("buyer", "declined")], [])
    check_limits(trade, key)


@pytest.mark.parametrize("is_approved", [None, True, False])
def test_a_managed_supplier_s_order_changes_without_an_answer(desk: Desk, is_approved: bool | None) -> None:
    trade = desk.trade
    put_budget(approver(trade), "wards", amount="1000")
    made = trade.api.post("/v1/suppliers", json={"legal_name": f"Bakery {uuid7()}", "country": "DE"})
    line = {"description": "Bread rolls", "quantity": 40, "unit_price": "0.50"}
    key = sent(trade, line, supplier_id=made.json()["data"]["id"], budget={"code": "wards"})["id"]
    quantity = 60 if is_approved is None else 100
    more = {"description": "Cake", "quantity": 2, "unit_price": "5.00"}

    of_a_product = [{"product_id": trade.gloves["id"], "quantity": 1}]
    refused(propose(trade, key, add_lines=of_a_product), 400, "validation_error")
    data = done(propose(trade, key, lines=[{"line_no": 1, "quantity": quantity}], add_lines=[more]))

    if is_approved is not None:
        assert (data["status"], data["approval_for"]) == ("pending_approval", "buyer_change")
        data = done(decide(desk.person(), key, "approve" if is_approved else "reject", revision=2))
    assert (data["status"], data["change"], data["proposed_by"]) == ("accepted", None, None)
    if is_approved is False:
        assert counters(trade) == [(40, 40, 0, 0)]
        assert held(desk) == 20
    else:
        assert counters(trade) == [(quantity, quantity, 0, 0), (2, 2, 0, 0)]
        assert held(desk) == {60: 40, 100: 60}[quantity]
        assert trade.facts()[-1][0] == "purchase_order.accepted"
    assert desk.heard() == []
    check_limits(trade, key)


def test_a_change_at_a_managed_supplier_locks_limits_once_and_before_the_order(desk: Desk) -> None:
    trade = desk.trade
    put_budget(approver(trade), "wards", amount="1000")
    made = trade.api.post("/v1/suppliers", json={"legal_name": f"Bakery {uuid7()}", "country": "DE"})
    line = {"description": "Bread rolls", "quantity": 80, "unit_price": "0.50"}
    key = sent(trade, line, supplier_id=made.json()["data"]["id"], budget={"code": "wards"})["id"]
    revision = trade.read(key)["revision"]

    for quantity in (90, 60):
        body = {"revision": revision, "reason": "x", "lines": [{"line_no": 1, "quantity": quantity}]}
        revision += 1
        with recording() as found:
            done(trade.api.post(f"{PATH}/{key}/propose-changes", json=body))
        ran = [call.statement.sql.decode() for trip in found.trips for call in trip.calls]
        order = [
            at for at, sql in enumerate(ran) if 'FROM "suppliers_purchaseorder" WHERE' in sql and "FOR UPDATE" in sql
        ]
        budget = [at for at, sql in enumerate(ran) if "UPDATE procurement_budget " in sql]
        assert (len(order), len(budget)) == (1, 1), found.texts()
        assert budget < order
        assert held(desk) == Decimal(quantity) / 2
    check_limits(trade, key)
