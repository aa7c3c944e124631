"""Routes, schedules, quantities, and the prescriber."""

from decimal import Decimal

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from num2words import CONVERTER_CLASSES, num2words

from prescriptions.validation.facts import facts_of
from prescriptions.validation.inputs import Prescriber
from prescriptions.validation.rules.routes import routes_of_form
from prescriptions.validation.words import is_number_in_words

from .cases import found, gaps, inputs, item, policies, tablets

PERCOCET, VALIUM, METFORMIN, INJECTION, CREAM = "1049221", "563026", "860975", "1804799", "106258"


# -- routes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "route", "hits"),
    [
        (METFORMIN, "oral", []),
        (METFORMIN, "26643006", []),
        (METFORMIN, "  By  Mouth ", []),
        (METFORMIN, "intravenous", [("high", (1,))]),
        (INJECTION, "IV", []),
        (INJECTION, "26643006", [("high", (1,))]),
        (CREAM, "topical", []),
        (CREAM, "ophthalmic", [("high", (1,))]),
    ],
)
def test_route_fits_the_form(code, route, hits):
    assert found("route.form", inputs(item(code, dosage=[tablets(route=route)]))) == hits


def test_form_of_the_item_goes_before_that_of_the_table():
    assert found("route.form", inputs(item(METFORMIN, form="Suppository"))) == [("high", (1,))]


@pytest.mark.parametrize(
    ("form", "route"),
    [
        ("Chewable Tablet", "oral"),
        ("Ophthalmic Solution", "ophthalmic"),
        ("Prefilled Syringe", "subcutaneous"),
        ("Vaginal Tablet", "vaginal"),
        ("Metered Dose Inhaler", "inhalation"),
        ("24hr transdermal patch", "transdermal"),
        ("Rectal Gel", "rectal"),
    ],
)
def test_forms_by_their_words(form, route):
    assert route in routes_of_form(form)


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        (item(METFORMIN, form="mystery"), "unknown_form"),
        (item("77"), "unknown_form"),
        (item(METFORMIN, dosage=[tablets(route="somehow")]), "unknown_route"),
        (item(METFORMIN, dosage=[{"text": "as told"}]), "unknown_route"),
        (item(METFORMIN, dosage=[]), "unknown_route"),
    ],
)
def test_route_or_form_that_is_unknown_is_told(told, cause):
    assert (found("route.form", inputs(told)), gaps("route.form", inputs(told))) == ([], [cause])


# -- controlled items ---------------------------------------------------------------------------------------------------


def controlled(code=PERCOCET, **changes):
    return item(code, **({"quantity_in_words": "thirty"} | changes))


def test_controlled_item_in_order_is_no_issue():
    assert found("schedule.policy", inputs(controlled())) == []


def test_only_one_controlled_item_is_allowed():
    told = inputs(controlled(), controlled(VALIUM, line=2), item(line=3))
    assert found("schedule.policy", told) == [("blocking", (1, 2))]


@pytest.mark.parametrize(
    ("fills", "limit", "hits"), [(1, 1, []), (2, 1, [("blocking", (1,))]), (2, 2, []), (3, 2, [("blocking", (1,))])]
)
def test_fills_of_a_controlled_item(fills, limit, hits):
    told = inputs(controlled(fills_allowed=fills), policies=policies(controlled_max_fills=limit))
    assert found("schedule.policy", told) == hits


@pytest.mark.parametrize(
    ("words", "hits"), [("THIRTY", []), ("", [("blocking", (1,))]), ("thirteen", [("blocking", (1,))])]
)
def test_words_of_a_controlled_item(words, hits):
    assert found("schedule.policy", inputs(controlled(quantity_in_words=words))) == hits
    assert (
        found(
            "schedule.policy",
            inputs(controlled(quantity_in_words=words), policies=policies(controlled_words_required=False)),
        )
        == []
    )


def test_uncontrolled_item_needs_neither():
    assert found("schedule.policy", inputs(item(METFORMIN, fills_allowed=9))) == []


@pytest.mark.parametrize(
    ("code", "schedule", "effective"),
    [
        (METFORMIN, "", ""),
        (METFORMIN, "V", "V"),
        (PERCOCET, "V", "II"),
        (PERCOCET, "I", "I"),
        (VALIUM, "none", "IV"),
        (METFORMIN, "ii", "II"),
    ],
)
def test_effective_schedule_is_the_stricter(code, schedule, effective):
    assert facts_of(inputs(item(code, schedule=schedule))).prescribed[0].schedule == effective


def test_schedule_that_nobody_can_tell_is_told():
    text = item(system="", code="", medication_text="a herb")
    assert gaps("schedule.policy", inputs(text)) == ["no_schedule"]
    assert gaps("schedule.policy", inputs(item(system="", code="", medication_text="a herb", schedule="none"))) == []


