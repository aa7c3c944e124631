"""Operations that change nothing as entries of a Bundle: `$validate`, answered by its own view."""

import pytest

from tests import factories
from tests.fhir_api.bundles.making import batch, entry, history, refused, responses, statuses, transaction
from tests.fhir_api.clients import Fhir, patient, prescriber, reader


@pytest.fixture(scope="module")
def api():
    return prescriber()


def told(answer, number=0):
    return [issue["severity"] for issue in answer.json()["entry"][number]["resource"]["issue"]]


@pytest.mark.parametrize("url", ["$validate", "Patient/$validate", "Patient/p-1/$validate"])
@pytest.mark.parametrize("make", [batch, transaction])
def test_validate_is_answered_and_keeps_nothing(api, make, url):
    good, bad = patient(id="p-1"), patient(id="p-1", gender="mann", multipleBirthInteger=1)
    answer = api.post("", make(entry("POST", url, good), entry("POST", url, bad)))
    assert statuses(answer) == [200, 200]
    assert (told(answer), told(answer, 1)) == (["information"], ["error"])
    assert ("Patient", "p-1") not in {(kind, name) for kind, name, _ in history(api)}


def test_validate_takes_parameters_and_digits_as_they_are(api):
    wrapped = {"resourceType": "Parameters", "parameter": [{"name": "resource", "resource": patient()}]}
    assert told(api.post("", batch(entry("POST", "Patient/$validate", wrapped)))) == ["information"]


@pytest.mark.parametrize(
    ("one", "status"),
    [
        (entry("POST", "Patient/$validate"), 400),
        (entry("POST", "Patient/$validate", {"resourceType": "Observation", "status": "final"}), 400),
        (entry("POST", "Slot/$validate", {"resourceType": "Slot"}), 404),
        (entry("POST", "Patient/a_b/$validate", patient()), 400),
    ],
)
def test_validate_that_cannot_be_carried_out_fails_as_outside(api, one, status):
    good = entry("POST", "Patient", patient())
    before = history(api)
    assert statuses(api.post("", batch(one))) == [status]
    answer = api.post("", transaction(good, one))
    assert refused(answer)[0::2] == (status, "Bundle.entry[1]")
    assert history(api) == before


def test_validate_by_get_is_not_offered(api):
    assert statuses(api.post("", batch(entry("GET", "Patient/$validate")))) == [405]


def test_who_only_reads_may_validate_in_bundles(api):
    other = reader(api.tenant)
    assert statuses(other.post("", transaction(entry("POST", "$validate", patient())))) == [200]


def test_scopes_hold_as_outside(api):
    person, _ = factories.member(api.tenant, ["prescriber"])
    narrow = Fhir(factories.bearer(person, scopes="healthcare.read user/Observation.rs"), api.tenant)
    inside = responses(narrow.post("", batch(entry("POST", "Patient/$validate", patient()))))[0]["status"][:3]
    outside = narrow.post("/Patient/$validate", patient()).status_code
    assert inside == str(outside)


@pytest.mark.parametrize("make", [batch, transaction])
def test_everything_of_a_patient_is_answered(api, make):
    who = api.made(patient())
    answer = api.post("", make(entry("GET", f"Patient/{who['id']}/$everything")))
    (found,) = answer.json()["entry"]
    assert found["response"]["status"] == "200 OK"
    assert [one["resource"]["id"] for one in found["resource"]["entry"]] == [who["id"]]
