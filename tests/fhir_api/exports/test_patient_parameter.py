"""`patient`: the records of those who are named and of nobody else, as their compartments hold them."""

import pytest

from tests.fhir_api.clients import code_of, observation, patient
from tests.fhir_api.exports.asking import (
    about,
    by_post,
    carry_out,
    exported,
    fetched,
    filtered,
    jobs,
    kick_off,
    manifest,
    resources_of,
    searched,
)
from tests.fhir_api.noted import brief, noted
from tests.fhir_api.search import record

PATIENT_EXPORT = "/Patient/$export"


@pytest.fixture(scope="module")
def people(client):
    """Three patients of Synthea with all that belongs to them."""
    found = record.resources(patients=3)
    record.put(client.tenant.id, found)
    counted = {}
    for one in found:
        subject = one.get("subject", one.get("patient", {})).get("reference", "")
        counted[subject] = counted.get(subject, 0) + 1
    most = sorted((one for one in counted if one.startswith("Patient/")), key=lambda one: -counted[one])
    return [one.partition("/")[2] for one in most[:3]]


def everything(client, fhir_id):
    """What $everything gives of the types that belong to patients."""
    found = searched(client, f"Patient/{fhir_id}/$everything")
    shared = ("Practitioner", "PractitionerRole", "Organization", "Location", "Medication")
    return {name: one for name, one in found.items() if name[0] not in shared}


def test_one_patient_is_his_everything(client, people):
    given = resources_of(client, by_post(client, PATIENT_EXPORT, *about(people[0])))
    assert given == everything(client, people[0])
    assert len({kind for kind, _ in given}) > 3


def test_several_patients_are_all_of_theirs_and_nobody_elses(client, people):
    given = resources_of(client, by_post(client, PATIENT_EXPORT, *about(*people[:2])))
    assert given == everything(client, people[0]) | everything(client, people[1])
    whole = exported(client, PATIENT_EXPORT)
    assert len(given) < len(whole)
    assert given == {name: whole[name] for name in given}


def test_all_parameters_at_once(client, people):
    parameters = [
        *about(*people[:2]),
        {"name": "_type", "valueString": "Observation"},
        {"name": "_typeFilter", "valueString": "Observation?category=vital-signs"},
        {"name": "_elements", "valueString": "Observation.code"},
    ]
    given = resources_of(client, by_post(client, PATIENT_EXPORT, *parameters))
    either = ",".join(f"Patient/{one}" for one in people[:2])
    assert given == searched(client, f"Observation?category=vital-signs&_elements=code&patient={either}")
    assert given


def test_address_and_body_are_read_together(client, people):
    path = f"{PATIENT_EXPORT}?_type=Encounter&{filtered('Encounter?status=finished')}"
    given = resources_of(client, by_post(client, path, *about(people[0], people[0])))
    assert given == searched(client, f"Encounter?status=finished&patient=Patient/{people[0]}")
    assert given


def test_absolute_reference_and_one_of_a_version_name_the_same(client, people, settings):
    own = f"{settings.FHIR_BASE_URL}/Patient/{people[0]}"
    path = f"{PATIENT_EXPORT}?_type=Patient"
    for reference in (own, f"Patient/{people[0]}/_history/1"):
        named = {"name": "patient", "valueReference": {"reference": reference}}
        assert set(resources_of(client, by_post(client, path, named))) == {("Patient", people[0])}


def test_what_is_of_somebody_else_too_is_kept_back(fresh):
    first, second = (fresh.made(patient()) for _ in range(2))
    linked = fresh.made(patient(link=[{"other": {"reference": f"Patient/{second['id']}"}, "type": "seealso"}]))
    alone = fresh.made(observation(f"Patient/{first['id']}"))
    both = fresh.made(observation(f"Patient/{first['id']}", performer=[{"reference": f"Patient/{second['id']}"}]))
    given = resources_of(fresh, by_post(fresh, PATIENT_EXPORT, *about(first["id"], linked["id"])))
    assert {fhir_id for _, fhir_id in given} == {first["id"], linked["id"], alone["id"]}
    given = resources_of(fresh, by_post(fresh, PATIENT_EXPORT, *about(first["id"], second["id"])))
    assert {fhir_id for _, fhir_id in given} == {first["id"], second["id"], alone["id"], both["id"]}


def test_what_was_the_patients_at_the_time_is_given_whosever_it_became(fresh):
    first, second = (fresh.made(patient()) for _ in range(2))
    seen = fresh.made(observation(f"Patient/{first['id']}"))
    kicked_off = by_post(fresh, f"{PATIENT_EXPORT}?_type=Observation", *about(first["id"]))
    fresh.put(f"/Observation/{seen['id']}", {**seen, "subject": {"reference": f"Patient/{second['id']}"}})
    assert list(resources_of(fresh, kicked_off).values()) == [seen]


def test_deletions_are_of_the_patients_who_are_named(fresh):
    first, second = (fresh.made(patient()) for _ in range(2))
    seen = [fresh.made(observation(f"Patient/{one['id']}")) for one in (first, second)]
    since = manifest(fresh)["transactionTime"]
    for one in seen:
        fresh.delete(f"/Observation/{one['id']}")
    kicked_off = by_post(fresh, f"{PATIENT_EXPORT}?_since={since}", *about(first["id"]))
    told = carry_out(fresh, kicked_off.headers["Content-Location"].partition("/fhir/R4")[2]).json()
    (bundle,) = fetched(fresh, told["deleted"])
    assert [one["request"]["url"] for one in bundle["entry"]] == [f"Observation/{seen[0]['id']}"]


def test_patients_who_are_absent_are_refused_and_the_question_is_noted(client, people):
    deleted = client.made(patient())["id"]
    client.delete(f"/Patient/{deleted}")
    before = len(jobs(client.tenant))
    named = about(people[0], "nobody", deleted)
    answer, (row,) = noted(
        client, lambda: by_post(client, PATIENT_EXPORT, *named, Prefer="respond-async, handling=lenient")
    )
    assert (answer.status_code, code_of(answer), len(jobs(client.tenant))) == (400, "unknown_patients", before)
    told = answer.json()["issue"][0]["diagnostics"]
    assert "Patient/nobody" in told
    assert f"Patient/{deleted}" in told
    assert f"Patient/{people[0]}" not in told
    assert brief(row) == ("export", "Patient", "", [people[0]], 0, 400)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"valueReference": {}},
        {"valueReference": {"display": "Eva"}},
        {"valueReference": {"reference": "Practitioner/1"}},
        {"valueReference": {"reference": "https://elsewhere.example/Patient/1"}},
        {"valueReference": {"reference": 1}},
        {"valueReference": "Patient/1"},
        {"valueString": "Patient/1"},
    ],
)
def test_what_names_no_patient_is_refused(client, value):
    answer = by_post(client, PATIENT_EXPORT, {"name": "patient", **value})
    assert (answer.status_code, code_of(answer)) == (400, "invalid_export")


@pytest.mark.parametrize("handling", ["strict", "lenient"])
def test_patient_is_for_post_and_not_for_the_whole_record(client, people, handling):
    """What would otherwise be left out narrows the export: nobody gets everything in its place."""
    prefer = f"respond-async, handling={handling}"
    for answer in (
        kick_off(client, f"{PATIENT_EXPORT}?patient=Patient/{people[0]}", Prefer=prefer),
        by_post(client, f"{PATIENT_EXPORT}?patient=Patient/{people[0]}", Prefer=prefer),
        by_post(client, "/$export", *about(people[0]), Prefer=prefer),
    ):
        assert (answer.status_code, code_of(answer)) == (400, "unsupported_parameter")
