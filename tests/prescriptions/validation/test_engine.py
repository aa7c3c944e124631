"""Runs: the registry, outcome, needs, overrides and their refusals, fingerprints, digests, and real records."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from prescriptions.lifecycle.refusals import SeparationOfDuties
from prescriptions.validation.engine import ENGINE_VERSION, Outcome, run
from prescriptions.validation.inputs import OtherPrescription, Prescriber
from prescriptions.validation.issues import NEEDS, Override, Severity, overrides_of
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

from .cases import (
    AMOXICILLIN,
    AT,
    IBUPROFEN,
    NAPROXEN,
    VERSIONS,
    WARFARIN,
    allergy,
    inputs,
    issue,
    item,
    policies,
    statement,
    tables,
    tablets,
)

# Source: contract, prescriptions.md, "Clinical validation".
TABLE = [
    "allergy.exact", "allergy.class", "duplicate.ingredient", "duplicate.class", "interaction.drug_drug",
    "dose.single_max", "dose.daily_max", "dose.below_min", "age.limit", "weight.required", "pregnancy", "lactation",
    "renal", "hepatic", "route.form", "schedule.policy", "quantity.days_supply", "quantity.max", "patient.deceased",
    "patient.identity", "prescriber.authority",
]  # fmt: skip
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
