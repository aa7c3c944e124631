"""The types beside the first twelve: kept, found, told of, recorded, and confined to their patient like these."""

import pytest

from core.db import tenant_context
from fhir_api import compartments
from fhir_api.definitions.facts import PATIENTS_TYPES
from fhir_api.resources.types import NUMBERS, TYPES
from ledger import public as ledger
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, patient, prescriber
from tests.fhir_api.making import RXNORM, concept, further
from tests.fhir_api.noted import brief, noted
from tests.fhir_api.one_patient import Clinic

FURTHER = tuple(name for name, kind in TYPES.items() if kind.number > 12)
DATED = [name for name in FURTHER if TYPES[name].date]


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


@pytest.fixture(scope="module")
def eva(doctor):
    return f"Patient/{doctor.made(patient())['id']}"


def found(client, query):
    answer = client.get(f"/{query}")
    assert answer.status_code == 200, answer.content
    return [entry["resource"]["id"] for entry in answer.json().get("entry", ()) if entry["search"]["mode"] == "match"]


def test_there_are_seventeen():
    assert len(FURTHER) == 17
    assert set(further("Patient/1")) == set(FURTHER)


@pytest.mark.parametrize("name", FURTHER)
def test_every_interaction_is_there(doctor, eva, name):
    made = doctor.made(further(eva)[name])
    path = f"/{name}/{made['id']}"
    changed = {**made, "language": "de"}
    assert doctor.put(path, changed, If_Match='W/"1"').json()["meta"]["versionId"] == "2"
    assert doctor.patch(path, [{"op": "remove", "path": "/language"}]).json()["meta"]["versionId"] == "3"
    assert doctor.get(f"{path}/_history/2").json()["language"] == "de"
    assert doctor.get(f"{path}/_history").json()["total"] == 3
    assert made["id"] in found(doctor, f"{name}?_id={made['id']}")
    assert made["id"] in found(doctor, f"{name}?_lastUpdated=ge2026&_count=200")
    assert doctor.post(f"/{name}/$validate", made).json()["issue"][0]["severity"] == "information"
    assert doctor.delete(path).status_code == 204
    assert doctor.get(path).status_code == 410


@pytest.mark.parametrize("name", FURTHER)
def test_three_facts_are_told_without_content(name):
    doctor = prescriber()
    whose = f"Patient/{doctor.made(patient())['id']}"
    made = doctor.made(further(whose)[name])
    path = f"/{name}/{made['id']}"
    doctor.put(path, {**made, "language": "de"})
    doctor.delete(path)
    with tenant_context(doctor.tenant.id):
        rows = ledger.Event.objects.filter(tenant_id=doctor.tenant.id, data__reference=f"{name}/{made['id']}")
        facts = list(rows.order_by("occurred_at", "id").values_list("type", "data"))
    assert [kind for kind, _ in facts] == [f"fhir.{name}.{verb}" for verb in ("created", "updated", "deleted")]
    assert all(data == {"reference": f"{name}/{made['id']}"} for _, data in facts)


@pytest.mark.parametrize("name", sorted(PATIENTS_TYPES & set(FURTHER)))
def test_read_is_recorded_with_its_patient(doctor, eva, name):
    made = doctor.made(further(eva)[name])
    _, records = noted(doctor, lambda: doctor.get(f"/{name}/{made['id']}"))
    assert [brief(one) for one in records] == [("read", name, made["id"], [eva.partition("/")[2]], 1, 200)]


def test_read_of_what_is_nobodys_leaves_no_record(doctor):
    made = doctor.made(further("Patient/1")["Medication"])
    _, records = noted(doctor, lambda: doctor.get(f"/Medication/{made['id']}"))
    assert records == []


def test_every_member_of_a_group_is_in_the_record(doctor, eva):
    adam = f"Patient/{doctor.made(patient())['id']}"
    members = [{"entity": {"reference": one}} for one in (eva, adam)]
    made = doctor.made({**further(eva)["Group"], "member": members})
    _, records = noted(doctor, lambda: doctor.get(f"/Group/{made['id']}"))
    assert sorted(records[0].patients) == sorted(one.partition("/")[2] for one in (eva, adam))


