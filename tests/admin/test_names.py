"""Log entries name people, keys, memberships and tenants, and a tenant's page leads to its lists."""

import html
import re

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from core.db import tenant_context
from fhir_api.access.models import AccessRecord
from organizations.models import Quota, SecurityLogEntry
from tests.admin.people import act_in, signed_in, staff, world
from tests.factories import Api
from tests.fhir_api.clients import patient, prescriber

ACCESS = "admin:fhir_api_accessrecord"


@pytest.fixture(scope="module")
def doctor():
    found = prescriber()
    made = found.made(patient())
    for _ in range(12):
        found.get(f"/Patient/{made['id']}")
    return found


@pytest.fixture(scope="module")
def office(doctor):
    browser = signed_in()
    act_in(browser, doctor.tenant)
    return browser


def shown(answer):
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def member_of(tenant):
    with tenant_context(tenant.id):
        row = AccessRecord.objects.filter(tenant_id=tenant.id).order_by("id").first()
    from organizations.models import Membership

    return row, Membership._base_manager.using("platform").select_related("user").get(pk=row.membership_id)


def test_access_list_and_page_say_who(office, doctor):
    row, member = member_of(doctor.tenant)
    for address in (reverse(f"{ACCESS}_changelist"), reverse(f"{ACCESS}_change", args=[row.pk])):
        page = shown(office.get(address))
        assert member.user.email in page
        assert f"{doctor.tenant}: {', '.join(member.roles)}" in page
        assert reverse("admin:organizations_user_change", args=[member.user_id]) in page
        assert reverse("admin:organizations_membership_change", args=[member.pk]) in page


def test_access_list_asks_for_no_row_alone(office):
    address = reverse(f"{ACCESS}_changelist")
    office.get(address)
    with CaptureQueriesContext(connections["default"]) as whole:
        page = office.get(address)
    assert page.content.decode().count('class="field-who') >= 10
    asked = [one["sql"] for one in whole.captured_queries]
    assert sum("organizations_user" in sql and "email" in sql for sql in asked) <= 3
    assert sum('FROM "organizations_membership"' in sql for sql in asked) <= 2


def test_security_log_names_staff_tenants_and_keys():
    mine, person = world("Named"), staff("security")
    Api(key=mine.secret, tenant=mine.tenant).get("/v1/tenants")
    browser = signed_in(person=person)
    act_in(browser, mine.tenant)
    page = shown(browser.get(reverse("admin:organizations_securitylogentry_changelist"), {"q": str(person.pk)}))
    assert person.email in page
    assert str(mine.tenant) in page
    row = SecurityLogEntry.objects.filter(credential=f"key:{mine.key.pk}").first()
    assert row is not None, "the key was refused"
    page = shown(browser.get(reverse("admin:organizations_securitylogentry_change", args=[row.pk])))
    assert f"API key {mine.key.name}" in page


@pytest.mark.parametrize("acts", [False, True])
def test_page_of_a_tenant_leads_to_its_lists(acts):
    mine, browser = world("Lists"), signed_in()
    if acts:
        act_in(browser, mine.tenant)
    page = shown(browser.get(reverse("admin:organizations_tenant_change", args=[mine.tenant.pk])))
    assert re.search(r"<span[^>]*bg-green[^>]*>\s*active\s*</span>", page)
    with tenant_context(mine.tenant.pk):
        used = dict(Quota.objects.filter(tenant_id=mine.tenant.pk).values_list("key", "used"))
    assert used["users"] == 2
    for title, key in (("Members", "users"), ("API keys", "api_keys"), ("Locations", "locations")):
        address, amount = re.search(rf'<a href="([^"]+)"[^>]*>{title}</a><span[^>]*>([\d,]+) of', page).groups()
        assert amount == str(used[key])
        answer = browser.get(address)
        assert answer.status_code == 200, address
        assert ("/acting-tenant/" in address) is (title == "Locations" and not acts)
    members = shown(browser.get(re.search(r'href="([^"]*organizations/membership/\?tenant[^"]+)"', page)[1]))
    assert members.count('class="field-member') + members.count("<th class=") >= 2
