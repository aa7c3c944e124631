"""The button that merges a managed supplier: who may press it, what it shows before, and what it leaves behind."""

import re
from typing import Any

import pytest

from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from tests.admin.people import act_in, signed_in
from tests.suppliers.invoices.bills import desk as fresh_desk
from tests.suppliers.merging.village import Village, village
from tests.suppliers.orders.proof.parties import kept

PAGES = "/admin/suppliers/managedsupplier"
REASON = "The shop has joined the platform, ticket 4711"


@pytest.fixture(name="shop")
def _shop() -> Village:
    made = village(fresh_desk())
    made.made["order"] = made.order()
    made.made["receipt"] = made.receive(made.made["order"], 4)
    return made


def at(shop: Village, role: str = "supply") -> Any:
    """Return a member of staff who acts in the buyer's tenant."""
    browser = signed_in(role)
    act_in(browser, shop.buyer.tenant)
    return browser


def key(shop: Village) -> str:
    with tenant_context(shop.buyer.id):
        return str(shop.row().pk)


def press(browser: Any, shop: Village, **form: Any) -> Any:
    given = {"reason": REASON, "into": shop.real.tenant.slug} | form
    return browser.post(f"{PAGES}/{key(shop)}/do/merge/", given)


def seen(answer: Any) -> str:
    """Return what the form keeps of the preview."""
    found = re.search(r'name="seen" value="([0-9a-f]{64})"', answer.content.decode())
    assert found
    return found[1]


def noted(tenant_id: Any) -> list[tuple[str, str]]:
    with tenant_context(tenant_id):
        rows = Event.objects.filter(tenant_id=tenant_id, type="staff_action.performed").order_by("occurred_at", "id")
        return [(one.data["action"], one.data["reason"]) for one in rows]


def test_staff_see_what_a_merge_does_and_confirm_it(shop: Village) -> None:
    browser = at(shop)
    assert "do/merge/" in browser.get(f"{PAGES}/{key(shop)}/change/").content.decode()

    first = press(browser, shop)

    text = first.content.decode()
    assert first.status_code == 200
    assert "Nothing is merged yet." in text
    assert '<td class="py-2 pr-3">orders</td><td class="py-2">1</td>' in text
    assert "no registration in common" in text
    assert Tenant.objects.get(pk=shop.id).merged_into_id is None
    assert noted(shop.buyer.id) == []

    second = press(browser, shop, seen=seen(first))

    assert second.status_code == 302
    assert Tenant.objects.get(pk=shop.id).merged_into_id == shop.real.id
    moved = "orders: 1, deliveries: 1, receipts: 1"
    said = f"Merged {shop.id} of the buyer {shop.buyer.id} into {shop.real.id}: {moved}."
    assert sorted(noted(shop.buyer.id)) == [("managedsupplier.merge", REASON), ("managedsupplier.merged", said)]
    assert noted(shop.real.id) == [("managedsupplier.merged", said)]
    page = browser.get(f"{PAGES}/{key(shop)}/change/").content.decode()
    assert "do/merge/" not in page
    assert str(shop.real.id) in page
    shop.sound()


def test_what_has_changed_since_is_shown_again(shop: Village) -> None:
    browser = at(shop)
    first = press(browser, shop)
    shop.order()

    second = press(browser, shop, seen=seen(first))

    assert second.status_code == 200
    assert seen(second) != seen(first)
    assert Tenant.objects.get(pk=shop.id).merged_into_id is None
    assert press(browser, shop, seen=seen(second)).status_code == 302


def test_conflicts_are_listed_and_nothing_changes(shop: Village) -> None:
    browser = at(shop)
    path = f"/v1/suppliers/{shop.real.id}/relationship"
    assert shop.buyer.api.put(path, json={"status": "blocked"}).status_code == 200
    Tenant.objects.filter(pk=shop.id).update(legal_hold=True)
    before = kept(shop.buyer), kept(shop.real)

    answer = press(browser, shop, seen="0" * 64)

    assert answer.status_code == 200
    text = answer.content.decode()
    assert "under a legal hold" in text
    assert "blocks orders, invoices, payments" in text
    assert "There are 2 reasons against it" in text
    assert (kept(shop.buyer), kept(shop.real)) == before
    unknown = press(browser, shop, into="nobody").content.decode()
    assert "There is no tenant with this id or slug." in unknown
    assert "merge-preview" not in unknown


@pytest.mark.parametrize("role", ["support", "security"])
def test_other_staff_do_not_merge(shop: Village, role: str) -> None:
    browser = at(shop, role)
    assert "do/merge/" not in browser.get(f"{PAGES}/{key(shop)}/change/").content.decode()
    assert press(browser, shop).status_code == 403
    assert Tenant.objects.get(pk=shop.id).merged_into_id is None


def test_finance_does_not_see_it(shop: Village) -> None:
    assert press(at(shop, "finance"), shop).status_code == 403


def test_staff_of_another_tenant_do_not_find_it(shop: Village) -> None:
    other = village(fresh_desk())
    browser = at(other)
    answer = press(browser, shop)
    assert answer.status_code in (302, 404)
    assert Tenant.objects.get(pk=shop.id).merged_into_id is None
