"""Runs: the registry, outcome, needs, overrides and their refusals, fingerprints, digests, and real records."""

import json
import random
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from prescriptions.lifecycle.refusals import SeparationOfDuties
from prescriptions.medications.knowledge import TableVersion
from prescriptions.validation.codes import RXNORM
from prescriptions.validation.engine import ENGINE_VERSION, Outcome, inputs_digest, run
from prescriptions.validation.inputs import OtherPrescription, PatientRecord, Prescriber
from prescriptions.validation.issues import NEEDS, Finding, Override, Severity, overrides_of
from prescriptions.validation.overrides import Overrider, OverrideRequest
from prescriptions.validation.refusals import (
    OverrideNotAllowed,
    OverrideNotPermitted,
    OverrideReasonRequired,
    UnknownIssue,
)
from prescriptions.validation.rules import RULES
from prescriptions.validation.rules.registry import ClinicalRule, register
from prescriptions.vocabularies import OVERRIDE
from tests.fhir_api import data

from .cases import (
    AT,
    KNOWLEDGE,
    MEDICATIONS,
    NO_ALLERGIES,
    TODAY,
    VERSIONS,
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

# Source: contract, prescriptions.md, "Clinical validation".
TABLE = [
    "allergy.exact", "allergy.class", "duplicate.ingredient", "duplicate.class", "interaction.drug_drug",
    "dose.single_max", "dose.daily_max", "dose.below_min", "age.limit", "weight.required", "pregnancy", "lactation",
    "renal", "hepatic", "route.form", "schedule.policy", "quantity.days_supply", "quantity.max", "patient.deceased",
    "patient.identity", "prescriber.authority",
]  # fmt: skip
AMOXICILLIN, WARFARIN, IBUPROFEN, NAPROXEN, METFORMIN = "308192", "855332", "310965", "849574", "860975"
PRESCRIBER = Overrider(by="m-1", may_override=True, may_sign=True, is_author=False)
ALLERGIC = {"allergies": [allergy("294505008")]}


def test_every_code_of_the_contract_has_a_rule_and_no_other():
    assert sorted(RULES) == sorted(TABLE)
    assert all(rule.code == code for code, rule in RULES.items())


def test_second_rule_of_one_code_is_refused():
    with pytest.raises(ValueError, match=r"allergy\.exact"):

        @register
        class Another(ClinicalRule):
            code = "allergy.exact"

            def find(self, facts):
                yield from ()

    assert type(RULES["allergy.exact"]).__name__ == "AllergyExact"


@pytest.mark.parametrize("code", TABLE)
def test_no_rule_is_silent_about_an_empty_record_and_empty_tables(code):
    limits = policies(max_days_supply=30, max_quantity=[{"code": "77", "value": "1", "unit": "mL"}])
    told = inputs(
        item("77"),
        item("78", line=2),
        patient=None,
        allergies=(),
        statements=[statement("99")],
        prescriber=Prescriber(),
        knowledge=tables([], [], [], []),
        policies=limits,
    )
    assert code in {one.code for one in run(told).issues}


def test_needs_follow_the_severity():
    assert {severity.value: needs.value for severity, needs in NEEDS.items()} == {
        "info": "none",
        "low": "none",
        "moderate": "acknowledge",
        "high": "override",
        "contraindicated": "override",
        "blocking": "none",
    }


# -- outcome ------------------------------------------------------------------------------------------------------------


def asked(one, reason="monitoring_in_place", text=""):
    return OverrideRequest(one.fingerprint, reason, text)


def test_run_without_issues_that_need_something_passes():
    done = run(inputs(item("313782", dosage=[tablets("2", 3)])))
    assert (done.outcome, done.engine_version, done.knowledge) == (
        Outcome.PASSED,
        ENGINE_VERSION,
        tuple(sorted(VERSIONS, key=lambda one: one.table)),
    )
    assert {one.severity for one in done.issues} == {Severity.INFO}
    assert isinstance(done.duration_ms, int)


def test_high_issue_blocks_until_it_is_overridden():
    told = inputs(item(IBUPROFEN), others=[OtherPrescription("o", "RX-1", [item(WARFARIN)])])
    high = issue(told, "interaction.drug_drug")
    assert (high.severity, high.needs, run(told).outcome) == ("high", "override", "blocked")
    done = run(told, [asked(high)], PRESCRIBER)
    assert done.outcome == "passed_with_overrides"
    (given,) = [one for one in done.issues if one.override]
    assert (given.fingerprint, given.override) == (high.fingerprint, Override("monitoring_in_place", "", "m-1", AT))


def test_moderate_issue_needs_an_acknowledgement_which_is_no_override():
    told = inputs(item(IBUPROFEN), others=[OtherPrescription("o", "RX-1", [item(NAPROXEN)])])
    moderate = issue(told, "duplicate.class")
    assert (moderate.needs, run(told).outcome) == ("acknowledge", "blocked")
    assert run(told, [OverrideRequest(moderate.fingerprint)], PRESCRIBER).outcome == "passed"


def test_low_issue_passes():
    told = inputs(item(WARFARIN), others=[OtherPrescription("o", "RX-1", [item("313782")])])
    assert (issue(told, "interaction.drug_drug").severity, run(told).outcome) == ("low", "passed")


def test_blocking_issue_blocks():
    told = inputs(item("563026"))
    assert (issue(told, "schedule.policy").needs, run(told).outcome) == ("none", "blocked")


def test_issues_are_ordered_by_gravity():
    done = run(inputs(item(WARFARIN), item("1804799", line=2), item(IBUPROFEN, line=3), item("563026", line=4)))
    ranks = [one.severity.rank for one in done.issues]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] == Severity.BLOCKING.rank


