"""The admin's pages of exports and value sets: for the acting tenant alone, for looking only, and never what is in the files."""

from dataclasses import dataclass
from typing import Any

import pytest

from core.clock import now
from core.db import tenant_context
from fhir_api.exports.models import ExportJob
from fhir_api.value_sets.actions import keep
from fhir_api.value_sets.documents import read
from fhir_api.value_sets.models import ValueSet
from organizations.staff.roles import Area, sees
from tests import factories
from tests.admin.people import act_in, signed_in, staff
from tests.fhir_api.clients import patient, prescriber
from tests.fhir_api.exports.asking import jobs, manifest

URL = "http://clinic.example/ValueSet/measures"


@dataclass
class Shown:
    """A tenant with an export of one patient and a value set."""

    tenant: Any
    job: ExportJob
    value_set: ValueSet


def exported() -> Shown:
    doctor = prescriber(factories.provision("provider", plan="enterprise"))
    doctor.made(patient(name=[{"family": "Geheim"}]))
    manifest(doctor, "/$export?_type=Patient")
    include = [{"system": "http://loinc.org", "concept": [{"code": "29463-7"}]}]
    brought = read({"resourceType": "ValueSet", "url": URL, "title": "Measures", "compose": {"include": include}})
    (job,) = jobs(doctor.tenant)
    with tenant_context(doctor.tenant.id):
        keep(doctor.tenant.id, brought, at=now())
        return Shown(doctor.tenant, job, ValueSet.objects.get(url=URL))


@pytest.fixture(scope="module")
def shown():
    return exported()


@pytest.fixture(scope="module")
def browser(shown):
    chosen = signed_in()
    act_in(chosen, shown.tenant)
    return chosen


def page(browser, path):
    answer = browser.get(f"/admin/fhir_api/{path}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_export_tells_what_came_of_it_and_nothing_of_its_content(browser, shown):
    assert str(shown.job.pk) in page(browser, "exportjob/")
    assert str(shown.job.pk) not in page(browser, "exportjob/?state=failed")
    text = page(browser, f"exportjob/{shown.job.pk}/change/")
    for told in ("completed", "Patient-1.ndjson: 1 lines", "/$export?_type=Patient"):
        assert told in text
    assert "Geheim" not in text


def test_value_set_shows_its_codes(browser, shown):
    assert "Measures" in page(browser, "valueset/")
    assert "29463-7" in page(browser, f"valueset/{shown.value_set.pk}/change/")


def test_another_tenants_are_not_there(shown):
    other = signed_in()
    act_in(other, factories.provision())
    assert str(shown.job.pk) not in page(other, "exportjob/")
    assert URL not in page(other, "valueset/")
    for path in (f"exportjob/{shown.job.pk}/change/", f"valueset/{shown.value_set.pk}/change/"):
        assert other.get(f"/admin/fhir_api/{path}").status_code == 302


def test_role_without_the_area_sees_nothing(shown):
    person = staff("support")
    assert not sees(person, Area.RECORDS)
    supporter = signed_in(person=person)
    act_in(supporter, shown.tenant)
    assert supporter.get("/admin/fhir_api/valueset/").status_code == 403
