"""`fhirpy`, unchanged: save, partial save (JSON merge patch), search sets with paging, conditional create, delete."""

import pytest
from fhirpy import SyncFHIRClient
from fhirpy.base.exceptions import OperationOutcome, ResourceNotFound

from core.ids import uuid7

SYSTEM = "urn:example:mrn"


@pytest.fixture
def client(clinic):
    return SyncFHIRClient(clinic.base, authorization=f"Bearer {clinic.token}")


def patient(client, number, *, family="Garcia"):
    return client.resource(
        "Patient",
        identifier=[{"system": SYSTEM, "value": str(number)}],
        name=[{"family": family, "given": ["Ana"]}],
        gender="female",
    )


def test_save_refresh_and_delete(client):
    made = patient(client, 1)
    made.save()
    assert made["meta"]["versionId"] == "1"
    made["gender"] = "other"
    made.save(fields=["gender"])  # PATCH with a JSON merge patch
    again = client.reference("Patient", made.id).to_resource()
    assert (again["gender"], again["meta"]["versionId"], again["name"][0]["family"]) == ("other", "2", "Garcia")
    again["gender"] = "female"
    again.save()  # PUT
    made.refresh()
    assert (made["gender"], made["meta"]["versionId"]) == ("female", "3")
    made.delete()
    with pytest.raises((ResourceNotFound, OperationOutcome)):
        client.reference("Patient", made.id).to_resource()


def test_search_set_pages_sorts_counts_and_includes(client):
    family = f"Zz{str(uuid7())[-8:]}"
    made = [patient(client, number, family=family) for number in range(5)]
    for one in made:
        one.save()
    found = client.resources("Patient").search(family=family).sort("identifier").limit(2)
    assert [one["identifier"][0]["value"] for one in found.fetch_all()] == ["0", "1", "2", "3", "4"]
    assert client.resources("Patient").search(family=family).count() == 5
    assert [one["identifier"][0]["value"] for one in found.fetch()] == ["0", "1"]
    observation = client.resource("Observation", status="final", code={"text": "pulse"}, subject=made[0].to_reference())
    observation.save()
    bundle = client.resources("Observation").search(patient=made[0].id).include("Observation", "subject").fetch_raw()
    assert {entry["resource"]["resourceType"] for entry in bundle["entry"]} == {"Observation", "Patient"}


def test_get_or_create_makes_one_only(client):
    search = client.resources("Patient").search(identifier=f"{SYSTEM}|7")
    first, made = search.get_or_create(patient(client, 7))
    second, made_again = search.get_or_create(patient(client, 7))
    assert (made, made_again, first.id) == (1, 0, second.id)


def test_broken_resource_is_an_operation_outcome(client):
    broken = client.resource("Patient", gender="mann")
    with pytest.raises(OperationOutcome) as refused:
        broken.save()
    (issue,) = refused.value.resource["issue"]
    assert (issue["severity"], issue["code"], issue["expression"]) == ("error", "code-invalid", ["Patient.gender"])
