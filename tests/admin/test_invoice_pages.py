"""The pages of invoices and returns for staff: both sides, the queues of what waits, and buttons that take the API's steps."""

import re
from typing import Any

import pytest

from core.db import tenant_context
from ledger.public import Event
from tests.admin.people import REASON, act_in, signed_in
from tests.suppliers.invoices import bills
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.returns.backs import Back
from tests.suppliers.returns.backs import back as fresh

PAGES = "/admin/suppliers"
QUEUES = f"{PAGES}/exceptions/"


@pytest.fixture
def desk() -> Desk:
    """Return a hospital that is invoiced."""
    return bills.desk()


@pytest.fixture
def back() -> Back:
    """Return a hospital that sends goods back."""
    return fresh()


def text(browser: Any, address: str) -> str:
    answer = browser.get(address if address.startswith("/") else f"{PAGES}/{address}")
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def waiting(browser: Any, queue: str) -> int:
    """Return how many rows wait in a queue."""
    pattern = rf'href="[^"]*queue={queue}"[^>]*>[^<]*</a></th>\s*<td class="py-2">(\d+)</td>'
    found = re.search(pattern, text(browser, QUEUES))
    assert found is not None
    return int(found[1])


def press(browser: Any, kind: str, key: str, button: str, **form: str) -> int:
    answer = browser.post(f"{PAGES}/{kind}/{key}/do/{button}/", {"reason": REASON} | form)
    return int(answer.status_code)


def buttons(browser: Any, kind: str, key: str) -> set[str]:
    """Return the buttons that a page of a row shows."""
    return {*re.findall(rf"/{kind}/{key}/do/(\w+)/", text(browser, f"{kind}/{key}/change/"))}


def staff_facts(tenant: Any) -> int:
    """Return how many acts of staff a tenant was told of."""
    with tenant_context(tenant.id):
        return Event.objects.filter(tenant_id=tenant.id, type__startswith="staff_action.").count()


def test_an_invoice_is_shown_on_both_sides_and_nowhere_else(desk: Desk) -> None:
    made = desk.issue(desk.arrived(60), 60)
    browser = signed_in("finance")
    act_in(browser, desk.dock.buyer.tenant)
    assert made["invoice_number"] in text(browser, "invoice/")
    assert made["lines"][0]["name"] in text(browser, f"invoiceline/?q={made['id']}")
    act_in(browser, desk.dock.shelf.tenant)
    assert made["invoice_number"] in text(browser, "receivedinvoice/")
    act_in(browser, bills.desk().dock.buyer.tenant)
    for page in ("invoice", "receivedinvoice", "invoiceline"):
        assert made["id"] not in text(browser, f"{page}/")
    assert browser.get(f"{PAGES}/invoice/{made['id']}/change/").status_code in (302, 404)


def test_the_queues_hold_what_does_not_match_and_what_is_disputed(desk: Desk) -> None:
    browser = signed_in("finance")
    before = {name: waiting(browser, name) for name in ("match_exception", "dispute")}
    order = desk.arrived(60)
    one, two = (desk.issue(order, desk.line(order, 1, 30, unit_price="9")) for _ in range(2))
    desk.did(two, "dispute", reason_code="price")

    for name, made, word in (("match_exception", one, f"order {order['po_number']}"), ("dispute", two, "price")):
        assert waiting(browser, name) >= before[name] + 1
        page = text(browser, f"{QUEUES}?queue={name}")
        if before[name] < 90:  # the queue shows the oldest first, a page at a time
            assert f"{made['invoice_number']}, {word}" in page
            assert f"/admin/suppliers/invoice/{made['id']}/change/".replace("/", "%2F") in page


