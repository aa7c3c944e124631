"""What the clinical rules look up: one statement, the tenant's rows over the platform's, and no more than was asked."""

from dataclasses import replace
from decimal import Decimal

import pytest

from bench.statements import recording
from core.db import tenant_context
from organizations.models import Tenant
from prescriptions.medications.comparison import Comparison, compare
from prescriptions.medications.knowledge import AllergyTerm, Dose, Interaction, Knowledge, Medication, TableVersion
from prescriptions.medications.patient_states import PATIENT_STATES
from prescriptions.medications.queries import comparable, knowledge
from tests.factories import provision
from tests.prescriptions.medications.files import RXNORM, SNOMED, load_rows, medication

WARFARIN, IBUPROFEN, ALTEPLASE = (RXNORM, "855332"), (RXNORM, "310965"), (RXNORM, "1804799")
PENICILLIN_ALLERGY = (SNOMED, "91936005")


def pairs(found: Knowledge) -> set[tuple[str, str, str]]:
    return {(one.a, one.b, one.severity) for one in found.interactions if not {one.a, one.b} & PATIENT_STATES}


def test_knowledge_holds_all_that_a_run_looks_up(hospital: Tenant) -> None:
    found = knowledge(hospital.id, [WARFARIN, IBUPROFEN], [PENICILLIN_ALLERGY, (SNOMED, "0")])

    assert found.medications[WARFARIN] == Medication(
        system=RXNORM,
        code="855332",
        display="Warfarin Sodium 5 MG Oral Tablet",
        ingredients=("warfarin",),
        classes=("anticoagulants", "vitamin k antagonists"),
        form="oral tablet",
        strength="5",
        unit="mg",
        schedule="none",
        source="platform",
        version=1,
    )
    assert set(found.medications) == {WARFARIN, IBUPROFEN}
    assert pairs(found) == {("ibuprofen", "warfarin", "high")}
    assert found.doses == (
        Dose("ibuprofen", "oral", Decimal(12), None, None, None, Decimal(800), Decimal(3200), "mg", False),
        Dose("ibuprofen", "oral", None, Decimal(12), None, None, Decimal(10), Decimal(40), "mg", True),
        Dose("warfarin", "oral", Decimal(18), None, None, None, Decimal(10), Decimal(10), "mg", False),
    )
    assert found.allergy_terms == (AllergyTerm(SNOMED, "91936005", "class", "penicillins"),)
    assert found.versions == tuple(
        TableVersion(table, "platform-1-demonstration")
        for table in ("allergy_map", "doses", "interactions", "medications")
    )


def test_demonstration_tables_hold_the_stories_of_the_contract(hospital: Tenant) -> None:
    amoxicillin, penicillin = (RXNORM, "308192"), (RXNORM, "834060")
    controlled = [(RXNORM, code) for code in ("1049221", "1091166", "563026")]
    acetaminophen = (RXNORM, "313782")

    found = knowledge(hospital.id, [WARFARIN, ALTEPLASE, amoxicillin, penicillin, acetaminophen, *controlled])

    assert ("alteplase", "warfarin", "contraindicated") in pairs(found)
    assert "penicillins" in found.medications[amoxicillin].classes
    assert "penicillins" in found.medications[penicillin].classes
    assert [found.medications[one].schedule for one in controlled] == ["II", "II", "IV"]
    (adult,) = (dose for dose in found.doses if dose.ingredient == "acetaminophen" and not dose.per_kg)
    assert (adult.single_max, adult.daily_max, adult.unit) == (Decimal(1000), Decimal(4000), "mg")


def test_asking_for_nothing_or_the_unknown_finds_nothing(hospital: Tenant) -> None:
    for medications in ([], [(RXNORM, "0"), ("urn:x", 'a"b\\{,}')]):
        found = knowledge(hospital.id, medications)
        assert (found.medications, found.interactions, found.doses, found.allergy_terms) == ({}, (), (), ())
        assert len(found.versions) == 4


def test_system_may_be_given_by_its_short_name(hospital: Tenant) -> None:
    found = knowledge(hospital.id, [("rxnorm", "855332")], [("snomed", "387207008")])

    assert found.medications["rxnorm", "855332"].system == RXNORM
    assert found.allergy_terms == (AllergyTerm("snomed", "387207008", "ingredient", "ibuprofen"),)


def test_allergy_by_the_code_of_a_medication_names_its_ingredients(hospital: Tenant) -> None:
    found = knowledge(hospital.id, [WARFARIN], [(RXNORM, "824184")])

    assert {(one.kind, one.value) for one in found.allergy_terms} == {
        ("ingredient", "amoxicillin"),
        ("ingredient", "clavulanate"),
    }
    assert set(found.medications) == {WARFARIN}  # what is only an allergy brings no interactions and doses
    assert {dose.ingredient for dose in found.doses} == {"warfarin"}


def test_interaction_of_classes_is_found_by_the_medications_in_them(hospital: Tenant) -> None:
    oxycodone, diazepam = (RXNORM, "1049717"), (RXNORM, "563026")

    assert pairs(knowledge(hospital.id, [oxycodone, diazepam])) == {("benzodiazepines", "opioids", "high")}
    assert pairs(knowledge(hospital.id, [oxycodone])) == set()


