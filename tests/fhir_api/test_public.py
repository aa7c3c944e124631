"""The door of the clinical record: what other apps read, and the records that their reads leave."""

from dataclasses import replace

import pytest
from django.db import IntegrityError, ProgrammingError

from bench.statements import recording
from core.actor import system_actor
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api import public
from fhir_api.smart import OutsideScopes
from tests import factories
from tests.fhir_api.clients import observation, patient, vital_sign
from tests.fhir_api.noted import brief, log
from tests.fhir_api.ward import LOINC, RXNORM, WardRound, names, noted


@pytest.fixture(scope="module")
def ward():
    return WardRound()


@pytest.fixture(scope="module")
def elsewhere():
    return WardRound()


# -- read --------------------------------------------------------------------------------------------------------------


def test_named_resources_are_read_with_a_record_each(ward):
    wanted = names(ward.eva, *ward.statements)
    found, records = noted(ward, lambda: public.read(ward.actor, wanted))
    assert set(found) == set(wanted)
    shown = found["Patient", ward.eva["id"]]
    assert shown.resource() == ward.doctor.get(f"/Patient/{ward.eva['id']}").json()
    assert (shown.name, shown.version) == (wanted[0], 1)
    assert sorted(records) == sorted(("read", *name, [ward.eva["id"]], 1, 200) for name in wanted)


def test_record_of_a_read_names_who_read(ward):
    public.read(ward.actor, names(ward.eva))
    row = log(ward)[-1]
    assert (row.subject_id, row.credential, row.membership_id) == (
        ward.actor.subject_id,
        "session:test",
        ward.actor.membership_id,
    )


def test_read_within_the_callers_transaction_goes_back_with_it(ward):
    def work():
        with pytest.raises(IntegrityError), tenant_context(ward.tenant.id):
            assert set(public.read(ward.actor, names(ward.eva))) == set(names(ward.eva))
            raise IntegrityError

    assert noted(ward, work)[1] == []


def test_absent_deleted_and_foreign_resources_are_left_out_alike(ward, elsewhere):
    gone = ward.doctor.made(patient())
    assert ward.doctor.delete(f"/Patient/{gone['id']}").status_code == 204
    absent = ("Patient", uuid7_text())
    wanted = [absent, *names(gone, elsewhere.eva)]
    found, records = noted(ward, lambda: public.read(ward.actor, wanted))
    assert found == {}
    ends = {(kind, fhir_id): (whose, count, outcome) for _, kind, fhir_id, whose, count, outcome in records}
    assert ends == {absent: ([], 0, 404), names(gone)[0]: ([], 0, 410), names(elsewhere.eva)[0]: ([], 0, 404)}


def test_nothing_named_is_nothing_read(ward):
    assert noted(ward, lambda: public.read(ward.actor, [])) == ({}, [])


def test_staff_are_read_without_a_record(ward):
    nurse = ward.doctor.made({"resourceType": "Practitioner", "name": [{"family": "Nurse"}]})
    found, records = noted(ward, lambda: public.read(ward.actor, names(nurse)))
    assert (set(found), records) == (set(names(nurse)), [])


@pytest.mark.parametrize("role", ["clinic_receptionist", "supplier_admin"])
def test_read_of_what_the_actor_may_not_see_is_refused_and_nothing_is_recorded(ward, role):
    actor = factories.actor_of(ward.tenant, [role])

    def work():
        with pytest.raises(OutsideScopes):
            public.read(actor, names(ward.statements[0]))

    assert noted(ward, work)[1] == []


def test_rules_read_whatever_the_actor_may_see(ward):
    actor = factories.actor_of(ward.tenant, ["clinic_receptionist"])
    statement = ward.statements[0]
    found, records = noted(ward, lambda: public.read(actor, names(statement), for_rules=True))
    assert set(found) == set(names(statement))
    assert records == [("validation", "MedicationStatement", statement["id"], [ward.eva["id"]], 1, 200)]


def test_platform_itself_reads_everything(ward):
    assert set(public.read(system_actor(ward.tenant.id), names(ward.eva))) == set(names(ward.eva))


def test_token_of_one_patient_reads_his_record_only(ward):
    other = ward.doctor.made(patient())
    actor = replace(ward.actor, subject=replace(ward.actor.subject, patient=ward.eva["id"]))
    found, records = noted(ward, lambda: public.read(actor, names(ward.eva, other)))
    assert set(found) == set(names(ward.eva))
    assert ("read", "Patient", other["id"], [], 0, 404) in records


# -- of_patient --------------------------------------------------------------------------------------------------------

RECORD = ("Patient", "MedicationStatement", "Observation", "Condition")


def test_what_a_rule_needs_is_one_trip_and_one_record(ward):
    with recording() as record:
        found = public.of_patient(ward.actor, ward.eva["id"], RECORD)
    assert len(record) == 1, record.texts()
    assert [one.name for one in found] == [names(ward.eva)[0], *names(*reversed(ward.statements))]
    assert found[0].resource() == ward.doctor.get(f"/Patient/{ward.eva['id']}").json()
    row = log(ward)[-2]  # the last one is of the client's read
    assert (brief(row), row.parameters) == (("validation", "", "", [ward.eva["id"]], 3, 200), ["patient"])


