"""The desk of deliveries: counters beside their derivation, and buttons that call the API's own actions."""

from datetime import timedelta
from typing import Any

import pytest

from core.clock import now
from core.db import tenant_context
from ledger.public import Event
from suppliers.deliveries.models import Delivery, DeliveryLine
from suppliers.inventory.models import Lot
from tests.admin.people import act_in, signed_in
from tests.suppliers.deliveries.receiving.arrivals import Dock, dock
from tests.suppliers.deliveries.receiving.test_set_apart import sent

PAGES = "/admin/suppliers"
REASON = "Asked for by telephone, ticket 4711"


@pytest.fixture(name="dock")
def _dock() -> Dock:
    return dock()


def at(tenant: Any, role: str = "supply") -> Any:
    """Return a member of staff who acts in a tenant."""
    browser = signed_in(role)
    act_in(browser, tenant)
    return browser


def page(browser: Any, address: str) -> str:
    answer = browser.get(f"{PAGES}/{address}/change/")
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def press(browser: Any, address: str, name: str) -> Any:
    return browser.post(f"{PAGES}/{address}/do/{name}/", {"reason": REASON})


def noted(tenant: Any) -> list[str]:
    """Return what staff did in a tenant."""
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id, type__startswith="staff_action.")
        return [one.data["action"] for one in found.order_by("occurred_at", "id")]


def test_counters_stand_beside_what_the_receipts_say(dock: Dock) -> None:
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    first = dock.receive(delivery, {"accepted_quantity": 31, "rejected_quantity": 7, "rejection_reason": "damaged"})
    dock.receive(delivery, {"accepted_quantity": 20, "short_quantity": 5})
    dock.receive(delivery, reverses=first["id"])
    browser, address = at(dock.buyer.tenant), f"delivery/{delivery}"

    text = page(browser, address)
    assert "20 + 0 + 5" in text
    assert "differs" not in text
    with tenant_context(dock.buyer.id):
        DeliveryLine.objects.filter(tenant_id=dock.buyer.id, delivery_id=delivery).update(accepted=21)
    assert "20 + 0 + 5 <strong>differs</strong>" in page(browser, address)


def test_staff_report_for_the_buyer_and_reverse_a_receipt(dock: Dock) -> None:
    _, delivery = sent(dock)
    made = dock.receive(delivery, {"accepted_quantity": 60})
    browser, address = at(dock.buyer.tenant), f"delivery/{delivery}"

    assert "do/suspect/" in page(browser, address)
    assert press(browser, address, "suspect").status_code == 302
    with tenant_context(dock.buyer.id):
        assert [one.status for one in Lot.objects.filter(tenant_id=dock.buyer.id)] == ["quarantined"]
    assert "do/reverse/" in page(browser, f"receipt/{made['id']}")
    assert press(browser, f"receipt/{made['id']}", "reverse").status_code == 302
    assert dock.counted(delivery) == [(0, 0, 0)]
    again = press(browser, f"receipt/{made['id']}", "reverse")
    assert again.status_code == 200  # the form again, with the refusal
    assert "cannot be reversed" in again.content.decode()

    for side in (dock.buyer, dock.shelf):
        assert [one.type for one in dock.facts(side)][-3:] == [
            "delivery.received", "delivery.exception_reported", "delivery.received",
        ]  # fmt: skip
    assert noted(dock.buyer.tenant) == ["delivery.suspect", "receipt.reverse"]
    assert noted(dock.shelf.tenant) == []


def test_what_never_came_is_lost_by_the_buyer_s_word_after_30_days(dock: Dock) -> None:
    _, delivery = sent(dock)
    with tenant_context(dock.buyer.id):
        Delivery.objects.filter(tenant_id=dock.buyer.id, pk=delivery).update(shipped_at=now() - timedelta(days=31))
    assert press(at(dock.buyer.tenant), f"delivery/{delivery}", "missing").status_code == 302
    assert (dock.delivery(delivery).status, dock.counted(delivery)) == ("lost", [(0, 0, 100)])
    assert "0 + 0 + 100" in page(at(dock.buyer.tenant), f"delivery/{delivery}")


@pytest.mark.parametrize(("name", "status"), [("delivered", "delivered"), ("lost", "lost")])
def test_staff_say_for_the_supplier_what_became_of_a_delivery(dock: Dock, name: str, status: str) -> None:
    _, delivery = sent(dock)
    browser, address = at(dock.shelf.tenant), f"receiveddelivery/{delivery}"

    assert f"do/{name}/" in page(browser, address)
    assert press(browser, address, name).status_code == 302

    assert (dock.delivery(delivery).status, dock.copy(delivery).status) == (status, status)
    assert [one.type for one in dock.facts(dock.buyer)][-1] == f"delivery.{status}"
    assert noted(dock.shelf.tenant) == [f"receiveddelivery.{name}"]
    assert f"do/{name}/" not in page(browser, address)
    refused = press(browser, address, name)
    assert refused.status_code == 200
    assert "does not allow" in refused.content.decode()
    dock.lines(delivery)


@pytest.mark.parametrize("role", ["support", "finance", "security"])
def test_other_staff_change_nothing(dock: Dock, role: str) -> None:
    _, delivery = sent(dock)
    browser = at(dock.buyer.tenant, role)
    assert press(browser, f"delivery/{delivery}", "suspect").status_code in (403, 404)
    assert (dock.delivery(delivery).status, len(dock.facts(dock.buyer))) == ("in_transit", 1)
