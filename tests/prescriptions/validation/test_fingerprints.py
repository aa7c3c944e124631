"""Fingerprints and digests, which tell what the rules read; and runs over real records."""

import json
import random
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from prescriptions.medications.knowledge import TableVersion
from prescriptions.validation.codes import RXNORM
from prescriptions.validation.engine import inputs_digest, run
from prescriptions.validation.inputs import OtherPrescription, PatientRecord, Prescriber
from prescriptions.validation.issues import Finding, Severity
from prescriptions.validation.overrides import Overrider
from tests.fhir_api import data

from .cases import (
    AMOXICILLIN,
    AT,
    IBUPROFEN,
    KNOWLEDGE,
    MEDICATIONS,
    METFORMIN,
    NAPROXEN,
    NO_ALLERGIES,
    TODAY,
    VERSIONS,
    WARFARIN,
    allergy,
    condition,
    inputs,
    issue,
    item,
    observation,
    patient,
    policies,
    quantity,
    statement,
    tables,
    tablets,
    weight,
)

PRESCRIBER = Overrider(by="m-1", may_override=True, may_sign=True, is_author=False)
ALLERGIC = {"allergies": [allergy("294505008")]}


# -- fingerprints -------------------------------------------------------------------------------------------------------


FULL = {
    "conditions": [condition("77386006"), condition("19943007"), condition("38341003")],
    "statements": [statement(WARFARIN), statement(NAPROXEN, "s2"), statement("313782", "s3")],
    "observations": [weight("70"), weight("71", when="2026-02-01"), observation("62238-1", **quantity(40, "mL/min"))],
    "allergies": [allergy("294505008"), allergy("91936005"), NO_ALLERGIES],
    "others": [OtherPrescription("o1", "RX-1", [item(WARFARIN)]), OtherPrescription("o2", "RX-2", [item(IBUPROFEN)])],
}
CODES = [AMOXICILLIN, "834101", WARFARIN, IBUPROFEN, "1804799", "1049221", METFORMIN]


def shuffled(told, draw):
    """The same inputs, everything in another order and items on other lines."""

    def mixed(some):
        return sorted(some, key=lambda _: draw.random())

    record = told.record
    lines = mixed(range(1, len(told.items) + 1))
    return replace(
        told,
        items=mixed([replace(one, line=line) for one, line in zip(told.items, lines, strict=True)]),
        others=mixed(told.others),
        record=PatientRecord(
            record.patient,
            mixed(record.allergies),
            mixed(record.conditions),
            mixed(record.statements),
            mixed(record.observations),
        ),
        knowledge=replace(
            KNOWLEDGE,
            interactions=tuple(mixed(KNOWLEDGE.interactions)),
            doses=tuple(mixed(KNOWLEDGE.doses)),
            allergy_terms=tuple(mixed(KNOWLEDGE.allergy_terms)),
            medications=dict(mixed(KNOWLEDGE.medications.items())),
        ),
    )


@for_all(st.lists(st.sampled_from(CODES), min_size=1, max_size=5, unique=True), st.randoms(use_true_random=False))
def test_fingerprints_do_not_depend_on_any_order(codes, draw):
    told = inputs(*(item(code, line=line) for line, code in enumerate(codes, 1)), **FULL)
    there, here = run(told), run(shuffled(told, draw))
    assert {one.fingerprint for one in there.issues} == {one.fingerprint for one in here.issues}
    assert there.outcome == here.outcome


@for_all(st.sampled_from(["line", "quantity", "days_supply", "display", "fills_allowed"]), st.integers(2, 60))
def test_what_no_rule_of_them_read_does_not_change_fingerprints(member, value):
    told = inputs(item(AMOXICILLIN), **FULL)
    changed = str(value) if member == "display" else Decimal(value) if member == "quantity" else value
    other = replace(told, items=[replace(told.items[0], **{member: changed})])
    assert {one.fingerprint for one in run(told).issues} == {one.fingerprint for one in run(other).issues}


@for_all(st.integers(6, 200), st.integers(6, 200))
def test_dose_that_was_read_changes_the_fingerprint(one, other):
    # 6 or more tablets of 200 mg exceed the maximum
    prints = [
        issue(inputs(item(IBUPROFEN, dosage=[tablets(str(count))])), "dose.single_max").fingerprint
        for count in (one, other)
    ]
    assert (prints[0] == prints[1]) is (one == other)


def test_equal_numbers_have_equal_fingerprints():
    prints = {
        issue(inputs(item(IBUPROFEN, dosage=[tablets(count)])), "dose.single_max").fingerprint
        for count in ("6", "6.0", "6.000")
    }
    assert len(prints) == 1


def test_two_items_of_one_finding_are_one_issue_on_both_lines():
    told = inputs(item(AMOXICILLIN), item(AMOXICILLIN, line=4), **ALLERGIC)
    assert issue(told, "allergy.exact").lines == (1, 4)


def test_missing_data_are_told_once_for_each_rule_and_cause():
    told = inputs(*(item(str(line), line=line) for line in range(1, 6)), allergies=())
    gaps = [(one.code, one.message) for one in run(told).issues if not one.evaluated]
    assert len(gaps) == len(set(gaps))
    assert {one.lines for one in run(told).issues if one.code == "age.limit"} == {(1, 2, 3, 4, 5)}


