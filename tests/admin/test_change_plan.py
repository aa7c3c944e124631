"""The page that changes a plan, and what forms say when they refuse."""

import re

import pytest
from django.urls import reverse

from core.db import tenant_context
from organizations.models import Quota, Tenant
from tests.admin.people import REASON, signed_in, world


@pytest.fixture(scope="module")
def office():
    return signed_in(), world("Plans").tenant


def page_of(tenant):
    return reverse("admin:organizations_tenant_button", args=[tenant.pk, "plan"])


def cells(page, name):
    row = re.search(rf"<tr[^>]*><th[^>]*>{name}</th>(.*?)</tr>", page, re.DOTALL)[1]
    return re.findall(r"<td[^>]*>(.*?)</td>", row)


def test_present_plan_is_chosen_and_stands_beside_the_others(office):
    browser, tenant = office
    page = browser.get(page_of(tenant)).content.decode()
    assert re.search(r'<option value="standard" selected', page)
    assert re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", page) == [
        "Limit", "Used", "Now: standard", "free", "standard", "enterprise", "sandbox",
    ]  # fmt: skip
    with tenant_context(tenant.pk):
        used = Quota.objects.get(tenant_id=tenant.pk, key="users").used
    assert cells(page, "users")[:5] == [str(used), "1,000", "10", "1,000", "unlimited"]
    assert cells(page, "bulk_export")[:5] == ["", "yes", "–", "yes", "yes"]


def test_refusals_say_what_is_asked(office):
    browser, tenant = office
    page = browser.post(page_of(tenant), {"plan": "gold", "reason": "no"}).content.decode()
    assert "Choose one of: free, standard, enterprise, sandbox." in page
    assert "at least 5 characters" in page
    assert Tenant.objects.using("platform").get(pk=tenant.pk).plan == "standard"


def test_plan_is_changed(office):
    browser, tenant = office
    assert browser.post(page_of(tenant), {"plan": "enterprise", "reason": REASON}).status_code == 302
    assert Tenant.objects.using("platform").get(pk=tenant.pk).plan == "enterprise"
    assert re.search(r'<option value="enterprise" selected', browser.get(page_of(tenant)).content.decode())


def test_form_that_refuses_a_currency_says_its_form(office):
    browser, _ = office
    answer = browser.post(reverse("admin:organizations_tenant_add"), {"currency": "euro"})
    assert "Three capital letters of ISO 4217, such as EUR." in answer.content.decode()
