"""Notifications in the back-office: alerts of one tenant, the open alerts of all, and never the text of a message."""

import itertools

import pytest
from django.test import Client

from organizations.models import Tenant
from tests.admin.people import act_in, signed_in
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.notifications.inbox import data, gone, message, raised, reserved, rows

NOTIFICATIONS = "/admin/suppliers/notification/"
QUEUE = f"{NOTIFICATIONS}queue/"


@pytest.fixture
def shelf() -> shelves.Shelf:
    return shelves.shelf()


def test_page_shows_alerts_and_no_text_of_a_message(shelf: shelves.Shelf) -> None:
    buyer = shelves.buyer()
    data(message(buyer.api, reserved(shelf, buyer), "Very secret words"), 201)
    alert = raised(shelf, title="Low stock: GLV-100", subject="s1")
    browser = signed_in("supply")
    act_in(browser, Tenant.objects.get(pk=shelf.id))
    listed = browser.get(NOTIFICATIONS).content.decode()
    assert "Low stock: GLV-100" in listed
    assert "Very secret words" not in listed
    (written,) = rows(shelf, kind="message")
    shown = browser.get(f"{NOTIFICATIONS}{written.id}/change/").content.decode()
    assert str(buyer.id) in shown
    assert "Very secret words" not in shown
    assert "Little is left." in browser.get(f"{NOTIFICATIONS}{alert.id}/change/").content.decode()
    assert b"Very secret words" not in browser.get(f"{NOTIFICATIONS}export/").content


def test_nothing_is_changed_by_a_form(shelf: shelves.Shelf) -> None:
    alert = raised(shelf)
    browser = signed_in("supply")
    act_in(browser, Tenant.objects.get(pk=shelf.id))
    before = rows(shelf)[0].version
    assert browser.post(f"{NOTIFICATIONS}{alert.id}/change/", {"title": "Mine"}).status_code == 403
    assert rows(shelf)[0].version == before


def queued(browser: Client, **narrowed: str) -> str:
    """Return all pages of the queue: other tests leave alerts, some of them of times to come."""
    pages = []
    for page in itertools.count(1):
        pages.append(browser.get(QUEUE, {**narrowed, "page": str(page)}).content.decode())
        if f"page={page + 1}" not in pages[-1]:
            return "".join(pages)
    raise AssertionError


def test_queue_counts_the_open_alerts_of_all_tenants(shelf: shelves.Shelf) -> None:
    other = shelves.shelf()
    raised(shelf, title=f"Here {shelf.tenant.name}")
    raised(other, "invoice_mismatched", title=f"There {other.tenant.name}")
    raised(other, subject="s2", title=f"Gone {other.tenant.name}")
    gone(other, subject="s2")
    browser = signed_in("supply")
    text = queued(browser)
    assert f"Here {shelf.tenant.name}" in text
    assert f"There {other.tenant.name}" in text
    assert f"Gone {other.tenant.name}" not in text
    narrowed = queued(browser, type="invoice_mismatched")
    assert f"There {other.tenant.name}" in narrowed
    assert f"Here {shelf.tenant.name}" not in narrowed
    assert "invoice_mismatched (" in narrowed


@pytest.mark.parametrize("query", ["type=nothing", "page=0", "page=x"])
def test_odd_query_of_the_queue_is_refused(query: str) -> None:
    assert signed_in("supply").get(f"{QUEUE}?{query}").status_code == 400


def test_queue_is_closed_to_whoever_does_not_see_the_area() -> None:
    assert signed_in("finance").get(QUEUE).status_code == 403