@pytest.mark.parametrize("name", DATED)
def test_newest_by_clinical_date_comes_first(name):
    doctor = prescriber()
    whose = f"Patient/{doctor.made(patient())['id']}"
    kind = TYPES[name]
    made = {}
    for year in ("2024", "2026", "2025"):
        resource = further(whose)[name]
        for member in kind.dated_by:
            resource.pop(member, None)
        moment = f"{year}-05-01T10:00:00Z"
        member = kind.dated_by[0]
        made[year] = doctor.made({**resource, member: _as(member, moment)})["id"]
    newest = [made["2026"], made["2025"], made["2024"]]
    assert found(doctor, f"{name}?_sort=-{kind.date}") == newest
    assert found(doctor, f"{name}?_sort={kind.date}") == newest[::-1]
    assert found(doctor, f"{name}?{kind.date}=2025") == [made["2025"]]


def _as(member, moment):
    if member == "period":
        return {"start": moment, "end": moment}
    return moment[:10] if member == "startDate" else moment


# -- what is found by further expressions ------------------------------------------------------------------------------


def test_request_is_found_by_the_code_of_its_medication(doctor, eva):
    kept = [doctor.made({"resourceType": "Medication", "code": concept(code, RXNORM)}) for code in ("1", "2")]
    requests = [
        doctor.made(
            {
                "resourceType": "MedicationRequest",
                "status": "active",
                "intent": "order",
                "medicationReference": {"reference": f"Medication/{one['id']}"},
                "subject": {"reference": eva},
            }
        )["id"]
        for one in kept
    ]
    assert found(doctor, f"MedicationRequest?medication.code={RXNORM}|2") == [requests[1]]
    assert found(doctor, f"MedicationRequest?medication=Medication/{kept[0]['id']}") == [requests[0]]


def test_document_is_found_by_what_it_replaces(doctor, eva):
    first = doctor.made(further(eva)["DocumentReference"])["id"]
    target = {"reference": f"DocumentReference/{first}"}
    second = doctor.made({**further(eva)["DocumentReference"], "relatesTo": [{"code": "replaces", "target": target}]})
    system = "http://hl7.org/fhir/document-relationship-type"
    for value in (f"replaces$DocumentReference/{first}", f"replaces${first}", f"{system}|replaces${first}"):
        assert found(doctor, f"DocumentReference?relationship={value}") == [second["id"]]
    assert found(doctor, f"DocumentReference?relationship=appends${first}") == []
    assert found(doctor, f"DocumentReference?relationship=replaces${second['id']}") == []


def test_group_is_found_by_a_characteristic_and_its_value(doctor):
    def group(value):
        one = {"code": concept("gender"), "exclude": False, **value}
        return doctor.made({"resourceType": "Group", "type": "person", "actual": False, "characteristic": [one]})["id"]

    mixed, yes = group({"valueCodeableConcept": concept("female")}), group({"valueBoolean": True})
    assert found(doctor, "Group?characteristic-value=gender$female") == [mixed]
    assert found(doctor, "Group?characteristic-value=gender$true") == [yes]
    assert found(doctor, "Group?characteristic-value=gender$male") == []


def test_answers_about_somebody_are_found_by_item_subject(doctor, eva):
    url = "http://hl7.org/fhir/StructureDefinition/questionnaireresponse-isSubject"
    marked = {"url": url, "valueBoolean": True}
    item = {"linkId": "1", "answer": [{"valueReference": {"reference": eva}}]}
    asked = {"resourceType": "QuestionnaireResponse", "status": "completed"}
    doctor.made({**asked, "item": [item]})
    made = doctor.made({**asked, "item": [{**item, "extension": [marked]}]})
    assert found(doctor, f"QuestionnaireResponse?item-subject={eva}") == [made["id"]]


