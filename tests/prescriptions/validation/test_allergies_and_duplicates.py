"""Allergies, duplicates and interactions: found, not found, and told where data are missing."""

from dataclasses import replace

import pytest

from prescriptions.medications.knowledge import Interaction
from prescriptions.validation.codes import LOINC, RXNORM, SNOMED
from prescriptions.validation.engine import run
from prescriptions.validation.inputs import OtherPrescription

from .cases import (
    INTERACTIONS,
    allergy,
    concept,
    condition,
    found,
    gaps,
    inputs,
    item,
    medication,
    patient,
    statement,
    status,
    tables,
)

AMOXICILLIN, PENICILLIN_V, AUGMENTIN = "308192", "834101", "562251"
WARFARIN, IBUPROFEN, NAPROXEN, ALTEPLASE = "855332", "310965", "849574", "1804799"
MAPPED_INGREDIENT, MAPPED_CLASS = "294505008", "91936005"


def given(code, *allergies, conditions=()):
    return inputs(item(code), allergies=allergies, conditions=conditions)


# -- allergies ----------------------------------------------------------------------------------------------------------


def test_allergy_to_the_product_itself_is_exact():
    assert found("allergy.exact", given(AMOXICILLIN, allergy(AMOXICILLIN, RXNORM))) == [("contraindicated", (1,))]


def test_allergy_to_an_ingredient_by_its_own_code_is_exact():
    assert found("allergy.exact", given(AUGMENTIN, allergy("clavulanate", RXNORM))) == [("contraindicated", (1,))]


def test_allergy_that_the_map_names_as_ingredient_is_exact():
    assert found("allergy.exact", given(AUGMENTIN, allergy(MAPPED_INGREDIENT))) == [("contraindicated", (1,))]
    assert found("allergy.class", given(AUGMENTIN, allergy(MAPPED_INGREDIENT))) == []


def test_allergy_to_another_product_of_the_same_ingredient_is_exact():
    assert found("allergy.exact", given(AUGMENTIN, allergy(AMOXICILLIN, RXNORM))) == [("contraindicated", (1,))]


def test_allergy_to_a_combination_is_related_to_one_of_its_ingredients():
    assert found("allergy.exact", given(AMOXICILLIN, allergy(AUGMENTIN, RXNORM))) == []
    assert found("allergy.class", given(AMOXICILLIN, allergy(AUGMENTIN, RXNORM))) == [("high", (1,))]


@pytest.mark.parametrize("code", [MAPPED_CLASS, MAPPED_INGREDIENT])
def test_allergy_of_the_same_class_is_high(code):
    assert found("allergy.class", given(PENICILLIN_V, allergy(code))) == [("high", (1,))]
    assert found("allergy.exact", given(PENICILLIN_V, allergy(code))) == []


@pytest.mark.parametrize("code", ["allergy.exact", "allergy.class"])
def test_unrelated_allergy_is_no_issue(code):
    assert found(code, given(WARFARIN, allergy(MAPPED_CLASS))) == []
    assert gaps(code, given(WARFARIN, allergy(MAPPED_CLASS))) == []


def test_same_code_of_another_system_is_no_match():
    assert found("allergy.exact", given(AMOXICILLIN, allergy(AMOXICILLIN, LOINC))) == []


def test_substance_of_a_reaction_counts():
    told = allergy("1", reaction=[{"substance": concept(MAPPED_INGREDIENT), "manifestation": [{"text": "rash"}]}])
    assert found("allergy.exact", given(AMOXICILLIN, told)) == [("contraindicated", (1,))]


@pytest.mark.parametrize(
    ("changes", "counts"),
    [
        ({"verificationStatus": status("refuted", "v")}, False),
        ({"verificationStatus": status("entered-in-error", "v"), "clinicalStatus": {}}, False),
        ({"clinicalStatus": status("inactive")}, False),
        ({"clinicalStatus": status("resolved")}, False),
        ({"verificationStatus": status("unconfirmed", "v")}, True),
        ({"clinicalStatus": {}}, True),
    ],
)
def test_standing_of_an_allergy_decides(changes, counts):
    hits = [("contraindicated", (1,))] if counts else []
    assert found("allergy.exact", given(AMOXICILLIN, allergy(MAPPED_INGREDIENT, **changes))) == hits