def test_interaction_with_a_state_of_the_patient_comes_with_the_medication(hospital: Tenant) -> None:
    found = knowledge(hospital.id, [WARFARIN])

    assert ("pregnancy", "warfarin", "contraindicated") in {(one.a, one.b, one.severity) for one in found.interactions}


def test_rows_of_the_tenant_win_over_those_of_the_platform(hospital: Tenant) -> None:
    load_rows(
        hospital, "medications", medication(schedule="V"), medication(code="H-1", display="House", ingredients="x")
    )
    load_rows(
        hospital,
        "interactions",
        {"a": "Warfarin", "b": "Ibuprofen", "severity": "moderate", "text": "Ours", "source": "Committee"},
        {"a": "x", "b": "warfarin", "severity": "low"},
    )
    load_rows(
        hospital,
        "doses",
        {"ingredient": "warfarin", "route": "oral", "age_from": "18.0", "single_max": "7.5", "unit": "mg"},
        {
            "ingredient": "ibuprofen",
            "route": "rectal",
            "daily_max": "100",
            "unit": "mg",
            "weight_to": "20",
            "per_kg": "yes",
        },
    )
    load_rows(
        hospital,
        "allergy_map",
        {"system": "snomed", "code": "91936005", "kind": "ingredient", "value": "penicillin v"},
    )

    found = knowledge(hospital.id, [WARFARIN, IBUPROFEN, (RXNORM, "H-1")], [PENICILLIN_ALLERGY])
    stranger = knowledge(provision("provider").id, [WARFARIN, IBUPROFEN, (RXNORM, "H-1")], [PENICILLIN_ALLERGY])

    assert (found.medications[WARFARIN].schedule, found.medications[WARFARIN].source) == ("V", "tenant")
    between_drugs = tuple(one for one in found.interactions if not {one.a, one.b} & PATIENT_STATES)
    assert between_drugs == (
        Interaction("ibuprofen", "warfarin", "moderate", "Ours", "Committee"),
        Interaction("warfarin", "x", "low", "", ""),
    )
    assert [(one.ingredient, one.route, one.single_max, one.daily_max) for one in found.doses] == [
        ("ibuprofen", "oral", Decimal(800), Decimal(3200)),
        ("ibuprofen", "oral", Decimal(10), Decimal(40)),
        ("ibuprofen", "rectal", None, Decimal(100)),
        ("warfarin", "oral", Decimal("7.5"), None),
    ]
    assert found.allergy_terms == (AllergyTerm(SNOMED, "91936005", "ingredient", "penicillin v"),)
    assert TableVersion("doses", "tenant-1") in found.versions
    assert len(found.versions) == 8
    assert set(stranger.medications) == {WARFARIN, IBUPROFEN}
    assert pairs(stranger) == {("ibuprofen", "warfarin", "high")}
    assert len(stranger.versions) == 4


def test_knowledge_is_one_trip_alone_and_in_a_transaction(hospital: Tenant) -> None:
    knowledge(hospital.id, [WARFARIN])
    with recording() as record:
        knowledge(hospital.id, [WARFARIN, IBUPROFEN], [PENICILLIN_ALLERGY])
    assert len(record) == 1, record.texts()
    with tenant_context(hospital.id), recording() as record:
        knowledge(hospital.id, [WARFARIN, IBUPROFEN])
    assert len(record) == 1, record.texts()


def _known(**changes: object) -> Medication:
    row = Medication(
        RXNORM, "1", "A", ("amoxicillin", "clavulanate"), (), "oral tablet", "250/125", "mg", "none", "platform", 1
    )
    return replace(row, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Comparison.SAME),
        ({"code": "2", "display": "B", "form": "Oral  Tablet"}, Comparison.SAME),
        ({"ingredients": ("clavulanate", "amoxicillin"), "strength": "125.0/250"}, Comparison.SAME),
        ({"ingredients": ("clavulanate", "amoxicillin")}, Comparison.DIFFERENT),
        ({"strength": "500/125"}, Comparison.DIFFERENT),
        ({"unit": "g"}, Comparison.DIFFERENT),
        ({"form": "oral capsule"}, Comparison.DIFFERENT),
        ({"ingredients": ("amoxicillin",)}, Comparison.DIFFERENT),
        ({"form": "", "strength": "500/125"}, Comparison.DIFFERENT),
        ({"form": ""}, Comparison.UNKNOWN),
        ({"strength": ""}, Comparison.UNKNOWN),
        ({"ingredients": ()}, Comparison.UNKNOWN),
    ],
)
def test_comparison_of_two_medications(given: dict[str, object], expected: Comparison) -> None:
    assert compare(_known(), _known(**given)) is expected
    assert compare(_known(**given), _known()) is expected


def test_comparison_with_an_unknown_medication_is_unknown(hospital: Tenant) -> None:
    assert compare(None, _known()) is Comparison.UNKNOWN
    assert comparable(hospital.id, WARFARIN, (RXNORM, "0")) is Comparison.UNKNOWN
    assert comparable(hospital.id, WARFARIN, WARFARIN) is Comparison.SAME
    assert comparable(hospital.id, IBUPROFEN, (RXNORM, "197806")) is Comparison.DIFFERENT
