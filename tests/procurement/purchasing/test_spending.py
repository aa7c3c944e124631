"""What approved invoices spend of the budget of their order, whatever the order in which the facts are told."""

from typing import Any

import pytest

from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from procurement.budgets.models import Budget, BudgetEntry
from procurement.purchasing.spending import FOLLOWED, follow
from tests.procurement.budgets.budgets import put
from tests.suppliers.invoices import bills
from tests.suppliers.invoices.bills import Desk


@pytest.fixture
def desk() -> Desk:
    """Return a hospital that is invoiced."""
    return bills.desk()


def ordered(desk: Desk, **budget: Any) -> dict[str, Any]:
    """Order goods of 49.00 that a budget pays for, and receive 60 of 100."""
    answer = put(desk.clerk_of("approver"), "wards", **{"amount": "100"} | budget)
    assert answer.status_code == 201, answer.content
    trade = desk.dock.trade
    draft = trade.draft((desk.dock.vials, 10), budget={"code": "wards"})
    assert trade.api.post(f"/v1/purchase-orders/{draft['id']}/submit", json={}).status_code == 200
    assert desk.supplier.post(f"/v1/orders/{draft['id']}/accept", json={}).status_code == 200
    order = trade.read(draft["id"])
    desk.receive(desk.ship(order, 60), 60)
    return order


def relay(desk: Desk, *, times: int = 1, backwards: bool = False) -> None:
    """Handle the facts of both sides as the relay does."""
    for side in (desk.dock.buyer, desk.dock.shelf):
        with tenant_context(side.id):
            found = list(Event.objects.filter(tenant_id=side.id, type__in=FOLLOWED).order_by("occurred_at", "id"))
        for event in (found[::-1] if backwards else found) * times:
            follow(event)


def used(desk: Desk) -> tuple[str, str]:
    """Return what is committed and spent of the budget, which is what its one entry says."""
    assert [*breaches(desk.dock.buyer.id), *breaches(desk.dock.shelf.id)] == []
    with tenant_context(desk.dock.buyer.id):
        row = Budget.objects.get(tenant_id=desk.dock.buyer.id)
        entry = BudgetEntry.objects.get(tenant_id=desk.dock.buyer.id)
    assert (row.committed, row.spent) == (entry.committed, entry.spent)
    return f"{row.committed:.2f}", f"{row.spent:.2f}"


@pytest.mark.parametrize("backwards", [False, True])
def test_approval_spends_what_was_committed(desk: Desk, backwards: bool) -> None:
    order = ordered(desk)
    assert used(desk) == ("49.00", "0.00")
    made = desk.issue(order, 60)
    relay(desk)
    assert used(desk) == ("49.00", "0.00")  # it is not approved yet

    desk.did(made, "approve")
    relay(desk, times=2, backwards=backwards)

    assert used(desk) == ("19.60", "29.40")
    desk.credit(order, made, 10)
    relay(desk, times=2, backwards=backwards)
    assert used(desk) == ("19.60", "24.50")


def test_a_dispute_commits_again_what_was_spent(desk: Desk) -> None:
    order = ordered(desk)
    made = desk.issue(order, 60)
    desk.did(made, "approve")
    relay(desk)

    desk.did(made, "dispute", reason_code="damaged")
    relay(desk)
    assert used(desk) == ("49.00", "0.00")

    desk.did(made, "dispute", withdraw=True)
    desk.did(made, "approve")
    relay(desk, times=2)
    assert used(desk) == ("19.60", "29.40")


def test_invoices_that_are_approved_by_themselves_spend_too(desk: Desk) -> None:
    desk.policies(invoice_auto_approve_limit="1000")
    order = ordered(desk)
    desk.issue(order, 20)
    desk.issue(order, 40)

    relay(desk)

    assert used(desk) == ("19.60", "29.40")


@pytest.mark.parametrize(("enforcement", "wanted"), [("hard", ("0.00", "60.00")), ("warn", ("0.00", "108.00"))])
def test_what_a_hard_budget_does_not_have_is_not_counted(desk: Desk, enforcement: str, wanted: tuple[str, str]) -> None:
    order = ordered(desk, amount="60", enforcement=enforcement)
    made = desk.issue(order, desk.line(order, 1, 60, unit_price="18"))
    desk.did(made, "approve", override_reason="Agreed by telephone")

    relay(desk, times=2)

    assert used(desk) == wanted


def test_an_order_that_ends_gives_back_what_is_not_spent(desk: Desk) -> None:
    order = ordered(desk)
    desk.did(desk.issue(order, 60), "approve")
    relay(desk)

    answer = desk.dock.trade.api.post(f"/v1/purchase-orders/{order['id']}/close", json={})

    assert answer.status_code == 200, answer.content
    assert used(desk) == ("0.00", "29.40")


def test_an_order_without_a_budget_spends_nothing(desk: Desk) -> None:
    order = desk.arrived(60)
    desk.did(desk.issue(order, 60), "approve")

    relay(desk)

    with tenant_context(desk.dock.buyer.id):
        assert not BudgetEntry.objects.filter(tenant_id=desk.dock.buyer.id).exists()
