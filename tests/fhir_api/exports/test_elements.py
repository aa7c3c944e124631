"""`_elements`: the elements that were asked for, the mandatory ones and a tag, as a search gives them."""

import pytest

from tests.fhir_api.clients import code_of, observation, patient
from tests.fhir_api.exports.asking import by_post, exported, jobs, kick_off, manifest, resources_of, searched
from tests.fhir_api.noted import noted

SUBSETTED = {"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "code": "SUBSETTED"}


@pytest.fixture(scope="module")
def person(client):
    found = client.made(patient(birthDate="1970-01-01", active=True, telecom=[{"system": "phone", "value": "1"}]))
    client.made(
        observation(
            f"Patient/{found['id']}", valueQuantity={"value": 1.10, "unit": "mg"}, issued="2026-01-01T00:00:00Z"
        )
    )
    return found


@pytest.mark.parametrize(
    "elements",
    ["id", "Patient.name", "name,birthDate", "Patient.id,Observation.value", "status", "Patient.name,Observation.code"],
)
def test_elements_are_those_that_a_search_gives(client, person, elements):
    given = exported(client, f"/$export?_type=Patient,Observation&_elements={elements}")
    found = searched(client, f"Patient?_elements={elements}") | searched(client, f"Observation?_elements={elements}")
    assert given == found
    assert all(SUBSETTED in one["meta"]["tag"] for one in given.values())


def test_mandatory_elements_stay_and_others_go(client, person):
    given = exported(client, "/$export?_type=Patient,Observation&_elements=id,Patient.name")
    whose = given["Patient", person["id"]]
    assert set(whose) == {"resourceType", "id", "meta", "name"}
    (seen,) = (one for (kind, _), one in given.items() if kind == "Observation")
    assert set(seen) == {"resourceType", "id", "meta", "status", "code"}


@pytest.mark.parametrize("elements", ["Observation.valueQuantity", "Observation.value[x]", "valueQuantity", "value"])
def test_choice_is_one_element(client, person, elements):
    given = exported(client, f"/$export?_type=Observation&_elements={elements}")
    assert given == searched(client, "Observation?_elements=value")
    assert [one["valueQuantity"]["unit"] for one in given.values()] == ["mg"]


def test_elements_by_post_and_said_twice(client, person):
    given = [{"name": "_elements", "valueString": one} for one in ("Patient.name", "birthDate, gender")]
    found = resources_of(
        client, by_post(client, "/Patient/$export", *given, {"name": "_type", "valueString": "Patient"})
    )
    assert found == searched(client, "Patient?_elements=name,birthDate,gender")


def test_record_of_access_names_the_patients_of_what_was_left_out(client, person):
    told = manifest(client, "/$export?_type=Observation&_elements=id")
    (listed,) = told["output"]
    _, (row,) = noted(client, lambda: client.get(listed["url"].partition("/fhir/R4")[2]))
    assert row.patients == [person["id"]]


def test_deletions_are_told_as_ever(fresh):
    gone = fresh.made(patient())
    first = manifest(fresh)
    fresh.delete(f"/Patient/{gone['id']}")
    told = manifest(fresh, f"/$export?_since={first['transactionTime']}&_elements=id")
    assert [one["count"] for one in told["deleted"]] == [1]


@pytest.mark.parametrize(
    "elements", ["Patient.name.family", "Basic.code", "favourite", "Patient.status", "Patient.", ".id", "name family"]
)
@pytest.mark.parametrize("handling", ["strict", "lenient"])
def test_what_is_no_element_is_refused(client, elements, handling):
    before = len(jobs(client.tenant))
    answer = kick_off(client, f"/$export?_elements={elements}", Prefer=f"respond-async, handling={handling}")
    assert (answer.status_code, code_of(answer), len(jobs(client.tenant))) == (400, "invalid_export", before)
