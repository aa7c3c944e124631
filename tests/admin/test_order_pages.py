"""The pages of orders: what staff see and do of both sides, and that another tenant's order is not among it."""

import re
from typing import Any

import pytest

from core.db import tenant_context
from ledger.public import Event
from organizations.models import Membership
from suppliers.orders.models import ReceivedOrder
from tests.admin.people import act_in, signed_in
from tests.procurement.purchasing.orders import Trade, act, submitted, trade
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.orders.changes.proposals import done, items, propose, respond

ORDERS = "/admin/suppliers/purchaseorder/"
RECEIVED = "/admin/suppliers/receivedorder/"
REASON = "Asked for by telephone, ticket 4711"


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


def at(tenant: Any, role: str = "supply") -> Any:
    """Return a member of staff who acts in a tenant."""
    browser = signed_in(role)
    act_in(browser, tenant)
    return browser


def press(browser: Any, address: str, name: str, **more: Any) -> Any:
    return browser.post(f"{address}do/{name}/", {"reason": REASON} | more)


def offered(browser: Any, address: str) -> list[str]:
    """Return the buttons of a page."""
    return sorted(set(re.findall(r"/do/([a-z-]+)/", text(browser, f"{address}change/"))))


def statuses(trade: Trade) -> list[str]:
    return [status for status, *_ in trade.stored()]


def noted(tenant: Any) -> list[str]:
    """Return what staff did in a tenant."""
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id, type__startswith="staff_action.")
        return [one.data["action"] for one in found.order_by("occurred_at", "id")]


def test_staff_edit_submit_and_end_orders_for_the_buyer(trade: Trade) -> None:
    first, second = trade.draft(), trade.draft()
    browser, address = at(trade.buyer.tenant), f"{ORDERS}{first['id']}/"
    assert offered(browser, address) == ["cancel", "edit", "submit"]

    said = {
        "requested_delivery_date": "2030-01-31", "priority": "urgent", "substitution_policy": "ask",
        "backorder_policy": "refuse", "external_reference": "4711", "notes_to_supplier": "Ring twice", "internal_note": "",
    }  # fmt: skip
    assert press(browser, address, "edit", **said).status_code == 302
    found = trade.read(first["id"])
    assert {name: found[name] for name in said} == said | {"internal_note": None}
    assert found["revision"] == 2
    assert press(browser, address, "submit").status_code == 302
    assert offered(browser, address) == ["cancel"]
    assert press(browser, address, "edit", **said).status_code == 200  # the form again, with the refusal
    assert press(browser, f"{ORDERS}{second['id']}/", "cancel").status_code == 302

    assert statuses(trade) == ["sent", "cancelled"]
    assert offered(browser, f"{ORDERS}{second['id']}/") == []
    assert trade.read(second["id"])["timeline"][0]["reason"] == REASON
    wanted = ["purchaseorder.edit", "purchaseorder.submit", "purchaseorder.cancel"]
    assert (noted(trade.buyer.tenant), noted(trade.shelf.tenant)) == (wanted, [])


def test_staff_answer_orders_for_the_supplier(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    first, second = submitted(trade), submitted(trade)
    browser = at(trade.shelf.tenant)
    assert offered(browser, f"{RECEIVED}{first['id']}/") == ["accept", "reject"]

    assert press(browser, f"{RECEIVED}{first['id']}/", "accept").status_code == 302
    short = press(browser, f"{RECEIVED}{second['id']}/", "accept")
    assert (short.status_code, "Available: 0." in short.content.decode()) == (200, True)
    assert press(browser, f"{RECEIVED}{second['id']}/", "reject", reason_code="out_of_stock").status_code == 302

    assert statuses(trade) == ["accepted", "rejected"]
    assert offered(browser, f"{RECEIVED}{first['id']}/") == offered(browser, f"{RECEIVED}{second['id']}/") == []
    assert offered(at(trade.buyer.tenant), f"{ORDERS}{first['id']}/") == ["cancel", "cancel-rest", "close"]
    assert noted(trade.shelf.tenant) == ["receivedorder.accept", "receivedorder.reject"]


def test_staff_decide_about_changes(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 3_000)
    key = submitted(trade)["id"]
    buyer, supplier = at(trade.buyer.tenant), at(trade.shelf.tenant)
    own, received = f"{ORDERS}{key}/", f"{RECEIVED}{key}/"
    changed = {"lines": [{"line_no": 1, "quantity": 12}]}

    done(propose(trade, key, **changed))
    assert offered(supplier, received) == ["accept-change", "decline-change", "reject"]
    assert press(supplier, received, "decline-change").status_code == 302
    done(propose(trade, key, **changed))
    assert offered(buyer, own) == ["cancel", "withdraw-change"]
    assert press(buyer, own, "withdraw-change").status_code == 302
    done(propose(trade, key, **changed))
    assert press(supplier, received, "accept-change").status_code == 302
    other = submitted(trade)["id"]
    done(respond(trade, other, items(trade, other)[0], accepted_quantity=4))
    assert offered(supplier, f"{RECEIVED}{other}/") == ["reject"]
    assert press(buyer, f"{ORDERS}{other}/", "accept-change").status_code == 302

    assert statuses(trade) == ["accepted", "accepted"]
    assert [units for _, units, _ in trade.lines()] == [1_200, 1_000]


@pytest.mark.parametrize("role", ["support", "finance", "security"])
def test_other_staff_change_no_order(trade: Trade, role: str) -> None:
    order = submitted(trade)
    assert press(at(trade.buyer.tenant, role), f"{ORDERS}{order['id']}/", "cancel").status_code in (403, 404)
    assert statuses(trade) == ["sent"]