@pytest.mark.parametrize(("clinical", "hits"), [("active", [("high", (1,))]), ("resolved", [])])
def test_condition_that_the_map_names_counts_as_an_allergy(clinical, hits):
    told = condition(MAPPED_CLASS, clinicalStatus=status(clinical))
    assert found("allergy.class", given(PENICILLIN_V, conditions=[told])) == hits


def test_condition_that_only_looks_like_an_ingredient_is_no_allergy():
    told = condition("amoxicillin", RXNORM)
    assert found("allergy.exact", given(AMOXICILLIN, conditions=[told])) == []


@pytest.mark.parametrize("code", ["allergy.exact", "allergy.class"])
def test_allergies_that_nobody_recorded_are_told(code):
    assert gaps(code, given(AMOXICILLIN)) == ["no_allergies_recorded"]
    assert gaps(code, given(AMOXICILLIN, allergy("716186003"))) == []


@pytest.mark.parametrize("code", ["allergy.exact", "allergy.class"])
def test_codes_that_the_tables_do_not_know_are_told(code):
    unknown = inputs(item(code="", system="", medication_text="a herb"), allergies=[allergy("999", SNOMED)])
    assert gaps(code, unknown) == ["no_ingredients", "unknown_allergen"]


def test_ingredient_codes_of_the_item_serve_where_the_table_lacks_its_code():
    told = inputs(item("77", ingredient_codes=("amoxicillin",)), allergies=[allergy(MAPPED_INGREDIENT)])
    assert found("allergy.exact", told) == [("contraindicated", (1,))]


def test_drug_of_which_the_classes_alone_are_known_is_compared_by_them():
    rows = [medication("70618", "Penicillin", [], ["penicillins"])]
    told = inputs(item("70618"), allergies=[allergy(MAPPED_CLASS)], knowledge=tables(rows))
    assert (found("allergy.class", told), gaps("allergy.class", told)) == ([("high", (1,))], ["no_ingredients"])


# -- duplicates ---------------------------------------------------------------------------------------------------------


def other(*codes, number="RX-2026-000001"):
    items = [item(code, line=line) for line, code in enumerate(codes, 1)]
    return OtherPrescription(f"id of {number}", number, items)


@pytest.mark.parametrize(
    "source", [{"others": [other(AMOXICILLIN)]}, {"statements": [statement(AMOXICILLIN)]}], ids=["prescription", "statement"]
)  # fmt: skip
def test_same_ingredient_is_a_duplicate(source):
    told = inputs(item(AUGMENTIN), **source)
    assert found("duplicate.ingredient", told) == [("high", (1,))]
    assert found("duplicate.class", told) == []


def test_same_class_is_a_duplicate_of_the_class():
    told = inputs(item(IBUPROFEN), others=[other(NAPROXEN)])
    assert found("duplicate.class", told) == [("moderate", (1,))]
    assert found("duplicate.ingredient", told) == []


def test_what_is_continued_is_told_and_needs_nothing():
    """A renewal of a prescription that is still open would else be blocked by the very one that it renews."""
    prior = replace(other(IBUPROFEN), is_continued=True)
    assert found("duplicate.ingredient", inputs(item(IBUPROFEN), others=[prior])) == [("low", (1,))]
    assert found("duplicate.class", inputs(item(IBUPROFEN), others=[replace(other(NAPROXEN), is_continued=True)])) == [
        ("low", (1,))
    ]
    third = other(IBUPROFEN, number="RX-2026-000002")
    told = inputs(item(IBUPROFEN), others=[prior, third])
    assert sorted(found("duplicate.ingredient", told)) == [("high", (1,)), ("low", (1,))]


def test_other_ingredient_and_class_is_no_duplicate():
    told = inputs(item(IBUPROFEN), others=[other(WARFARIN)])
    assert found("duplicate.ingredient", told) == found("duplicate.class", told) == []


def test_two_items_of_one_prescription_are_no_duplicates():
    told = inputs(item(IBUPROFEN), item(IBUPROFEN, line=2))
    assert found("duplicate.ingredient", told) == []


def test_several_duplicates_of_one_ingredient_are_one_issue():
    told = inputs(item(IBUPROFEN), others=[other(IBUPROFEN), other(IBUPROFEN, number="RX-2026-000002")])
    assert found("duplicate.ingredient", told) == [("high", (1,))]