@pytest.mark.parametrize(
    ("text", "number", "language", "is_equal"),
    [
        ("thirty", "30", "en", True),
        ("Thirty", "30.000", "en", True),
        ("one hundred and twenty", "120", "en", True),
        ("One Hundred Twenty", "120", "en", True),
        ("one-hundred-twenty", "120", "en", True),
        ("one thousand, two hundred", "1200", "en", True),
        ("twenty one", "21", "en", True),
        ("twentyone", "21", "en-GB", True),
        ("two point five", "2.5", "en", True),
        ("zero point zero five", "0.05", "en", True),
        ("einundzwanzig", "21", "de", True),
        ("twenty-one", "21", "de", True),
        ("vingt et un", "21", "fr-CA", True),
        ("duzentos", "200", "pt-BR", True),
        ("twenty-one", "21", "xx", True),
        ("einundzwanzig", "21", "en", False),
        ("21", "21", "en", False),
        ("thirty tablets", "30", "en", False),
        ("", "30", "en", False),
        ("two point five zero", "2.5", "en", False),
        ("thirty" * 100, "30", "en", False),
        ("one million, one hundred and thirty-eight thousand, two hundred and one", "1138201", "am", True),
    ],
)
def test_numbers_in_words(text, number, language, is_equal):
    assert is_number_in_words(text, Decimal(number), language) is is_equal


@for_all(st.text(max_size=60), st.decimals("0.001", "999999999", places=3), st.sampled_from(sorted(CONVERTER_CLASSES)))
def test_no_language_breaks_on_a_number(text, number, language):
    assert is_number_in_words(text, number, language) in {True, False}


@for_all(st.integers(1, 999_999), st.integers(1, 999_999))
def test_words_are_of_one_number_only(one, other):
    assert is_number_in_words(num2words(one), Decimal(other), "en") is (one == other)


# -- limits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "limit", "hits"), [(30, 30, []), (31, 30, [("high", (1,))]), (365, None, []), (None, 30, [])]
)
def test_days_of_supply(days, limit, hits):
    assert (
        found("quantity.days_supply", inputs(item(days_supply=days), policies=policies(max_days_supply=limit))) == hits
    )


def test_missing_days_of_supply_are_told_where_there_is_a_limit():
    assert gaps("quantity.days_supply", inputs(policies=policies(max_days_supply=30))) == ["no_days_supply"]
    assert gaps("quantity.days_supply", inputs()) == []


@pytest.mark.parametrize(
    ("quantity", "entry", "hits"),
    [
        ("30", {"code": METFORMIN}, []),
        ("30.5", {"code": METFORMIN}, [("high", (1,))]),
        ("31", {"code": METFORMIN, "hard": True}, [("blocking", (1,))]),
        ("31", {"code": "1"}, []),
        ("31", {"schedule": "II"}, []),
    ],
)
def test_maximum_of_the_quantity_by_code(quantity, entry, hits):
    limits = policies(max_quantity=[{"value": "30", "unit": "{tablet}", "hard": False} | entry])
    assert found("quantity.max", inputs(item(METFORMIN, quantity=Decimal(quantity)), policies=limits)) == hits


def test_maximum_of_the_quantity_by_effective_schedule():
    limits = policies(max_quantity=[{"schedule": "II", "value": "10", "unit": "1", "hard": True}])
    assert found("quantity.max", inputs(item(PERCOCET), policies=limits)) == [("blocking", (1,))]
    assert found("quantity.max", inputs(item(VALIUM), policies=limits)) == []


def test_units_of_a_limit_are_converted_or_told():
    limits = policies(max_quantity=[{"code": METFORMIN, "value": "0.1", "unit": "L", "hard": False}])
    syrup = item(METFORMIN, quantity=Decimal(101), quantity_unit="mL")
    assert found("quantity.max", inputs(syrup, policies=limits)) == [("high", (1,))]
    assert gaps("quantity.max", inputs(item(METFORMIN), policies=limits)) == ["other_unit"]


# -- the prescriber -----------------------------------------------------------------------------------------------------


def signs(**practitioner):
    return inputs(prescriber=Prescriber("dr", {"resourceType": "Practitioner", "id": "dr", **practitioner}))


def licence(**period):
    return {"identifier": [{"value": "L-1"}], **({"period": period} if period else {})}


@pytest.mark.parametrize(
    ("told", "hits"),
    [
        (signs(active=True, qualification=[licence()]), []),
        (signs(qualification=[licence(end="2026-03-10")]), []),
        (signs(qualification=[licence(end="2026-03-09")]), [("blocking", (1,))]),
        (signs(qualification=[licence(start="2026-03-11")]), [("blocking", (1,))]),
        (signs(qualification=[licence(end="2020"), licence(start="2021")]), []),
        (signs(active=False, qualification=[licence()]), [("blocking", (1,))]),
        (inputs(prescriber=Prescriber("dr", None)), [("blocking", (1,))]),
    ],
)
def test_authority_of_the_prescriber(told, hits):
    assert (found("prescriber.authority", told), gaps("prescriber.authority", told)) == (hits, [])


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        (inputs(prescriber=Prescriber()), "no_prescriber"),
        (signs(), "no_licence"),
        (signs(qualification=[{"code": {"text": "MD"}, "period": {"end": "2020"}}]), "no_licence"),
    ],
)
def test_authority_that_is_not_evaluated_allows_the_signature(told, cause):
    assert (found("prescriber.authority", told), gaps("prescriber.authority", told)) == ([], [cause])
