"""The pages of receipts: what staff see of both sides, and that another tenant's receipt is not among it."""

from typing import Any

from tests.admin.people import act_in, signed_in
from tests.suppliers.deliveries.receiving.arrivals import dock
from tests.suppliers.inventory import shelf as shelves

PAGES = "/admin/suppliers"


def text(browser: Any, address: str) -> str:
    answer = browser.get(f"{PAGES}/{address}")
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def test_a_receipt_is_shown_with_its_lines_on_both_sides() -> None:
    made = dock()
    delivery = made.ship(made.order(), {"units": 100, "lot": "L1"})
    key = made.receive(delivery, {"accepted_quantity": 60, "rejected_quantity": 7, "rejection_reason": "damaged"})["id"]
    browser = signed_in("supply")

    act_in(browser, made.buyer.tenant)
    assert key in text(browser, "receipt/")
    assert made.delivery(delivery).number in text(browser, f"receipt/{key}/change/")
    assert "Damaged" in text(browser, f"receiptline/?q={key}")

    act_in(browser, made.shelf.tenant)
    assert key in text(browser, "receivedreceipt/")
    assert str(delivery) in text(browser, f"receivedreceipt/{key}/change/")

    act_in(browser, shelves.buyer().tenant)
    for page in ("receipt", "receiptline", "receivedreceipt"):
        assert key not in text(browser, f"{page}/")
