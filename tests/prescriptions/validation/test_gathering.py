"""What a run reads, in the trip that locks the prescription: the record, the other prescriptions, the tables' rows."""

from uuid import UUID

import pytest
from django.db import connection, transaction

from core.clock import now
from core.db import bind_call, tenant_context
from core.pipeline import run
from fhir_api.models import AccessRecord
from prescriptions.medications.systems import BY_NAME, SNOMED, address_sql, uri_of
from prescriptions.validation.gathering import OwnedWithRecord, gather
from tests import factories
from tests.fhir_api.clients import patient
from tests.prescriptions.ward import AMOXICILLIN, RXNORM, done, item

FIND = OwnedWithRecord()
WARFARIN, IBUPROFEN, DIGOXIN, ALTEPLASE = ((RXNORM, code) for code in ("855332", "310965", "197604", "1804799"))
PENICILLIN, ASPIRIN, DIABETES = (SNOMED, "91936005"), (SNOMED, "293586001"), (SNOMED, "73211009")


def concept(*codings):
    return {"coding": [{"system": system, "code": code} for system, code in codings]}


ACTIVE = {"clinicalStatus": concept(("http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical", "active"))}


def prescribed(code):
    return item({"system": code[0], "code": code[1], "display": "A drug"})


@pytest.fixture
def anna(ward):
    """The reference of a patient of her own."""
    return {"reference": f"Patient/{ward.fhir.made(patient())['id']}"}


def key_of(whose):
    return whose["reference"].partition("/")[2]


def located(ward, key):
    tenant = ward.clinic.tenant.id
    with tenant_context(tenant):
        return run([FIND.locate(tenant, key)])[0]


def gathered(ward, one, rows=None):
    """Lock the prescription as an action does, and gather; `rows` are those of an earlier look-up."""
    key, actor = UUID(one["id"]), factories.actor_of(ward.clinic.tenant, ["prescriber"])
    rows = rows or located(ward, key)
    with transaction.atomic():
        run([bind_call(actor.tenant_id)])
        target = FIND(actor, key, located=rows)
        return gather(target, target.row.prescriber_id, now())


def test_tables_are_asked_for_all_that_prescription_others_and_record_name(ward, anna):
    allergy = {
        "resourceType": "AllergyIntolerance",
        **ACTIVE,
        "patient": anna,
        "code": concept(PENICILLIN, ("urn:unknown", "1")),
        "reaction": [
            {"substance": concept(ASPIRIN), "manifestation": [{"text": "rash"}]},
            {"manifestation": [{"text": "itch"}]},
        ],
    }
    taken = {"resourceType": "MedicationStatement", "status": "active", "subject": anna}
    for resource in (
        allergy,
        {"resourceType": "AllergyIntolerance", **ACTIVE, "patient": anna, "code": {"text": "Something"}},
        {"resourceType": "Condition", "subject": anna, "code": concept(DIABETES, IBUPROFEN)},
        {**taken, "medicationCodeableConcept": concept(ALTEPLASE)},
        {**taken, "medicationCodeableConcept": {"text": "Tea", "coding": [{"system": RXNORM}]}},
    ):
        ward.fhir.made(resource)
    ward.signed(prescribed(DIGOXIN), patient_id=key_of(anna))
    one = ward.draft(prescribed(WARFARIN), item(AMOXICILLIN), patient_id=key_of(anna))

    found = gathered(ward, one)

    amoxicillin = (RXNORM, AMOXICILLIN["code"])
    assert set(found.knowledge.medications) == {WARFARIN, amoxicillin, DIGOXIN, IBUPROFEN, ALTEPLASE}
    assert {(term.system, term.code) for term in found.knowledge.allergy_terms} == {PENICILLIN, ASPIRIN, IBUPROFEN}
    assert [one.items[0].code for one in found.others] == [DIGOXIN[1]]
    assert [len(some) for some in (found.record.allergies, found.record.conditions, found.record.statements)] == [
        2,
        1,
        2,
    ]


def test_nothing_of_another_patient_and_nothing_deleted_is_asked_for(ward, anna):
    elsewhere = {"reference": f"Patient/{ward.patient_id}"}
    statement = {"resourceType": "MedicationStatement", "status": "active"}
    ward.fhir.made({**statement, "subject": elsewhere, "medicationCodeableConcept": concept(ALTEPLASE)})
    gone = ward.fhir.made({**statement, "subject": anna, "medicationCodeableConcept": concept(IBUPROFEN)})
    assert ward.fhir.delete(f"/MedicationStatement/{gone['id']}").status_code in (200, 204)
    one = ward.draft(prescribed(WARFARIN), patient_id=key_of(anna))
    assert set(gathered(ward, one).knowledge.medications) == {WARFARIN}


def test_patient_that_was_changed_between_look_up_and_lock_is_read_anew(ward, anna):
    ward.fhir.made({"resourceType": "AllergyIntolerance", **ACTIVE, "patient": anna, "code": concept(PENICILLIN)})
    one = ward.draft(prescribed(WARFARIN))
    before = located(ward, UUID(one["id"]))
    body = ward.body(prescribed(WARFARIN), patient_id=key_of(anna))
    done(ward.prescriber.put(f"/v1/prescriptions/{one['id']}", json=body, headers={"If-Match": '"1"'}))

    found = gathered(ward, one, before)

    assert found.record.patient is not None
    assert found.record.patient["id"] == key_of(anna)
    assert {(term.system, term.code) for term in found.knowledge.allergy_terms} == {PENICILLIN}


def test_replay_of_a_validation_reads_no_record(ward, anna):
    one = ward.draft(patient_id=key_of(anna))
    key = {"Idempotency-Key": one["id"]}

    def ask():
        answer = ward.prescriber.post(f"/v1/prescriptions/{one['id']}/validate", json={}, headers=key)
        with tenant_context(ward.clinic.tenant.id):
            return answer.headers.get("Idempotency-Replayed"), AccessRecord.objects.filter(
                tenant_id=ward.clinic.tenant.id, interaction="validation"
            ).count()

    (_, noted), (replayed, again) = ask(), ask()
    assert (replayed, again) == ("true", noted)


def test_short_names_of_systems_are_the_same_in_sql(ward):
    names = [*BY_NAME, "RxNorm", " snomed ", "urn:other", RXNORM, ""]
    with tenant_context(ward.clinic.tenant.id), connection.cursor() as cursor:
        cursor.execute(f"SELECT {address_sql('n')} FROM unnest(%s::text[]) n", [names])
        assert [found for (found,) in cursor.fetchall()] == [uri_of(name) for name in names]