@pytest.mark.parametrize("state", ["completed", "stopped", "entered-in-error", "not-taken"])
def test_statement_that_is_not_active_does_not_count(state):
    told = inputs(item(IBUPROFEN), statements=[statement(IBUPROFEN, status=state)])
    assert found("duplicate.ingredient", told) == []


def test_medication_of_a_statement_may_be_contained_or_in_the_record():
    contained = statement(
        IBUPROFEN, contained=[{"resourceType": "Medication", "id": "m", "code": concept(IBUPROFEN, RXNORM)}]
    )
    del contained["medicationCodeableConcept"]
    contained["medicationReference"] = {"reference": "#m"}
    referred = contained | {"contained": [], "medicationReference": {"reference": "Medication/m9"}}
    shelf = [{"resourceType": "Medication", "id": "m9", "code": concept(IBUPROFEN, RXNORM)}]
    assert found("duplicate.ingredient", inputs(item(IBUPROFEN), statements=[contained])) == [("high", (1,))]
    assert found("duplicate.ingredient", inputs(item(IBUPROFEN), statements=[referred], medications=shelf)) == [
        ("high", (1,))
    ]
    assert gaps("duplicate.ingredient", inputs(item(IBUPROFEN), statements=[referred])) == ["unknown_other_drug"]


def test_statement_may_name_the_ingredient_itself():
    told = inputs(item(IBUPROFEN), statements=[statement("ibuprofen")])
    assert (found("duplicate.ingredient", told), gaps("duplicate.ingredient", told)) == ([("high", (1,))], [])
    assert found("duplicate.class", inputs(item(NAPROXEN), statements=[statement("ibuprofen")])) == [("moderate", (1,))]
    assert found("interaction.drug_drug", inputs(item(WARFARIN), statements=[statement("ibuprofen")])) == [
        ("high", (1,))
    ]


@pytest.mark.parametrize("code", ["duplicate.ingredient", "duplicate.class", "interaction.drug_drug"])
def test_drugs_that_cannot_be_compared_are_told(code):
    told = inputs(item(code="", system="", medication_text="a herb"), statements=[statement("12345")])
    assert gaps(code, told) == ["no_ingredients", "unknown_other_drug"]
    assert gaps(code, inputs(item(WARFARIN), statements=[statement(NAPROXEN)])) == []


# -- interactions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "severity"),
    [
        ((WARFARIN, IBUPROFEN), "high"),
        ((IBUPROFEN, WARFARIN), "high"),
        ((ALTEPLASE, WARFARIN), "contraindicated"),
        ((WARFARIN, "313782"), "low"),
        (("563026", "1049221"), "moderate"),
    ],
)
def test_interaction_among_items_has_the_severity_of_the_table(codes, severity):
    told = inputs(*(item(code, line=line) for line, code in enumerate(codes, 1)))
    assert found("interaction.drug_drug", told) == [(severity, (1, 2))]


@pytest.mark.parametrize("source", [{"others": [other(WARFARIN)]}, {"statements": [statement(WARFARIN)]}])
def test_interaction_with_another_drug_is_found(source):
    assert found("interaction.drug_drug", inputs(item(NAPROXEN), **source)) == [("high", (1,))]


def test_pair_that_the_table_does_not_name_is_no_interaction():
    assert found("interaction.drug_drug", inputs(item(IBUPROFEN), item("860975", line=2))) == []


def test_pair_of_other_drugs_is_not_the_matter_of_this_prescription():
    told = inputs(item("860975"), others=[other(WARFARIN, IBUPROFEN)])
    assert found("interaction.drug_drug", told) == []


def test_gravest_row_of_a_pair_is_told():
    rows = [*INTERACTIONS, Interaction("anticoagulants", "ibuprofen", "contraindicated", "", "tenant")]
    told = inputs(item(WARFARIN), item(IBUPROFEN, line=2), knowledge=tables(interactions=rows))
    assert found("interaction.drug_drug", told) == [("contraindicated", (1, 2))]


def test_drug_does_not_interact_with_itself():
    rows = [Interaction("amoxicillin", "clavulanate", "high", "", "tenant")]
    assert found("interaction.drug_drug", inputs(item(AUGMENTIN), knowledge=tables(interactions=rows))) == []


def test_messages_do_not_hold_the_patients_name():
    told = inputs(item(WARFARIN), item(IBUPROFEN, line=2), patient=patient(name=[{"family": "Zyzzyva"}]))
    assert not any("Zyzzyva" in issue.message for issue in run(told).issues)
