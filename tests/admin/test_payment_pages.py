"""The pages of payments: what staff see of both sides, the queue of what is to be confirmed, and buttons that take the API's steps."""

import re
from typing import Any

import pytest

from core.db import tenant_context
from ledger.public import Event
from tests.admin.people import REASON, act_in, signed_in
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.payments.tills import Till, read
from tests.suppliers.payments.tills import till as fresh

PAGES = "/admin/suppliers"
QUEUES = f"{PAGES}/exceptions/"


@pytest.fixture
def till() -> Till:
    """Return a buyer that pays a supplier."""
    return fresh()


def text(browser: Any, address: str) -> str:
    answer = browser.get(address if address.startswith("/") else f"{PAGES}/{address}")
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def waiting(browser: Any) -> int:
    """Return how many payments wait in the queue."""
    found = re.search(
        r'href="[^"]*queue=payment_to_confirm"[^>]*>[^<]*</a></th>\s*<td class="py-2">(\d+)</td>', text(browser, QUEUES)
    )
    assert found is not None
    return int(found[1])


def press(browser: Any, key: str, button: str, **form: str) -> int:
    answer = browser.post(f"{PAGES}/payment/{key}/do/{button}/", {"reason": REASON} | form)
    return int(answer.status_code)


def test_a_payment_is_shown_on_both_sides_and_nowhere_else(till: Till) -> None:
    source, paid = till.invoice("50"), till.invoice("20")
    till.paid((source, "50"))
    till.credit(source, "20")
    offset = till.pay((paid, "20"), sources=[(source, "20")])
    made = till.pay((till.invoice("10"), "10"), bank_account="DE89370400440532013000")
    browser = signed_in("finance")

    act_in(browser, till.buyer.tenant)
    assert made["payment_number"] in text(browser, "payment/")
    shown = text(browser, f"payment/{made['id']}/change/")
    assert "DE89370400440532013000" in shown
    assert "10.00 EUR" in shown
    number = offset["allocations"][0]["invoice_number"]
    assert number in text(browser, f"paymentallocation/?q={offset['id']}")
    assert offset["credit_sources"][0]["invoice_number"] in text(browser, f"creditsource/?q={offset['id']}")

    act_in(browser, till.shelf.tenant)
    assert made["payment_number"] in text(browser, "receivedpayment/")
    assert "DE89370400440532013000" not in text(browser, f"receivedpayment/{made['id']}/change/")

    act_in(browser, shelves.buyer().tenant)
    for page in ("payment", "paymentallocation", "creditsource", "receivedpayment"):
        assert number not in text(browser, f"{page}/")
    assert browser.get(f"{PAGES}/payment/{made['id']}/change/").status_code in (302, 404)


def test_the_queue_holds_what_is_to_be_confirmed(till: Till) -> None:
    browser = signed_in("finance")
    before = waiting(browser)
    one, two = (till.pay((till.invoice("10"), "10")) for _ in range(2))
    till.settled(two["id"], "processing")
    assert waiting(browser) >= before + 2
    page = text(browser, f"{QUEUES}?queue=payment_to_confirm")
    if before < 90:  # the queue shows the oldest first, a page at a time
        assert one["payment_number"] + ", pending" in page
        assert f"/admin/suppliers/payment/{one['id']}/change/".replace("/", "%2F") in page
    till.settled(one["id"], "cancel")
    till.settled(two["id"], "succeeded")
    assert "payment_to_confirm" in text(signed_in("supply"), QUEUES)
    assert signed_in("security").get(QUEUES).status_code == 200


def test_buttons_take_the_steps_of_the_api(till: Till) -> None:
    key = till.invoice("10")
    made = till.pay((key, "10"))["id"]
    browser = signed_in("finance")
    act_in(browser, till.buyer.tenant)

    assert press(browser, made, "processing") == 302
    assert press(browser, made, "succeeded", value_date="2026-02-03", provider_reference="BOOK-1") == 302
    found = read(till.payer, made)
    assert (found["status"], found["value_date"], found["provider_reference"]) == ("succeeded", "2026-02-03", "BOOK-1")
    assert till.balance(key) == ("paid", "0", "10", "0")
    assert press(browser, made, "reversed", code="AC04") == 302
    assert read(till.shelf.api, made)["failure"] == {"code": "AC04", "message": None}
    assert till.balance(key) == ("approved", "0", "0", "10")
    other = till.pay((key, "10"))["id"]
    assert press(browser, other, "cancel") == 302
    failing = till.pay((key, "10"))["id"]
    assert press(browser, failing, "failed", code="AM04") == 302
    assert till.stored() == [("reversed", 4), ("cancelled", 2), ("failed", 2)]
    with tenant_context(till.buyer.id):
        facts = Event.objects.filter(tenant_id=till.buyer.id, type__startswith="staff_action.")
        assert facts.count() == 5


def test_buttons_are_there_where_the_state_allows_them_and_for_finance(till: Till) -> None:
    made = till.pay((till.invoice("10"), "10"))["id"]
    address = f"{PAGES}/payment/{made}/change/"
    for role, buttons in (("finance", 4), ("supply", 0), ("support", 0)):
        browser = signed_in(role)
        act_in(browser, till.buyer.tenant)
        assert len({*re.findall(rf"/payment/{made}/do/(\w+)/", text(browser, address))}) == buttons
    assert press(browser, made, "succeeded") == 403
    browser = signed_in("finance")
    act_in(browser, till.buyer.tenant)
    assert press(browser, made, "reversed", code="AC04") != 500
    assert till.stored() == [("pending", 1)]
