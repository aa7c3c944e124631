"""The SMART client for Python (`fhirclient`), unchanged: prepare, create, read, update, search with paging, delete."""

from urllib.parse import urlsplit

import pytest
from fhirclient.client import FHIRClient
from fhirclient.models.humanname import HumanName
from fhirclient.models.identifier import Identifier
from fhirclient.models.observation import Observation
from fhirclient.models.patient import Patient
from requests import HTTPError

from core.ids import uuid7

SYSTEM = "urn:example:mrn"
CATEGORY = "http://terminology.hl7.org/CodeSystem/observation-category"


@pytest.fixture
def smart(clinic):
    """The library, with a token instead of a sign-in in a browser."""
    found = FHIRClient(settings={"app_id": "clinic", "api_base": clinic.base})
    found.server.get_capability()
    found.server.auth.access_token = clinic.token
    return found


def patient(number, *, family="Garcia"):
    made = Patient()
    made.identifier = [Identifier({"system": SYSTEM, "value": str(number)})]
    made.name = [HumanName({"family": family, "given": ["Ana"]})]
    made.gender = "female"
    return made


def test_prepare_reads_the_capabilities_and_where_to_sign_in(smart):
    assert smart.prepare() is True
    capability = smart.server.capabilityStatement
    assert capability.fhirVersion == "4.0.1"
    assert {resource.type for resource in capability.rest[0].resource} >= {"Patient", "Observation", "Location"}
    assert urlsplit(smart.server.auth.authorize_uri(smart.server)).path == "/oauth/authorize"


def test_create_read_update_and_delete(smart):
    made = Patient(patient(1).create(smart.server))
    read = Patient.read(made.id, smart.server)
    assert (read.meta.versionId, read.name[0].family) == ("1", "Garcia")
    read.name[0].family = "Garcia Lopez"
    assert read.update(smart.server)["meta"]["versionId"] == "2"
    assert Patient.read(made.id, smart.server).name[0].family == "Garcia Lopez"
    Patient.read(made.id, smart.server).delete()
    with pytest.raises(HTTPError) as gone:
        Patient.read(made.id, smart.server)
    assert gone.value.response.status_code == 410


def test_search_walks_through_all_pages(smart):
    family = f"Zz{str(uuid7())[-8:]}"
    ids = {patient(number, family=family).create(smart.server)["id"] for number in range(7)}
    search = Patient.where({"family": family, "_count": "3"})
    pages = list(search.perform_iter(smart.server))
    assert [len(page.entry) for page in pages] == [3, 3, 1]
    assert {entry.resource.id for page in pages for entry in page.entry} == ids
    assert {found.id for found in search.perform_resources_iter(smart.server)} == ids


def test_search_includes_what_is_referred_to(smart):
    subject = patient(1).create(smart.server)["id"]
    observation = Observation(
        {
            "resourceType": "Observation",
            "status": "final",
            "category": [{"coding": [{"system": CATEGORY, "code": "vital-signs"}]}],
            "code": {"coding": [{"system": "http://loinc.org", "code": "8867-4"}]},
            "subject": {"reference": f"Patient/{subject}"},
            "effectiveDateTime": "2026-01-02",
            "valueQuantity": {"value": 72.5, "unit": "/min", "system": "http://unitsofmeasure.org", "code": "/min"},
        }
    )
    made = observation.create(smart.server)["id"]
    search = Observation.where({"patient": subject, "code": "http://loinc.org|8867-4"}).include("subject")
    assert {found.id for found in search.perform_resources_iter(smart.server)} == {made, subject}
