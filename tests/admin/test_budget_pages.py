"""The pages of budgets: what staff see of what is committed and spent, of the acting tenant alone, and that nothing changes it."""

from decimal import Decimal
from typing import Any

import pytest

from organizations.models import Tenant
from procurement.budgets.commitments import Hold, commit, spend
from tests.admin.people import act_in, signed_in
from tests.factories import Api, as_member, provision, suffix
from tests.procurement.budgets.budgets import amounts, made, put, step

BUDGETS = "/admin/procurement/budget/"
ENTRIES = "/admin/procurement/budgetentry/"


@pytest.fixture
def tenant() -> Tenant:
    return provision("provider", name=f"Ward {suffix()}")


@pytest.fixture
def hold(tenant: Tenant) -> Hold:
    """An order of 900 euros of 1,000, of which 250.50 are invoiced, and a budget in yen."""
    api: Api = as_member(tenant, ["approver"])
    put(api, "yen", currency="JPY", amount="123456", enforcement="warn", cost_centers=["1", "2"])
    found = made(api, tenant, "wards")
    step(commit, found, Decimal(900))
    step(spend, found, Decimal("250.50"))
    return found


def text(browser: Any, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def test_budgets_are_shown_with_what_is_used(tenant: Tenant, hold: Hold) -> None:
    browser = signed_in("supply")
    act_in(browser, tenant)

    page = text(browser, BUDGETS)
    one = text(browser, f"{BUDGETS}{hold.budget_id}/change/")

    for words in ("1,000.00 EUR", "649.50 EUR", "250.50 EUR", "100.00 EUR", "90 %, threshold reached", "123,456 JPY"):
        assert words in page
        assert words in one or "JPY" in words
    assert "any" in one
    assert f'{ENTRIES}?q=wards"' in one
    assert "wards" not in text(browser, f"{BUDGETS}?enforcement__exact=warn")
    assert "yen" not in text(browser, f"{BUDGETS}?q=wards").partition("result_list")[2]


def test_entries_show_the_documents_behind_a_budget(tenant: Tenant, hold: Hold) -> None:
    browser = signed_in("supply")
    act_in(browser, tenant)

    for query in ("", f"?q={hold.document_id}", "?q=wards", "?q=4711"):
        page = text(browser, f"{ENTRIES}{query}")
        for words in (str(hold.document_id), "649.50 EUR", "250.50 EUR", "4711"):
            assert words in page
    assert str(hold.document_id) not in text(browser, f"{ENTRIES}?q=4712").partition("result_list")[2]


def test_other_tenants_and_other_roles_see_nothing(tenant: Tenant, hold: Hold) -> None:
    browser, finance = signed_in("supply"), signed_in("finance")
    act_in(browser, provision("provider"))
    act_in(finance, tenant)

    assert "wards" not in text(browser, BUDGETS).partition("result_list")[2]
    assert browser.get(f"{BUDGETS}{hold.budget_id}/change/").status_code in (302, 404)
    assert finance.get(BUDGETS).status_code == 403


def test_pages_change_nothing(tenant: Tenant, hold: Hold) -> None:
    browser = signed_in("administrator")
    act_in(browser, tenant)
    before = amounts(tenant)

    for address in (f"{BUDGETS}add/", f"{BUDGETS}{hold.budget_id}/change/", f"{BUDGETS}{hold.budget_id}/delete/"):
        assert browser.post(address, {"committed": "0"}).status_code == 403

    assert amounts(tenant) == before
