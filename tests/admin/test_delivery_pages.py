"""The pages of deliveries: what staff see of both sides, and that another tenant's delivery is not among it."""

from typing import Any

import pytest

from tests.admin.people import act_in, signed_in
from tests.procurement.purchasing.orders import Trade, trade
from tests.suppliers.deliveries.shipping import DELIVERIES, placed, prepared, receiver, shipped
from tests.suppliers.inventory import shelf as shelves

PAGES = "/admin/suppliers"


@pytest.fixture(name="trade")
def _trade() -> Trade:
    return trade()


def text(browser: Any, address: str) -> str:
    answer = browser.get(f"{PAGES}/{address}")
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def test_a_delivery_is_shown_with_its_lines_and_what_was_reported(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))
    made = shipped(trade, order, 400, tracking_number="JD014")
    draft = prepared(trade, order, 600)
    answer = receiver(trade).post(
        f"{DELIVERIES}/{made['id']}/exceptions", json={"type": "damaged", "note": "Wet boxes"}
    )
    assert answer.status_code == 201, answer.content
    browser = signed_in("supply")

    act_in(browser, trade.buyer.tenant)
    assert made["delivery_number"] in text(browser, "delivery/")
    assert "JD014" in text(browser, f"delivery/{made['id']}/change/")
    assert trade.gloves["name"] in text(browser, f"deliveryline/?q={made['id']}")
    assert "Wet boxes" in text(browser, f"deliveryexception/?q={made['id']}")

    act_in(browser, trade.shelf.tenant)
    assert made["delivery_number"] in text(browser, "receiveddelivery/")
    assert "JD014" in text(browser, f"receiveddelivery/{made['id']}/change/")
    assert order["order_number"] in text(browser, f"shipmentdraft/{draft['id']}/change/")

    act_in(browser, shelves.buyer().tenant)
    for page in ("delivery", "deliveryline", "deliveryexception", "receiveddelivery", "shipmentdraft"):
        assert made["delivery_number"] not in text(browser, f"{page}/")
    assert browser.get(f"{PAGES}/delivery/{made['id']}/change/").status_code in (302, 404)
