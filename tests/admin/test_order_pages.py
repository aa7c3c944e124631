"""The pages of orders: what staff see of both sides, and that another tenant's order is not among it."""

from typing import Any

import pytest

from core.db import tenant_context
from organizations.models import Membership
from suppliers.orders.models import ReceivedOrder
from tests.admin.people import act_in, signed_in
from tests.procurement.purchasing.orders import Trade, act, submitted, trade
from tests.suppliers.inventory import shelf as shelves

ORDERS = "/admin/suppliers/purchaseorder/"
RECEIVED = "/admin/suppliers/receivedorder/"


@pytest.fixture(name="trade")
def _trade() -> Trade:
    return trade()


def text(browser: Any, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def test_an_order_is_shown_with_lines_timeline_and_copy(trade: Trade) -> None:
    order = submitted(trade, (trade.gloves, 10), (trade.masks, 3), internal_note="For the night shift")
    browser = signed_in("supply")
    act_in(browser, trade.buyer.tenant)

    page = text(browser, f"{ORDERS}{order['id']}/change/")

    assert order["po_number"] in text(browser, ORDERS)
    assert order["order_number"] in page
    assert f"{order['totals']['gross']} EUR" in page
    for what in ("purchase_order.created", "purchase_order.submitted", "purchase_order.sent"):
        assert page.count(f">{what}</td>") == 1
    assert f">{trade.gloves['name']}</td>" in page
    assert ">1000</td>" in page  # base units of ten boxes
    table = page.partition('aria-label="The copy beside the row"')[2].partition("</table>")[0]
    assert table.count(">yes</td>") == 6
    assert "<strong>no</strong>" not in table


def test_a_copy_that_differs_is_seen(trade: Trade) -> None:
    order = submitted(trade)
    with tenant_context(trade.shelf.id):
        ReceivedOrder.objects.filter(tenant_id=trade.shelf.id, pk=order["id"]).update(fulfilment_status="shipped")
    browser = signed_in("supply")
    act_in(browser, trade.buyer.tenant)

    page = text(browser, f"{ORDERS}{order['id']}/change/")

    assert page.partition('aria-label="The copy beside the row"')[2].count("<strong>no</strong>") == 1


def test_the_supplier_s_page_names_nobody_of_the_buyer(trade: Trade) -> None:
    order = submitted(trade)
    cancelled = act(trade, order["id"], "cancel", reason="Ordered twice")
    assert cancelled.status_code == 200, cancelled.content
    browser = signed_in("supply")
    act_in(browser, trade.shelf.tenant)

    page = text(browser, f"{RECEIVED}{order['id']}/change/")

    assert ">order.placed</td>" in page
    assert ">order.cancelled</td>" in page
    assert "purchase_order." not in page
    people = [one.user.email for one in Membership.objects.filter(tenant=trade.buyer.tenant).select_related("user")]
    assert people
    assert not [email for email in people if email in page]


def test_an_order_of_another_tenant_is_not_there(trade: Trade) -> None:
    order = submitted(trade)
    browser = signed_in("supply")
    act_in(browser, shelves.buyer().tenant)

    assert order["po_number"] not in text(browser, ORDERS).partition("result_list")[2]
    assert browser.get(f"{ORDERS}{order['id']}/change/").status_code == 302  # Django: no such row, back to the start
