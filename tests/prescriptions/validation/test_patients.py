"""The patient: identity, death, age, weight, pregnancy, lactation, kidneys and liver."""

from datetime import date
from fractions import Fraction

import pytest

from prescriptions.medications.knowledge import Interaction
from prescriptions.validation.codes import LOINC, SNOMED
from prescriptions.validation.facts import facts_of
from prescriptions.validation.facts.fhir import covers, first_day, last_day
from prescriptions.validation.facts.patients import age_in_years

from .cases import (
    TODAY,
    concept,
    condition,
    dose,
    found,
    gaps,
    inputs,
    item,
    observation,
    patient,
    quantity,
    tables,
    weight,
)

WARFARIN, IBUPROFEN, DIAZEPAM, METFORMIN, ACETAMINOPHEN = "855332", "310965", "563026", "860975", "313782"
PREGNANT = condition("77386006")


# -- identity and death -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "hits"),
    [
        (patient(), []),
        (patient(deceasedBoolean=False), []),
        (patient(deceasedBoolean=True), [("contraindicated", (1, 2))]),
        (patient(deceasedDateTime="2025-01-01"), [("contraindicated", (1, 2))]),
    ],
)
def test_death_of_the_patient(told, hits):
    assert found("patient.deceased", inputs(item(), item(line=2), patient=told)) == hits


@pytest.mark.parametrize(
    ("told", "hits"),
    [
        (patient(active=True), []),
        (patient(link=[{"type": "replaces", "other": {}}]), []),
        (None, [("contraindicated", (1,))]),
        (patient(active=False), [("contraindicated", (1,))]),
        (patient(link=[{"type": "replaced-by", "other": {}}]), [("contraindicated", (1,))]),
    ],
)
def test_identity_of_the_patient(told, hits):
    assert found("patient.identity", inputs(patient=told)) == hits


def test_patient_who_cannot_be_identified_is_told():
    assert gaps("patient.identity", inputs(patient={"birthDate": "1980-01-01"})) == ["no_name_or_birth_date"]
    assert gaps("patient.identity", inputs(patient=patient())) == []
    assert gaps("patient.deceased", inputs(patient=None)) == ["no_patient"]


# -- age and weight -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("born", "today", "age"),
    [
        ("2014-03-10", "2026-03-10", 12),
        ("2014-03-11", "2026-03-10", 11 + Fraction(364, 365)),
        ("2024-02-29", "2026-02-28", 1 + Fraction(364, 365)),
        ("2024-02-29", "2026-03-01", 2),
        ("2024-02-29", "2028-02-29", 4),
        ("2026-03-10", "2026-03-10", 0),
    ],
)
def test_age_is_exact(born, today, age):
    assert age_in_years(date.fromisoformat(born), date.fromisoformat(today)) == age


@pytest.mark.parametrize(
    ("born", "age"), [("2008", 17 + Fraction(69, 365)), ("2008-03", 17 + Fraction(344, 365)), ("2026", 0), ("2030-01-01", None), ("", None)]
)  # fmt: skip
def test_partial_birth_date_stands_for_its_last_day(born, age):
    assert facts_of(inputs(patient=patient(born))).patient.age == age


@pytest.mark.parametrize(("born", "hits"), [("2008-03-10", []), ("2008-03-11", [("high", (1,))])])
def test_age_limit_at_the_birthday(born, hits):
    assert found("age.limit", inputs(item(IBUPROFEN), patient=patient(born))) == hits


def test_upper_limit_of_age_is_exclusive():
    knowledge = tables(doses=[dose("ibuprofen", 1, ages=(0, 18))])
    assert found("age.limit", inputs(item(IBUPROFEN), patient=patient("2008-03-10"), knowledge=knowledge)) == [
        ("high", (1,))
    ]
    assert found("age.limit", inputs(item(IBUPROFEN), patient=patient("2008-03-11"), knowledge=knowledge)) == []


@pytest.mark.parametrize(
    ("told", "causes"),
    [
        (inputs(item(IBUPROFEN), patient={}), ["no_birth_date"]),
        (inputs(item(WARFARIN)), ["no_dose_table"]),
        (inputs(item(METFORMIN), patient={}), []),
        (inputs(item(IBUPROFEN)), []),
        (inputs(item(system="", code="", medication_text="a herb")), ["no_ingredients"]),
    ],
)
def test_age_that_is_not_evaluated(told, causes):
    assert (found("age.limit", told), gaps("age.limit", told)) == ([], causes)


