"""The clinical record in the admin: for the acting tenant, for looking only, and every look is recorded with its reason."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from core.db import tenant_context
from fhir_api.access.models import AccessRecord
from fhir_api.models import Resource
from organizations.staff.roles import Area, sees
from tests import factories
from tests.admin.people import REASON, act_in, signed_in, staff
from tests.fhir_api.clients import observation, patient, prescriber
from tests.fhir_api.refusing import no_access_records

BASE = "/admin/fhir_api/resource/"


@dataclass
class Record:
    """A tenant with a patient of three versions, an observation of his, and one that was deleted."""

    tenant: Any
    patient: Resource
    observation: Resource
    deleted: Resource
    browser: Client

    def page(self, path: str = "") -> str:
        answer = self.browser.get(f"{BASE}{path}")
        assert answer.status_code == 200, answer.content[-500:]
        return answer.content.decode()


@pytest.fixture(scope="module")
def record():
    return made()


def made() -> Record:
    doctor = prescriber()
    who = doctor.made(patient(name=[{"family": "Geheim", "given": ["Eva", "Maria"]}]))
    path = f"/Patient/{who['id']}"
    doctor.patch(path, [{"op": "replace", "path": "/gender", "value": "other"}])
    doctor.patch(path, [{"op": "remove", "path": "/name/0/given/1"}, {"op": "add", "path": "/active", "value": True}])
    seen = doctor.made(observation(f"Patient/{who['id']}", valueQuantity={"value": 1, "unit": "mg"}))
    gone = doctor.made(patient())
    doctor.delete(f"/Patient/{gone['id']}")
    browser = signed_in()
    act_in(browser, doctor.tenant)
    with tenant_context(doctor.tenant.id):
        rows = {one.fhir_id: one for one in Resource.objects.all()}
    return Record(doctor.tenant, rows[who["id"]], rows[seen["id"]], rows[gone["id"]], browser)


def looks(record: Record) -> list[AccessRecord]:
    with tenant_context(record.tenant.id):
        return list(AccessRecord.objects.filter(interaction="staff").order_by("created_at", "id"))


def last_look(record: Record, before: int) -> AccessRecord:
    (found,) = looks(record)[before:]
    return found


def test_list_shows_names_and_times_only(record):
    before = len(looks(record))
    page = record.page()

    for row, name in ((record.patient, "Patient"), (record.observation, "Observation"), (record.deleted, "Patient")):
        assert f"{name}/{row.fhir_id}" in page
    assert "Geheim" not in page
    look = last_look(record, before)
    assert (look.resource_type, look.reason, look.credential) == ("", REASON, "staff:administrator")
    assert look.count >= 3
    assert set(look.patients) == {record.patient.fhir_id, record.deleted.fhir_id}


def test_page_shows_the_resource_and_its_versions(record):
    before = len(looks(record))
    page = record.page(f"{record.patient.pk}/change/")

    assert "Geheim" in page
    assert [f"Version {number}" in page for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert 'name="_save"' not in page
    look = last_look(record, before)
    assert (look.resource_type, look.resource_id, look.count) == ("Patient", record.patient.fhir_id, 1)
    assert (look.patients, look.reason) == ([record.patient.fhir_id], REASON)


def test_observation_names_its_patient(record):
    before = len(looks(record))
    record.page(f"{record.observation.pk}/change/")
    assert last_look(record, before).patients == [record.patient.fhir_id]


def test_version_tells_what_it_changed(record):
    before = len(looks(record))
    page = record.page(f"{record.patient.pk}/versions/3/")

    for part in ("active", "+ true", "name[0].given[1]", "− &quot;Maria&quot;", "Compared with version 2"):
        assert part in page, part
    assert "versionId</td>" not in page
    assert "− &quot;female&quot;" not in page
    assert last_look(record, before).parameters == ["version"]
    far = record.page(f"{record.patient.pk}/versions/3/?with=1")
    assert "− &quot;female&quot;" in far
    assert "Compared with version 1" in far


def test_first_version_and_deletion_have_pages(record):
    assert "There is nothing to compare it with" in record.page(f"{record.patient.pk}/versions/1/")
    assert "There is nothing to compare it with" in record.page(f"{record.patient.pk}/versions/1/?with=none")
    gone = record.page(f"{record.deleted.pk}/versions/2/")
    assert "Deleted" in gone
    assert "− &quot;Muster&quot;" in gone
    assert record.page(f"{record.deleted.pk}/change/")


@pytest.mark.parametrize("path", ["{0}/versions/9/", "{0}/versions/0/", "999999999/versions/1/"])
def test_version_that_is_not_there_is_404(record, path):
    before = len(looks(record))
    assert record.browser.get(f"{BASE}{path.format(record.patient.pk)}").status_code == 404
    assert len(looks(record)) == before


def test_search_finds_a_resource_and_what_refers_to_it(record):
    both = record.page(f"?q=Patient/{record.patient.fhir_id}")
    one = record.page(f"?q={record.patient.fhir_id}")
    kinds = record.page("?kind=Observation")

    names = (f"Patient/{record.patient.fhir_id}", f"Observation/{record.observation.fhir_id}")
    assert [name in both for name in names] == [True, True]
    assert [f">{name}<" in one for name in names] == [True, False]
    assert [f">{name}<" in kinds for name in names] == [False, True]


def test_export_is_a_look_too(record):
    before = len(looks(record))
    answer = record.browser.get(f"{BASE}export/")

    assert b"Geheim" not in answer.content
    look = last_look(record, before)
    assert look.parameters == ["export"]
    assert record.patient.fhir_id in look.patients


def test_role_without_the_area_sees_nothing(record):
    person = staff("support")
    assert not sees(person, Area.RECORDS)
    browser = signed_in(person=person)
    act_in(browser, record.tenant)
    before = len(looks(record))
    for path in ("", f"{record.patient.pk}/change/", f"{record.patient.pk}/versions/1/", "export/"):
        assert browser.get(BASE + path).status_code == 403, path
    assert len(looks(record)) == before


def test_other_tenants_record_is_out_of_reach(record):
    other = signed_in()
    assert other.get(f"{BASE}{record.patient.pk}/versions/1/").status_code == 302
    act_in(other, factories.provision("provider"))
    assert other.get(f"{BASE}{record.patient.pk}/versions/1/").status_code == 404
    assert other.get(f"{BASE}{record.patient.pk}/change/").status_code == 302
    assert record.patient.fhir_id not in other.get(BASE).content.decode()


def test_no_record_no_page(record):
    record.browser.raise_request_exception = False
    with no_access_records():
        answer = record.browser.get(f"{BASE}{record.patient.pk}/change/")
    record.browser.raise_request_exception = True
    assert answer.status_code >= 500
    assert b"Geheim" not in answer.content


@pytest.mark.parametrize("field", ["body__contains", "body", "tenant_id", "target_key__gt"])
def test_list_is_narrowed_by_its_filters_alone(record, field):
    assert record.browser.get(f"{BASE}?{field}=Geheim").status_code == 400
    assert "Patient" in record.page("?deleted__exact=0")