def test_rules_read_of_one_patient_in_the_callers_transaction(ward):
    def work():
        with tenant_context(ward.tenant.id):
            return public.of_patient(ward.actor, ward.eva["id"], ["Patient"])

    found, records = noted(ward, work)
    assert ([one.name for one in found], len(records)) == (names(ward.eva), 1)


def test_codes_narrow_their_type_only(ward):
    whose = ward.doctor.made(patient())
    subject = f"Patient/{whose['id']}"
    weighed = ward.doctor.made(vital_sign(subject, "29463-7", 71, "kg"))
    ward.doctor.made(observation(subject))
    stated = ward.statement(whose, "855332")

    def of(*codes):
        found = public.of_patient(ward.actor, whose["id"], RECORD, {"Observation": codes})
        return {one.name for one in found} - set(names(whose, stated))

    weight, creatinine = f"{LOINC}|29463-7", f"{LOINC}|2160-0"
    assert of(weight) == of(weight, "none") == set(names(weighed))
    assert of(f"{RXNORM}|29463-7") == of("|29463-7") == of("29463-7") == of() == set()
    assert len(of(weight, creatinine)) == 2
    assert log(ward)[-1].parameters == ["code", "patient"]


def test_rules_read_the_newest_of_each_code(ward):
    whose = ward.doctor.made(patient())
    subject = f"Patient/{whose['id']}"
    days = [f"2026-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 28)]
    weights = [
        ward.doctor.made(vital_sign(subject, "29463-7", 60 + number, "kg", effectiveDateTime=day))
        for number, day in enumerate(days)
    ]
    old = ward.doctor.made(vital_sign(subject, "8302-2", 170, "cm", effectiveDateTime="2001-01-01"))
    found = public.of_patient(
        ward.actor, whose["id"], ["Observation"], {"Observation": [f"{LOINC}|29463-7", f"{LOINC}|8302-2"]}
    )
    assert len(days) > 50
    assert [one.name for one in found] == names(*reversed(weights[-50:]), old)


def test_rules_read_nothing_of_other_patients_performers_and_the_past(ward):
    whose, child = ward.doctor.made(patient()), ward.doctor.made(patient())
    of_whose = {"reference": f"Patient/{whose['id']}"}
    ward.doctor.made(observation(f"Patient/{child['id']}", performer=[of_whose]))
    left = ward.doctor.made(observation(f"Patient/{whose['id']}"))
    moved = {**left, "subject": {"reference": f"Patient/{child['id']}"}}
    assert ward.doctor.put(f"/Observation/{left['id']}", moved).status_code == 200
    gone = ward.doctor.made(observation(f"Patient/{whose['id']}"))
    assert ward.doctor.delete(f"/Observation/{gone['id']}").status_code == 204
    assert [one.name for one in public.of_patient(ward.actor, whose["id"], RECORD)] == names(whose)


def test_rules_read_nothing_of_another_tenants_patient(ward, elsewhere):
    found, records = noted(ward, lambda: public.of_patient(ward.actor, elsewhere.eva["id"], RECORD))
    assert (found, records) == ([], [("validation", "", "", [elsewhere.eva["id"]], 0, 200)])


def test_rules_read_whatever_the_scopes(ward):
    actor = replace(ward.actor, scopes=frozenset())
    assert len(public.of_patient(actor, ward.eva["id"], RECORD)) == 3


@pytest.mark.parametrize(
    ("types", "codes"),
    [(["Practitioner"], {}), (["Patient"], {"Observation": ["1"]}), (["Encounter"], {"Encounter": ["1"]})],
)
def test_rules_that_ask_for_what_cannot_be_are_told_so(ward, types, codes):
    def work():
        with pytest.raises(ValueError, match=r"type|code"):
            public.of_patient(ward.actor, ward.eva["id"], types, codes)

    assert noted(ward, work)[1] == []


# -- record_read -------------------------------------------------------------------------------------------------------


def test_read_outside_of_fhir_leaves_a_record_by_patient(ward):
    what = public.Access("verified", "Prescription", uuid7_text(), count=2, reason="found on the floor of the ward")
    ids = [ward.eva["id"], "b", "a", "b"]
    _, records = noted(ward, lambda: public.record_read(ward.actor, ids, what))
    assert records == [("verified", "Prescription", what.fhir_id, sorted(set(ids)), 2, 200)]
    assert log(ward)[-1].reason == "found on the floor of the ward"
    assert what.patients == ()


def test_list_of_nothing_leaves_a_record_too(ward):
    _, records = noted(ward, lambda: public.record_read(ward.actor, [], public.Access("appt.list", "Appointment")))
    assert records == [("appt.list", "Appointment", "", [], 0, 200)]


def test_record_goes_back_with_the_callers_transaction_and_is_its_tenants_own(ward, elsewhere):
    def work():
        with pytest.raises(IntegrityError), tenant_context(ward.tenant.id):
            public.record_read(ward.actor, ["a"], public.Access("read", "Prescription"))
            raise IntegrityError

    assert noted(ward, work)[1] == []
    with pytest.raises(ProgrammingError, match="not bound"), tenant_context(elsewhere.tenant.id):
        public.record_read(ward.actor, ["a"], public.Access("read", "Prescription"))
    assert noted(ward, lambda: None)[1] == []
