"""Appointments in the admin: for the acting tenant, for looking only, and every look is recorded with its reason."""

from types import SimpleNamespace

import pytest

from core.db import tenant_context
from fhir_api.access.models import AccessRecord
from tests.admin.people import REASON, act_in, signed_in
from tests.appointments import practice
from tests.appointments.practice import clinic, monday

BASE = "/admin/appointments/appointment/"


@pytest.fixture(scope="module")
def seen():
    house = clinic()
    made = house.book(monday(9), reason="Secret knee")
    other = house.book(monday(10), patient_id=practice.patient(house.tenant))
    assert house.put_schedule([{"days": ["mon"], "opens": "08:00", "closes": "12:00"}]).status_code == 201
    browser = signed_in()
    act_in(browser, house.tenant)
    return SimpleNamespace(house=house, made=made, other=other, browser=browser)


def looks(seen):
    with tenant_context(seen.house.tenant.id):
        rows = AccessRecord.objects.filter(tenant_id=seen.house.tenant.id, interaction="staff")
        return list(rows.order_by("created_at", "id"))


def page(seen, path=""):
    answer = seen.browser.get(f"{BASE}{path}")
    assert answer.status_code == 200, answer.content[-500:]
    return answer.content.decode()


def test_the_list_shows_times_and_ids_and_is_recorded(seen):
    before = len(looks(seen))
    shown = page(seen)
    assert seen.made["patient_id"] in shown
    assert "Secret knee" not in shown
    (look,) = looks(seen)[before:]
    assert (look.resource_type, look.resource_id, look.count, look.reason) == ("Appointment", "", 2, REASON)
    assert set(look.patients) == {seen.made["patient_id"], seen.other["patient_id"]}


def test_the_page_of_one_is_for_looking_only_and_is_recorded(seen):
    before = len(looks(seen))
    shown = page(seen, f"{seen.made['id']}/change/")
    assert "Secret knee" in shown
    assert 'name="_save"' not in shown
    (look,) = looks(seen)[before:]
    assert (look.resource_id, look.patients) == (seen.made["id"], [seen.made["patient_id"]])


def test_the_day_shows_local_times_by_practitioner_and_is_recorded(seen):
    before = len(looks(seen))
    day = monday().date().isoformat()
    shown = page(seen, f"day/?date={day}")
    assert f"{day} 09:00" in shown
    assert f"{day} 10:00" in shown
    assert "2 appointments of 1 practitioner;" in shown
    (look,) = looks(seen)[before:]
    assert (look.count, look.parameters) == (2, ["date"])
    assert "No appointment lies on this day." in page(seen, "day/?date=2031-01-01")
    for odd in ("", "?date=x", "?date=0001-01-01", "?date=9999-12-31"):
        page(seen, f"day/{odd}")


def test_the_export_is_recorded(seen):
    before = len(looks(seen))
    answer = seen.browser.get(f"{BASE}export/")
    assert answer.status_code == 200
    assert seen.made["patient_id"] in answer.content.decode()
    assert looks(seen)[before:][-1].parameters == ["export"]


def test_schedules_are_shown(seen):
    assert seen.house.practitioner in seen.browser.get("/admin/appointments/schedule/").content.decode()


def test_without_an_acting_tenant_or_the_role_nothing_is_shown(seen):
    for path in ("", f"{seen.made['id']}/change/", "day/"):
        answer = signed_in().get(f"{BASE}{path}")
        assert (answer.status_code, answer.url.partition("?")[0]) == (302, "/admin/acting-tenant/")
        support = signed_in("support")
        act_in(support, seen.house.tenant)
        assert support.get(f"{BASE}{path}").status_code == 403


def test_another_tenants_appointment_is_not_there(seen):
    browser = signed_in()
    act_in(browser, clinic().tenant)
    assert browser.get(f"{BASE}{seen.made['id']}/change/").status_code == 302
    day = monday().date().isoformat()
    assert seen.made["patient_id"] not in browser.get(f"{BASE}day/?date={day}").content.decode()