@pytest.mark.parametrize(
    ("born", "observations", "hits"),
    [
        ("2014-03-11", [], [("moderate", (1,))]),
        ("2014-03-10", [], []),
        ("2014-03-11", [weight("30")], []),
        ("2014-03-11", [weight("30") | {"status": "entered-in-error"}], [("moderate", (1,))]),
        ("2014-03-11", [weight("30", "cm")], [("moderate", (1,))]),
    ],
)
def test_weight_of_a_child_is_required(born, observations, hits):
    told = inputs(item(ACETAMINOPHEN), patient=patient(born), observations=observations)
    assert found("weight.required", told) == hits


@pytest.mark.parametrize(("born", "hits"), [("2014-03-10", []), ("2014-03-11", [("moderate", (1,))])])
def test_weight_is_required_below_twelve_years_only(born, hits):
    knowledge = tables(doses=[dose("acetaminophen", 15, per_kg=True)])
    assert found("weight.required", inputs(item(ACETAMINOPHEN), patient=patient(born), knowledge=knowledge)) == hits


def test_weight_is_not_required_where_no_dose_goes_by_it():
    assert found("weight.required", inputs(item(METFORMIN), patient=patient("2020-01-01"))) == []


def test_weight_and_age_that_are_both_unknown_are_told():
    assert gaps("weight.required", inputs(item(ACETAMINOPHEN), patient={})) == ["no_birth_date"]
    assert gaps("weight.required", inputs(item(ACETAMINOPHEN))) == []


@pytest.mark.parametrize(
    ("observations", "kilograms"),
    [
        ([weight("70"), weight("80", when="2026-02-01")], 80),
        ([weight("80", when="2026-02-01"), weight("70")], 80),
        ([weight("70", when="2026-02-01T00:30:00+02:00"), weight("80", when="2026-01-31T23:00:00Z")], 80),
        ([weight("70", when="2026"), weight("80", when="2025-12")], 70),
        ([weight("70000", "g")], 70),
        ([weight("100", "[lb_av]")], Fraction("45.359237")),
        ([weight("70"), weight("1", "cm", when="2026-02-01")], 70),
        ([weight("70"), weight("80", when="2026-02-01") | {"status": "cancelled"}], 70),
        ([weight("70.10")], Fraction("70.1")),
        ([{"code": concept("29463-7", LOINC), "status": "final", "effectivePeriod": {"end": "2026-01-01"}, **quantity("71", "kg")}], 71),
        ([], None),
    ],
)  # fmt: skip
def test_newest_weight_in_kilograms(observations, kilograms):
    assert facts_of(inputs(observations=observations)).patient.weight == kilograms


# -- states -------------------------------------------------------------------------------------------------------------


def answered(code, answer, when="2026-01-01"):
    return observation(code, when, valueCodeableConcept=concept(answer, LOINC))


PREGNANCY = "82810-3"
YES, NO, UNKNOWN = "LA15173-0", "LA26683-5", "LA4489-6"


@pytest.mark.parametrize(
    "record",
    [
        {"conditions": [PREGNANT]},
        {"conditions": [condition("72892002")]},
        {"observations": [answered(PREGNANCY, YES)]},
        {"observations": [observation(PREGNANCY, valueCodeableConcept=concept("77386006", SNOMED))]},
        {"observations": [answered(PREGNANCY, YES, "2026-02-01"), answered(PREGNANCY, NO)]},
        {"observations": [answered(PREGNANCY, YES), answered(PREGNANCY, UNKNOWN, "2026-02-01")]},
        {"conditions": [PREGNANT], "observations": [answered(PREGNANCY, NO)]},
    ],
)
def test_pregnancy_is_found(record):
    assert found("pregnancy", inputs(item(WARFARIN), **record)) == [("contraindicated", (1,))]


def test_pregnancy_is_at_least_high():
    assert found("pregnancy", inputs(item(IBUPROFEN), conditions=[PREGNANT])) == [("high", (1,))]


@pytest.mark.parametrize(
    "record",
    [
        {"observations": [answered(PREGNANCY, NO)]},
        {"observations": [answered(PREGNANCY, NO, "2026-02-01"), answered(PREGNANCY, YES)]},
        {"conditions": [PREGNANT], "patient": patient(gender="male")},
    ],
)
def test_no_pregnancy_is_no_issue(record):
    assert (
        found("pregnancy", inputs(item(WARFARIN), **record)),
        gaps("pregnancy", inputs(item(WARFARIN), **record)),
    ) == ([], [])


@pytest.mark.parametrize(
    "told",
    [
        PREGNANT | {"clinicalStatus": concept("resolved")},
        PREGNANT | {"clinicalStatus": concept("remission")},
        PREGNANT | {"abatementDateTime": "2025-01-01"},
        PREGNANT | {"verificationStatus": concept("refuted")},
    ],
)
def test_pregnancy_that_is_over_leaves_the_state_unknown(told):
    assert gaps("pregnancy", inputs(item(WARFARIN), conditions=[told])) == ["not_recorded"]


