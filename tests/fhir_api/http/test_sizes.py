"""One resource has a bound on what it costs in the index; what is below it is stored as ever."""

import pytest

from fhir_api.writes import MOST_ENTRIES
from tests.fhir_api.clients import code_of, issue_type, patient, prescriber


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


def named(number):
    return patient(name=[{"family": "Muster", "given": [f"g{one}x" for one in range(number)]}])


def test_endless_names_are_refused(doctor):
    answer = doctor.post("/Patient", named(60_000))
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (422, "too_many_values", "too-costly")
    assert answer.json()["issue"][0]["expression"] == ["Patient"]
    assert doctor.get("/Patient?_summary=count").json()["total"] == 0


def test_updates_and_patches_keep_the_bound(doctor):
    made = doctor.made(patient())
    path = f"/Patient/{made['id']}"
    assert doctor.put(path, {**named(10_000), "id": made["id"]}).status_code == 422
    more = [{"op": "add", "path": "/name/0/given", "value": [f"g{one}x" for one in range(10_000)]}]
    assert doctor.patch(path, more).status_code == 422
    assert doctor.get(path).headers["ETag"] == 'W/"1"'


def test_entry_of_a_bundle_is_named(doctor):
    entries = [{"request": {"method": "POST", "url": "Patient"}, "resource": one} for one in (patient(), named(10_000))]
    answer = doctor.post("", {"resourceType": "Bundle", "type": "batch", "entry": entries})
    assert [one["response"]["status"][:3] for one in answer.json()["entry"]] == ["201", "422"]
    whole = doctor.post("", {"resourceType": "Bundle", "type": "transaction", "entry": entries})
    assert (whole.status_code, whole.json()["issue"][0]["expression"]) == (422, ["Bundle.entry[1]"])


def test_large_groups_are_stored(doctor):
    member = [{"entity": {"reference": f"https://elsewhere.example/Patient/{one:08d}"}} for one in range(12_000)]
    group = {"resourceType": "Group", "type": "person", "actual": True, "member": member}
    assert doctor.post("/Group", group, Prefer="return=minimal").status_code == 201
    assert len(member) < MOST_ENTRIES