def test_canonical_is_found_with_and_without_its_version(doctor, eva):
    asked = {**further(eva)["QuestionnaireResponse"], "questionnaire": "http://example.org/Questionnaire/q|2"}
    made = doctor.made(asked)["id"]
    assert made in found(doctor, "QuestionnaireResponse?questionnaire=http://example.org/Questionnaire/q")
    assert made in found(doctor, "QuestionnaireResponse?questionnaire=http://example.org/Questionnaire/q|2")
    assert found(doctor, "QuestionnaireResponse?questionnaire=http://example.org/Questionnaire/q|1") == []


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("AllergyIntolerance", "patient={eva}&clinical-status=active"),
        ("CarePlan", "patient={eva}&status=active&intent=plan"),
        ("Coverage", "beneficiary={eva}&status=active"),
        ("Device", "patient={eva}&type=72506001"),
        ("DocumentReference", "patient={eva}&contenttype=text/plain"),
        ("Goal", "patient={eva}&lifecycle-status=active"),
        ("Group", "member={eva}&actual=true"),
        ("Immunization", "patient={eva}&vaccine-code=140"),
        ("Medication", "lot-number=L-1"),
        ("MedicationAdministration", "patient={eva}&effective-time=2026-03-02"),
        ("Procedure", "patient={eva}&date=2026-03"),
        ("Provenance", "patient={eva}&recorded=2026-03-02"),
        ("RelatedPerson", "patient={eva}&name=sist"),
        ("ServiceRequest", "patient={eva}&code=26604007&authored=2026-03-01"),
        ("Specimen", "patient={eva}&status=available"),
    ],
)
def test_resource_is_found_as_clients_ask(name, query):
    doctor = prescriber()
    whose, other = (f"Patient/{doctor.made(patient())['id']}" for _ in range(2))
    made = [doctor.made(further(one)[name])["id"] for one in (whose, other)]
    expected = [made[0]] if "{eva}" in query else made[::-1]
    assert sorted(found(doctor, f"{name}?{query.format(eva=whose)}")) == sorted(expected)


# -- Provenance ---------------------------------------------------------------------------------------------------------


def test_provenance_of_a_version_is_found_by_revinclude_and_everything():
    doctor = prescriber()
    whose = doctor.made(patient())
    own = f"Patient/{whose['id']}"
    allergy = doctor.made(further(own)["AllergyIntolerance"])
    versioned = f"AllergyIntolerance/{allergy['id']}/_history/1"
    told = doctor.made(further(own, about=versioned)["Provenance"])
    page = doctor.get(f"/AllergyIntolerance?_id={allergy['id']}&_revinclude=Provenance:target").json()
    assert [(one["resource"]["id"], one["search"]["mode"]) for one in page["entry"]] == [
        (allergy["id"], "match"),
        (told["id"], "include"),
    ]
    record = doctor.get(f"/Patient/{whose['id']}/$everything").json()
    modes = {one["resource"]["id"]: one["search"]["mode"] for one in record["entry"]}
    assert modes == {whose["id"]: "match", allergy["id"]: "match", told["id"]: "include"}
    only = doctor.get(f"/Patient/{whose['id']}/$everything?_type=AllergyIntolerance").json()
    assert [one["resource"]["id"] for one in only["entry"]] == [allergy["id"]]


# -- whose they are -----------------------------------------------------------------------------------------------------


def test_token_of_one_patient_sees_his_own_alone():
    clinic = Clinic()
    own = f"Patient/{clinic.ours['id']}"
    other = f"Patient/{clinic.theirs['id']}"
    for name in sorted(set(compartments.CONFINED) & set(FURTHER)):
        ours, theirs = clinic.doctor.made(further(own)[name]), clinic.doctor.made(further(other)[name])
        assert found(clinic.api, name) == [ours["id"]], name
        assert clinic.api.get(f"/{name}/{ours['id']}").status_code == 200, name
        for path in (
            f"/{name}/{theirs['id']}",
            f"/{name}/{theirs['id']}/_history",
            f"/{name}/{theirs['id']}/_history/1",
        ):
            assert clinic.api.get(path).status_code == 404, path
        refused = clinic.api.post(f"/{name}", further(other)[name])
        assert (refused.status_code, code_of(refused)) == (403, "outside_compartment"), name
        assert clinic.api.delete(f"/{name}/{theirs['id']}").status_code == 204
        assert clinic.doctor.get(f"/{name}/{theirs['id']}").status_code == 200, name


def test_device_of_nobody_is_not_shown_to_a_patient():
    clinic = Clinic()
    device = further("")["Device"]
    del device["patient"]
    made = clinic.doctor.made(device)
    assert clinic.api.get(f"/Device/{made['id']}").status_code == 404
    assert found(clinic.api, "Device") == []


def test_receptionist_reads_none_of_them(doctor, eva):
    person, _ = factories.member(doctor.tenant, ["clinic_receptionist"])
    desk = Fhir(factories.bearer(person), doctor.tenant)
    for name in FURTHER:
        assert desk.get(f"/{name}").status_code == 403, name


def test_other_tenant_finds_none_of_them(doctor, eva):
    stranger = prescriber()
    for name, resource in further(eva).items():
        made = doctor.made(resource)
        assert stranger.get(f"/{name}/{made['id']}").status_code == 404
        assert found(stranger, name) == []


def test_numbers_are_each_a_types_own():
    assert len(set(NUMBERS.values())) == len(NUMBERS) == 29