@pytest.mark.parametrize(
    ("code", "drug"), [("pregnancy", WARFARIN), ("lactation", DIAZEPAM), ("renal", METFORMIN), ("hepatic", ACETAMINOPHEN)]
)  # fmt: skip
def test_state_that_nobody_recorded_is_told(code, drug):
    assert (found(code, inputs(item(drug))), gaps(code, inputs(item(drug)))) == ([], ["not_recorded"])


@pytest.mark.parametrize("code", ["pregnancy", "lactation", "renal", "hepatic"])
def test_drug_that_the_tables_do_not_judge_is_told(code):
    assert gaps(code, inputs(item("308192"), item(line=2, system="", code="", medication_text="a herb"))) == [
        "no_ingredients",
        "not_in_tables",
    ]


@pytest.mark.parametrize(
    ("record", "hits"),
    [
        ({"conditions": [condition("413712001")]}, [("high", (1,))]),
        ({"observations": [observation("63895-7", valueBoolean=True)]}, [("high", (1,))]),
        ({"observations": [answered("63895-7", "LA29252-6")]}, [("high", (1,))]),
        ({"observations": [answered("63895-7", "LA29253-4")]}, []),
        ({"observations": [observation("63895-7", valueBoolean=False)]}, []),
    ],
)
def test_lactation(record, hits):
    assert found("lactation", inputs(item(DIAZEPAM), **record)) == hits


@pytest.mark.parametrize("code", ["33914-3", "48642-3", "48643-1", "62238-1", "98979-8", "69405-9", "77147-7"])
@pytest.mark.parametrize(("rate", "hits"), [("59.9", [("moderate", (1,))]), ("60", [])])
def test_decreased_filtration_rate(code, rate, hits):
    told = [observation(code, **quantity(rate, "mL/min/{1.73_m2}"))]
    assert found("renal", inputs(item(METFORMIN), observations=told)) == hits
    assert gaps("renal", inputs(item(METFORMIN), observations=told)) == []


@pytest.mark.parametrize(("comparator", "hits"), [("<", [("moderate", (1,))]), (">", [])])
def test_comparator_of_a_filtration_rate_counts(comparator, hits):
    told = quantity("60", "mL/min")
    told["valueQuantity"]["comparator"] = comparator
    assert found("renal", inputs(item(METFORMIN), observations=[observation("62238-1", **told)])) == hits


def test_newest_filtration_rate_decides():
    old, new = (
        observation("62238-1", day, **quantity(rate, "mL/min"))
        for day, rate in [("2025-01-01", 40), ("2026-01-01", 80)]
    )
    assert found("renal", inputs(item(METFORMIN), observations=[old, new])) == []


@pytest.mark.parametrize(
    ("told", "hits"),
    [
        (condition("19943007"), [("moderate", (1,))]),
        (condition("K74.6", "http://hl7.org/fhir/sid/icd-10-cm"), [("moderate", (1,))]),
        (condition("B18.2", "http://hl7.org/fhir/sid/icd-10"), [("moderate", (1,))]),
        (condition("K74.6", SNOMED), []),
        (condition("K80.0", "http://hl7.org/fhir/sid/icd-10"), []),
        (condition("38341003"), []),
    ],
)
def test_disease_of_the_liver(told, hits):
    assert found("hepatic", inputs(item(ACETAMINOPHEN), conditions=[told])) == hits


def test_severity_of_the_table_counts_where_it_is_graver():
    rows = [Interaction("biguanides", "renal impairment", "contraindicated", "", "tenant")]
    told = [observation("62238-1", **quantity(20, "mL/min"))]
    assert found("renal", inputs(item(METFORMIN), observations=told, knowledge=tables(interactions=rows))) == [
        ("contraindicated", (1,))
    ]


# -- dates of FHIR ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024", "2024-01-01", "2024-12-31"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2025-12", "2025-12-01", "2025-12-31"),
        ("2025-12-07T10:00:00Z", "2025-12-07", "2025-12-07"),
        ("soon", None, None),
        ("2025-13", None, None),
    ],
)
def test_partial_dates(text, first, last):
    days = [day and day.isoformat() for day in (first_day(text), last_day(text))]
    assert days == [first, last]


@pytest.mark.parametrize(
    ("period", "holds"),
    [
        (None, True),
        ({}, True),
        ({"start": "2026-03-10", "end": "2026-03-10"}, True),
        ({"start": "2026-03-11"}, False),
        ({"end": "2026-03-09"}, False),
        ({"end": "2026-03"}, True),
        ({"end": "2026"}, True),
        ({"end": "9999"}, True),
        ({"end": "never"}, False),
    ],
)
def test_periods_hold_their_bounds(period, holds):
    assert covers(period, TODAY) is holds