# -- refusals of overrides ----------------------------------------------------------------------------------------------


def contraindicated(**changes):
    return inputs(item(AMOXICILLIN), **ALLERGIC, **changes)


ALLOWED = {"policies": policies(allow_contraindicated_override=True)}


def test_overrides_of_who_may_give_none_are_refused():
    with pytest.raises(OverrideNotPermitted):
        run(inputs(), [OverrideRequest("unknown")], replace(PRESCRIBER, may_override=False))
    assert run(inputs(), [], replace(PRESCRIBER, may_override=False)).outcome == "passed"


def test_unknown_fingerprint_is_refused():
    told = contraindicated()
    with pytest.raises(UnknownIssue) as refusal:
        run(told, [asked(issue(told, "allergy.exact"), reason=""), OverrideRequest("f" * 64)], PRESCRIBER)
    assert (refusal.value.code, refusal.value.extra) == ("unknown_issue", {"fingerprint": "f" * 64})


@pytest.mark.parametrize(
    ("reason", "text"), [("", ""), ("nonsense", "a long enough text"), ("other", ""), ("other", "  short    ")]
)
def test_override_without_its_reason_is_refused(reason, text):
    told = contraindicated()
    with pytest.raises(OverrideReasonRequired):
        run(told, [asked(issue(told, "allergy.exact"), reason, text)], replace(PRESCRIBER, is_author=True))


@pytest.mark.parametrize("reason", OVERRIDE)
def test_reasons_of_the_contract_are_taken(reason):
    told = contraindicated(**ALLOWED)
    given = asked(issue(told, "allergy.exact"), reason, "ten or more")
    assert run(told, [given], PRESCRIBER).outcome == "passed_with_overrides"


@pytest.mark.parametrize("changes", [{"is_author": True}, {"may_sign": False}])
def test_what_is_contraindicated_is_not_the_authors_to_override(changes):
    told = contraindicated()  # the policy forbids it too, which is checked later
    with pytest.raises(SeparationOfDuties):
        run(told, [asked(issue(told, "allergy.exact"))], replace(PRESCRIBER, **changes))


def test_what_the_policy_forbids_is_not_overridden():
    told = contraindicated()
    with pytest.raises(OverrideNotAllowed):
        run(told, [asked(issue(told, "allergy.exact"))], PRESCRIBER)


def test_what_is_blocking_is_not_overridden():
    told = inputs(item("563026"))
    with pytest.raises(OverrideNotAllowed):
        run(told, [asked(issue(told, "schedule.policy"))], PRESCRIBER)


def test_author_overrides_what_is_high():
    told = inputs(item(IBUPROFEN), others=[OtherPrescription("o", "RX-1", [item(WARFARIN)])])
    given = [asked(issue(told, "interaction.drug_drug"))]
    assert run(told, given, replace(PRESCRIBER, is_author=True, may_sign=False)).outcome == "passed_with_overrides"


# -- overrides of a former run ------------------------------------------------------------------------------------------


def former_of(done):
    """The overrides of a run as the next one gets them: from its stored issues."""
    return overrides_of(json.loads(json.dumps([one.as_json() for one in done.issues])))


def test_issue_is_stored_as_the_contract_has_it():
    told = contraindicated(**ALLOWED)
    one = issue(told, "allergy.exact")
    form = {
        "code": "allergy.exact",
        "severity": "contraindicated",
        "lines": [1],
        "message": f"An allergy to code 294505008 is recorded; drug {AMOXICILLIN} is or contains it.",
        "fingerprint": one.fingerprint,
        "evaluated": True,
        "needs": "override",
        "override": None,
    }
    assert one.as_json() == form
    given = run(told, [asked(one, "other", "seen before, no rash")], PRESCRIBER).issues[0].as_json()
    told_by = {"reason_code": "other", "text": "seen before, no rash", "by": "m-1", "at": "2026-03-10T09:30:00.000Z"}
    assert given == {**form, "override": told_by}


def overridden(told, code):
    return former_of(run(told, [asked(issue(told, code))], PRESCRIBER))


def test_override_of_a_former_run_holds_where_the_fingerprint_is_the_same():
    told = inputs(item(IBUPROFEN), others=[OtherPrescription("o", "RX-1", [item(WARFARIN)])])
    former = overridden(told, "interaction.drug_drug")
    changed = replace(told, items=[item(IBUPROFEN, line=7, quantity=Decimal(99))])
    assert run(changed, former=former).outcome == "passed_with_overrides"
    assert former_of(run(changed, former=former)) == former


def test_override_of_a_former_run_lapses_with_what_the_rule_read():
    told = inputs(item(IBUPROFEN), others=[OtherPrescription("o", "RX-1", [item(WARFARIN)])])
    former = overridden(told, "interaction.drug_drug")
    assert run(replace(told, items=[item(NAPROXEN)]), former=former).outcome == "blocked"


def test_override_of_what_is_contraindicated_lapses_with_the_policy():
    former = overridden(contraindicated(**ALLOWED), "allergy.exact")
    assert run(contraindicated(**ALLOWED), former=former).outcome == "passed_with_overrides"
    assert run(contraindicated(), former=former).outcome == "blocked"


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
