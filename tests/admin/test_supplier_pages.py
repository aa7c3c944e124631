"""The qualification desk: what staff see of suppliers, who decides, and that every decision is kept with its reason."""

from datetime import date, timedelta
from typing import Any

import pytest

from core.db import tenant_context
from ledger.models import Event
from organizations.models import Tenant
from suppliers.company.models import SupplierLicense, SupplierProfile
from tests.admin.people import REASON, act_in, signed_in, staff
from tests.factories import as_member, provision, suffix
from tests.suppliers.company.profiles import full, license_body, patched, stored

DESK = "/admin/suppliers/supplierprofile/desk/"
PROFILES = "/admin/suppliers/supplierprofile/"
LICENSES = "/admin/suppliers/supplierlicense/"


@pytest.fixture
def tenant() -> Tenant:
    """A supplier that has handed everything in."""
    found = provision("supplier", qualified=False, name=f"Desk {suffix()}")
    soon, gone = date.today() + timedelta(days=20), date.today() - timedelta(days=20)
    licenses = [
        license_body(), license_body(number="WDA-2", valid_from=None, valid_to=str(soon)),
        license_body(number="WDA-3", valid_from=None, valid_to=str(gone)),
    ]  # fmt: skip
    patched(as_member(found, ["supplier_admin"]), **full(licenses=licenses))
    return found


def row_of(tenant: Tenant) -> SupplierProfile:
    found = stored(tenant)
    assert found is not None
    return found


def press(browser: Any, tenant: Tenant, button: str, reason: str = REASON) -> Any:
    return browser.post(f"{PROFILES}{row_of(tenant).pk}/do/{button}/", {"reason": reason})


def kept(tenant: Tenant) -> list[tuple[str, str]]:
    with tenant_context(tenant.id):
        rows = Event.objects.filter(tenant_id=tenant.id, type="staff_action.performed").order_by("id")
        return [(row.data["action"], row.data["reason"]) for row in rows]


def test_desk_shows_suppliers_of_all_tenants_with_words_for_every_colour(tenant: Tenant) -> None:
    empty = provision("supplier", qualified=False, name=f"Empty {suffix()}")
    browser = signed_in("supply")

    text = browser.get(f"{DESK}?q={tenant.name.lower()}").content.decode()
    other = browser.get(f"{DESK}?status=registered&q={empty.name}").content.decode()

    assert tenant.name in text
    assert empty.name not in text
    for words in ("identity", "bank account", "3 licences", "1 expired", "1 expiring", "registered"):
        assert words in text
    assert "nothing handed in" in other
    assert tenant.name not in browser.get(f"{DESK}?status=qualified&q={tenant.name}").content.decode()


@pytest.mark.parametrize("query", ["status=odd", "page=0", "page=x", "page=99999999999", f"q={'x' * 201}", "q=%00"])
def test_desk_refuses_filters_that_it_does_not_know(query: str) -> None:
    assert signed_in("supply").get(f"{DESK}?{query}").status_code == 400


def test_supply_staff_qualify_step_by_step(tenant: Tenant) -> None:
    browser = signed_in("supply")
    act_in(browser, tenant)
    page = f"{PROFILES}{row_of(tenant).pk}/change/"

    before = browser.get(page).content.decode()
    steps = ["review-identity", "review-bank-account", "start-review", "qualify", "suspend", "re-qualify", "disqualify"]
    answers = [press(browser, tenant, step).status_code for step in steps]

    assert "No</strong>: Bank account reviewed" in before
    for words in ("expiring", "expired", "valid", "to be verified"):
        assert words in before
    assert "DE89" not in before
    assert answers == [302] * len(steps)
    assert row_of(tenant).qualification_status == "disqualified"
    assert kept(tenant) == [(f"supplierprofile.{step}", REASON) for step in steps]
    assert "Yes</strong>: Bank account reviewed" in browser.get(page).content.decode()


def test_licence_is_verified(tenant: Tenant) -> None:
    browser = signed_in("supply")
    act_in(browser, tenant)
    with tenant_context(tenant.id):
        row = SupplierLicense.objects.get(tenant_id=tenant.id, number="WDA-2")
    version = row_of(tenant).version

    listed = browser.get(LICENSES).content.decode()
    answer = browser.post(f"{LICENSES}{row.pk}/do/verify/", {"reason": REASON})
    again = browser.post(f"{LICENSES}{row.pk}/do/verify/", {"reason": REASON})

    assert "expiring" in listed
    assert (answer.status_code, again.status_code) == (302, 200)
    assert "There is nothing to review." in again.content.decode()
    with tenant_context(tenant.id):
        row.refresh_from_db()
    assert row.verified_at is not None
    assert row_of(tenant).version == version + 1
    assert kept(tenant) == [("supplierlicense.verify", REASON)]


def test_decision_needs_a_reason_and_the_right_state(tenant: Tenant) -> None:
    browser = signed_in("supply")
    act_in(browser, tenant)

    silent = press(browser, tenant, "start-review", reason="")
    early = press(browser, tenant, "qualify")

    assert "This field is required." in silent.content.decode()
    assert early.status_code == 200
    assert row_of(tenant).qualification_status == "registered"
    assert kept(tenant) == []


def test_supplier_that_lacks_a_registration_is_not_qualified(tenant: Tenant) -> None:
    patched(as_member(tenant, ["supplier_admin"]), registrations=[])
    browser = signed_in("supply")
    act_in(browser, tenant)
    press(browser, tenant, "start-review")

    answer = press(browser, tenant, "qualify")

    assert "Still missing: registration." in answer.content.decode()
    assert row_of(tenant).qualification_status == "under_review"


@pytest.mark.parametrize("role", ["support", "finance", "security"])
def test_other_staff_decide_nothing(tenant: Tenant, role: str) -> None:
    browser = signed_in(person=staff(role))
    act_in(browser, tenant)

    assert press(browser, tenant, "start-review").status_code in (403, 404)
    assert browser.get(DESK).status_code == (403 if role == "finance" else 200)
    assert row_of(tenant).qualification_status == "registered"
