"""Conditional references to what the same transaction writes: they come after everything else. Point 40 of the contract."""

import base64
import json

import pytest

from tests.fhir_api.bundles.making import entry, history, located, refused, responses, statuses, transaction, urn
from tests.fhir_api.clients import identified, observation, patient, prescriber

X = "Patient?identifier=urn:mrn|X"
ENCODED = "Patient?identifier=urn%3Amrn%7CX"
PLACE = "Bundle.entry[1].resource.subject.reference"
PATCH = [{"op": "add", "path": "/identifier", "value": [{"system": "urn:mrn", "value": "X"}]}]
BINARY = {
    "resourceType": "Binary",
    "contentType": "application/json-patch+json",
    "data": base64.b64encode(json.dumps(PATCH).encode()).decode(),
}


@pytest.fixture
def api():
    return prescriber()


def referring(reference):
    return entry("POST", "Observation", observation(reference))


MADE = {
    "create": (entry("POST", "Patient", identified("X")), X),
    "create, encoded": (entry("POST", "Patient", identified("X")), ENCODED),
    "create, other parameter": (entry("POST", "Patient", patient()), "Patient?family=Muster"),
    "create, two parameters": (entry("POST", "Patient", identified("X")), f"{X}&gender=female"),
    "conditional update": (entry("PUT", "Patient?identifier=urn:mrn|X", identified("X")), X),
    "update as create": (entry("PUT", "Patient/x", identified("X", id="x")), X),
    "update": (entry("PUT", "Patient/stored", identified("X", id="stored")), X),
    "patch": (entry("PATCH", "Patient/stored", BINARY), X),
}


@pytest.mark.parametrize("case", MADE)
def test_what_the_transaction_writes_is_found(api, case):
    assert api.put("/Patient/stored", patient(id="stored", name=[{"family": "Alt"}])).status_code == 201
    one, reference = MADE[case]
    answer = api.post("", transaction(referring(reference), one))
    observed, written = (located(each) for each in responses(answer))
    assert api.get(f"/{observed}").json()["subject"] == {"reference": written}
    assert responses(answer)[1]["etag"] == ('W/"2"' if written == "Patient/stored" else 'W/"1"')


AMBIGUOUS = {
    "create": (entry("POST", "Patient", identified("X")), X),
    "create, encoded": (entry("POST", "Patient", identified("X")), ENCODED),
    "update as create": (entry("PUT", "Patient/x", identified("X", id="x")), X),
}


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_what_the_transaction_makes_ambiguous_is_412(api, case):
    api.made(identified("X"))
    one, reference = AMBIGUOUS[case]
    answer = api.post("", transaction(one, referring(reference)))
    assert refused(answer) == (412, "conditional_reference_failed", PLACE)
    assert answer.json()["issue"][0]["code"] == "multiple-matches"
    assert len(history(api)) == 1


def test_what_the_transaction_takes_away_is_412(api):
    known = api.made(identified("X"))
    answer = api.post("", transaction(entry("PUT", f"Patient/{known['id']}", patient(id=known["id"])), referring(X)))
    assert refused(answer) == (412, "conditional_reference_failed", PLACE)
    assert answer.json()["issue"][0]["code"] == "not-found"
    assert api.get(f"/Patient/{known['id']}").json() == known


def test_chain_sees_what_the_transaction_writes(api):
    """The stored Encounter is found by what its patient becomes."""
    assert api.put("/Patient/x", patient(id="x")).status_code == 201
    encounter = {
        "resourceType": "Encounter",
        "status": "finished",
        "class": {"code": "AMB"},
        "subject": {"reference": "Patient/x"},
    }
    known = api.made(encounter)
    seen = observation("Patient/x", encounter={"reference": "Encounter?subject:Patient.identifier=urn:mrn|X"})
    answer = api.post(
        "", transaction(entry("POST", "Observation", seen), entry("PUT", "Patient/x", identified("X", id="x")))
    )
    stored = api.get(f"/{located(responses(answer)[0])}").json()
    assert stored["encounter"] == {"reference": f"Encounter/{known['id']}"}


def test_entries_that_refer_to_one_another_and_by_conditions_are_stored(api):
    """No order of writing them one after the other would keep every reference whole."""
    who, what = urn(), urn()
    sent = transaction(
        entry("POST", "Patient", identified("X"), who),
        entry("POST", "Observation", observation(X), what),
        entry("POST", "Observation", observation(who, hasMember=[{"reference": what}])),
    )
    person, member, panel = (located(one) for one in responses(api.post("", sent)))
    stored = api.get(f"/{panel}").json()
    assert (stored["subject"], stored["hasMember"]) == ({"reference": person}, [{"reference": member}])
    assert api.get(f"/{member}").json()["subject"] == {"reference": person}
    assert {version for _, _, version in history(api)} == {1}


def test_reference_that_decides_what_it_means_is_412(api):
    """With the reference in its place a second Observation has that subject."""
    person = api.made(patient())
    api.made(observation(f"Patient/{person['id']}"))
    seen = observation(
        "Patient?gender=female", hasMember=[{"reference": f"Observation?subject=Patient/{person['id']}"}]
    )
    answer = api.post(
        "",
        transaction(
            entry("PUT", f"Patient/{person['id']}", person | {"active": True}), entry("POST", "Observation", seen)
        ),
    )
    assert refused(answer) == (
        412,
        "conditional_reference_failed",
        "Bundle.entry[1].resource.hasMember.reference",
    )
    assert len(history(api)) == 2


def test_faults_are_told_of_all_entries_where_references_are_conditional(api):
    answer = api.post(
        "",
        transaction(
            entry("POST", "Patient", identified("X", gender="mann")),
            entry("POST", "Observation", observation(X, status="done")),
        ),
    )
    assert [one["expression"] for one in answer.json()["issue"]] == [
        ["Bundle.entry[0].resource.gender"],
        ["Bundle.entry[1].resource.status"],
    ]
    assert history(api) == []


OTHERWISE = {
    "create": entry("POST", "Patient", identified("X")),
    "update as create": entry("PUT", "Patient/x", identified("X", id="x")),
}
CONDITIONAL = {
    "create": (entry("POST", "Patient", identified("X"), ifNoneExist="identifier=urn:mrn|X"), "ifNoneExist"),
    "update": (entry("PUT", "Patient?identifier=urn:mrn|X", identified("X")), "url"),
}


@pytest.mark.parametrize("condition", CONDITIONAL)
@pytest.mark.parametrize("other", OTHERWISE)
def test_condition_that_another_entry_meets_is_412(api, condition, other):
    one, member = CONDITIONAL[condition]
    answer = api.post("", transaction(OTHERWISE[other], one))
    assert refused(answer) == (412, "multiple_matches", f"Bundle.entry[1].request.{member}")
    assert history(api) == []


def test_condition_beside_entries_that_do_not_meet_it_holds(api):
    one, _ = CONDITIONAL["create"]
    assert statuses(api.post("", transaction(entry("POST", "Patient", identified("Y")), one))) == [201, 201]