def test_verdict_is_part_of_the_fingerprint():
    one = Finding("x", Severity.HIGH, (1,), "a", {"read": 1})
    assert one.fingerprint == replace(one, lines=(2,), message="b").fingerprint
    assert (
        len({one.fingerprint, replace(one, severity=Severity.LOW).fingerprint, replace(one, code="y").fingerprint}) == 3
    )


# -- digest of the inputs -----------------------------------------------------------------------------------------------


@for_all(st.randoms(use_true_random=False))
def test_digest_does_not_depend_on_the_order_of_the_record(draw):
    told = inputs(item(AMOXICILLIN), **FULL)
    assert inputs_digest(told) == inputs_digest(shuffled(told, draw)) == run(told).inputs_digest


BASE = inputs(item(AMOXICILLIN), **FULL)


@pytest.mark.parametrize(
    "changed",
    [
        replace(BASE, items=[item(AMOXICILLIN, quantity=Decimal(31))]),
        replace(BASE, items=[item(AMOXICILLIN, line=2)]),
        replace(BASE, policies=policies(max_days_supply=5)),
        replace(BASE, today=TODAY + timedelta(days=1)),
        replace(BASE, language="de"),
        replace(BASE, knowledge=replace(KNOWLEDGE, versions=(*VERSIONS, TableVersion("allergy-map", "tenant-1")))),
        replace(BASE, knowledge=tables([replace(row, strength="1 mg") for row in MEDICATIONS])),
        replace(BASE, others=BASE.others[:1]),
        replace(BASE, prescriber=replace(BASE.prescriber, practitioner_id="another")),
        replace(BASE, record=replace(BASE.record, allergies=BASE.record.allergies[:1])),
        replace(
            BASE, record=replace(BASE.record, observations=[weight("72", when="2026-03-01"), *BASE.record.observations])
        ),
        replace(BASE, record=replace(BASE.record, conditions=())),
        replace(BASE, record=replace(BASE.record, patient=patient(deceasedBoolean=True))),
        replace(BASE, record=replace(BASE.record, patient=None)),
    ],
)
def test_digest_changes_with_what_rules_read(changed):
    assert inputs_digest(changed) != inputs_digest(BASE)


@pytest.mark.parametrize(
    "changed",
    [
        replace(BASE, at=AT + timedelta(hours=3)),
        replace(BASE, record=replace(BASE.record, patient=patient(telecom=[{"value": "555"}]))),
        replace(
            BASE,
            record=replace(
                BASE.record, observations=[*BASE.record.observations, observation("8302-2", **quantity(180, "cm"))]
            ),
        ),
        replace(BASE, record=replace(BASE.record, conditions=[*BASE.record.conditions, condition("195662009")])),
    ],
)
def test_digest_does_not_change_with_what_no_rule_reads(changed):
    assert inputs_digest(changed) == inputs_digest(BASE)


# -- real records -------------------------------------------------------------------------------------------------------

KINDS = {
    "AllergyIntolerance": "allergies",
    "Condition": "conditions",
    "MedicationStatement": "statements",
    "Observation": "observations",
}


def synthea():
    """The records of real bundles; what is prescribed in them is taken as stated to be taken."""
    for line in data.lines("patient_transactions_small20.ndjson.gz"):
        resources = [entry["resource"] for entry in json.loads(line, parse_float=Decimal)["entry"]]
        members = {name: [one for one in resources if one["resourceType"] == kind] for kind, name in KINDS.items()}
        members["statements"] = [
            {
                "resourceType": "MedicationStatement",
                "id": str(number),
                "status": one["status"],
                **{k: one[k] for k in one if k.startswith("medication")},
            }
            for number, one in enumerate(resources)
            if one["resourceType"] == "MedicationRequest"
        ]
        (who,) = [one for one in resources if one["resourceType"] == "Patient"]
        yield PatientRecord(who, **members)


def test_engine_runs_over_real_records():
    told, weighed, given = set(), 0, random.Random(7)
    for record in synthea():
        items = [
            item(code, line=line) for line, code in enumerate(given.sample([row.code for row in MEDICATIONS], 5), 1)
        ]
        todo = replace(inputs(*items), record=record, today=date(2021, 8, 1))
        done = run(todo)
        assert done == replace(run(todo), duration_ms=done.duration_ms)
        told |= {one.code for one in done.issues}
        weighed += not any(one.code == "weight.required" and one.evaluated for one in done.issues)
    assert told >= {"allergy.exact", "age.limit", "renal", "pregnancy", "duplicate.class"} | {"dose.below_min"}
    assert weighed >= 18  # Synthea weighs nearly everybody


@for_all(
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 9) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    )
)
def test_any_strength_dose_or_unit_is_taken(value):
    told = inputs(
        item(
            IBUPROFEN,
            dosage=[
                {
                    "text": "x",
                    "dose": {"value": str(value), "unit": str(value)},
                    "frequency": value if isinstance(value, int) else None,
                    "period_unit": str(value),
                }
            ],
        )
    )
    assert run(told).issues


def test_engine_runs_over_the_official_examples():
    who = data.examples("Patient")
    members = {name: data.examples(kind) for kind, name in KINDS.items()} | {"medications": data.examples("Medication")}
    assert all(members.values())
    for patient_, practitioner in zip(who, data.examples("Practitioner") * len(who), strict=False):
        signer = Prescriber(practitioner["id"], practitioner)
        assert run(replace(inputs(item(), prescriber=signer), record=PatientRecord(patient_, **members))).issues


def test_run_names_the_rules_source_in_no_message():
    assert not any(RXNORM in one.message for one in run(inputs(item(AMOXICILLIN), **FULL)).issues)