def test_buttons_take_the_steps_of_the_api(desk: Desk) -> None:
    order = desk.arrived(60)
    one, two, three = (desk.issue(order, desk.line(order, 1, 20, unit_price=price)) for price in ("9", "4.90", "4.90"))
    browser = signed_in("finance")
    act_in(browser, desk.dock.buyer.tenant)
    assert buttons(browser, "invoice", one["id"]) == {"match", "approve", "dispute", "reject"}

    assert press(browser, "invoice", one["id"], "match") == 302
    assert press(browser, "invoice", one["id"], "dispute", reason_code="price") == 302
    assert desk.read(one)["dispute"]["reason_code"] == "price"
    assert buttons(browser, "invoice", one["id"]) == {"withdraw", "reject"}
    assert press(browser, "invoice", one["id"], "withdraw") == 302
    assert press(browser, "invoice", one["id"], "approve", reason="Agreed with the ward") == 302
    found = desk.read(one)
    assert (found["status"], found["override_reason"]) == ("approved", "Agreed with the ward")
    assert "Agreed with the ward" not in str(desk.read(one, api=desk.supplier))
    assert press(browser, "invoice", two["id"], "approve") == 302
    assert (desk.read(two)["status"], desk.read(two)["override_reason"]) == ("approved", None)
    act_in(browser, desk.dock.shelf.tenant)
    assert buttons(browser, "receivedinvoice", three["id"]) == {"cancel"}
    assert press(browser, "receivedinvoice", three["id"], "cancel") == 302
    assert desk.read(three)["reason"] == REASON
    four = desk.issue(order, 20)
    act_in(browser, desk.dock.buyer.tenant)
    assert press(browser, "invoice", four["id"], "reject") == 302
    assert [status for _, status in desk.stored()] == ["approved", "approved", "cancelled", "rejected"]
    assert (staff_facts(desk.dock.buyer), staff_facts(desk.dock.shelf)) == (6, 1)


def test_buttons_are_there_where_the_state_allows_them_and_for_finance(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, 60)
    note = desk.credit(order, made, 10)
    for role, wanted in (("finance", 4), ("supply", 0), ("support", 0)):
        browser = signed_in(role)
        act_in(browser, desk.dock.buyer.tenant)
        assert len(buttons(browser, "invoice", made["id"])) == wanted
        assert buttons(browser, "invoice", note["id"]) == set()
    assert press(browser, "invoice", made["id"], "approve") == 403
    browser = signed_in("finance")
    act_in(browser, desk.dock.buyer.tenant)
    assert press(browser, "invoice", made["id"], "withdraw") != 500
    assert desk.read(made)["status"] == "matched"


def test_returns_wait_for_their_inspection_in_a_queue_of_finance(back: Back) -> None:
    browser = signed_in("finance")
    before = waiting(browser, "return_to_inspect")
    one = back.brought("received")

    assert waiting(browser, "return_to_inspect") >= before + 1
    page = text(browser, f"{QUEUES}?queue=return_to_inspect")
    if before < 90:
        assert f"/admin/suppliers/receivedreturn/{one['id']}/change/".replace("/", "%2F") in page
    act_in(browser, back.dock.shelf.tenant)
    assert one["return_number"] in text(browser, f"receivedreturn/{one['id']}/change/")


@pytest.mark.parametrize("role", ["finance", "supply"])
def test_buttons_bring_a_return_to_its_end(back: Back, role: str) -> None:
    one = back.request(20)["id"]
    browser = signed_in(role)
    act_in(browser, back.dock.shelf.tenant)
    assert buttons(browser, "receivedreturn", one) == {"authorize", "decline"}
    assert press(browser, "receivedreturn", one, "authorize") == 302
    act_in(browser, back.dock.buyer.tenant)
    assert buttons(browser, "return", one) == {"ship", "cancel"}
    assert press(browser, "return", one, "ship") == 302
    act_in(browser, back.dock.shelf.tenant)
    assert buttons(browser, "receivedreturn", one) == {"receive"}
    assert press(browser, "receivedreturn", one, "receive", location_id=str(back.apart)) == 302
    assert buttons(browser, "receivedreturn", one) == {"inspect"}
    assert press(browser, "receivedreturn", one, "inspect") == 302
    assert back.stored(one)[0].status == "completed"
    assert back.kept() == (80, 20)
    assert buttons(browser, "receivedreturn", one) == set()


def test_returns_are_declined_and_withdrawn_by_buttons(back: Back) -> None:
    first, second = back.request(10)["id"], back.request(10)["id"]
    browser = signed_in("finance")
    act_in(browser, back.dock.shelf.tenant)
    assert press(browser, "receivedreturn", first, "decline") == 302
    act_in(browser, back.dock.buyer.tenant)
    assert press(browser, "return", second, "cancel") == 302
    assert [back.stored(key)[0].status for key in (first, second)] == ["declined", "cancelled"]
    assert back.stored(first)[0].decline_reason == REASON
    assert back.counted() == (0, 0)
    support = signed_in("support")
    act_in(support, back.dock.buyer.tenant)
    assert press(support, "return", back.request(5)["id"], "cancel") == 403
