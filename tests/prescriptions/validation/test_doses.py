"""Doses: units, strengths, frequencies, bands of age and weight; at each boundary and by generated numbers."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from prescriptions.validation.dosing import amount_of, doses_per_day
from prescriptions.validation.strengths import Strength, strengths_of
from prescriptions.validation.units import converted, kind_of, shown

from .cases import DOSES, dose, found, gaps, inputs, item, patient, policies, tables, tablets, weight

ACETAMINOPHEN, SYRUP, PERCOCET, IBUPROFEN = "313782", "syrup", "1049221", "310965"
NUMBERS = st.decimals(min_value="0.001", max_value="100000", places=3, allow_nan=False)
MASSES = st.sampled_from(["ng", "ug", "mg", "g", "kg"])


def measured(value, unit, **changes):
    return tablets(dose={"value": value, "unit": unit}, **changes)


def taken(code, *dosages, **changes):
    return inputs(item(code, dosage=list(dosages)), **changes)


# -- units and strengths ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "to", "result"),
    [
        ("1", "g", "mg", "1000"),
        ("250", "ug", "mg", "0.25"),
        ("250", "mcg", "ug", "250"),
        ("1", "[lb_av]", "g", "453.59237"),
        ("2.5", "L", "mL", "2500"),
        ("1000", "[iU]", "k[IU]", "1"),
        ("2", "{tablet}", "1", "2"),
        ("2", "tablets", "{tbl}", "2"),
        ("3", "furlong", "furlong", "3"),
    ],
)
def test_units_of_one_kind_are_converted(value, unit, to, result):
    assert converted(Fraction(value), unit, to) == Fraction(result)


@pytest.mark.parametrize(("unit", "to"), [("mg", "mL"), ("U", "[iU]"), ("units", "1"), ("MG", "mg"), ("mmol", "meq")])
def test_units_of_different_kinds_are_not(unit, to):
    assert converted(Fraction(1), unit, to) is None


@for_all(NUMBERS, MASSES, MASSES)
def test_conversion_there_and_back_is_exact(value, unit, to):
    there = converted(Fraction(value), unit, to)
    assert converted(there, to, unit) == Fraction(value)


@pytest.mark.parametrize(
    ("text", "unit", "strengths"),
    [
        ("500 mg", "", [Strength(Fraction(500), "mg", Fraction(1), "1")]),
        ("500", "mg", [Strength(Fraction(500), "mg", Fraction(1), "1")]),
        ("250 mg/5 mL", "", [Strength(Fraction(250), "mg", Fraction(5), "mL")]),
        ("0.09 MG/ACTUAT", "", [Strength(Fraction("0.09"), "mg", Fraction(1), "1")]),
        ("10 MG/ML", "", [Strength(Fraction(10), "mg", Fraction(1), "mL")]),
        ("325 MG / 5 MG", "", [Strength(Fraction(v), "mg", Fraction(1), "1") for v in (325, 5)]),
        ("250 mg;125 mg", "", [Strength(Fraction(v), "mg", Fraction(1), "1") for v in (250, 125)]),
        ("70 UNT/ML + 30 UNT/ML", "", [Strength(Fraction(v), "[IU]", Fraction(1), "mL") for v in (70, 30)]),
        ("0.00354 MG/HR", "", []),
        ("325/5", "mg", [Strength(Fraction(v), "mg", Fraction(1), "1") for v in (325, 5)]),
        ("0.25/0.05", "mg/{actuat}", [Strength(Fraction(v), "mg", Fraction(1), "{actuat}") for v in ("0.25", "0.05")]),
        ("10", "mg/mL", [Strength(Fraction(10), "mg", Fraction(1), "mL")]),
        ("250", "mg/5 mL", [Strength(Fraction(250), "mg", Fraction(5), "mL")]),
        ("0.00354", "mg/h", []),
        ("5", "mg/0 mL", []),
        ("5", "", []),
        ("strong", "", []),
        ("", "mg", []),
        ("5 mg/0 mL", "", []),
    ],
)
def test_strengths_are_read(text, unit, strengths):
    assert list(strengths_of(text, unit)) == strengths


@for_all(st.text(max_size=40), st.text(max_size=8))
def test_no_text_breaks_the_reading_of_strengths(text, unit):
    assert all(kind_of(one.unit) and one.per > 0 for one in strengths_of(text, unit))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1.500", "1.5"),
        ("0", "0"),
        ("1300", "1300"),
        ("0.33333", "0.33333"),
        ("1.000001", "1.000001"),
        ("0.00001", "0.00001"),
    ],
)
def test_numbers_are_shown_without_trailing_zeros(number, text):
    assert shown(Decimal(number)) == text


def test_numbers_without_end_are_rounded():
    assert (shown(Fraction(1, 3)), shown(Fraction(20_000_000, 3))) == ("0.333333", "6666670")


# -- arithmetic ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dosage", "times"),
    [
        ({"frequency": 4, "period": "1", "period_unit": "d"}, 4),
        ({"frequency": 1, "period": "6", "period_unit": "h"}, 4),
        ({"frequency": 1, "period": "1", "period_unit": "wk"}, Fraction(1, 7)),
        ({"frequency": 3}, 3),
        ({"period": "8", "period_unit": "h"}, 3),
        ({}, None),
        ({"frequency": 1, "period": "0", "period_unit": "d"}, None),
        ({"frequency": 1, "period": "1", "period_unit": "fortnight"}, None),
        ({"frequency": 1, "period": "1e-999999999"}, None),
        ({"frequency": "Infinity", "period": "1"}, None),
        ({"frequency": 1, "period": "often", "period_unit": "d"}, None),
    ],
)
def test_doses_per_day(dosage, times):
    assert doses_per_day(dosage) == times


@for_all(NUMBERS, MASSES, st.integers(1, 24), NUMBERS)
def test_daily_amount_is_dose_times_frequency_over_period(value, unit, frequency, period):
    told = measured(str(value), unit, frequency=frequency, period=str(period))
    amount = amount_of(told, None, "mg")
    assert amount.single == converted(Fraction(value), unit, "mg")
    assert amount.daily == amount.single * frequency / Fraction(period)


@for_all(NUMBERS, NUMBERS, NUMBERS)
def test_volume_is_counted_by_its_strength(volume, strength, per):
    told = amount_of(measured(str(volume), "mL"), Strength(Fraction(strength), "mg", Fraction(per), "mL"), "mg")
    assert told.single == Fraction(volume) * Fraction(strength) / Fraction(per)


@for_all(st.integers(1, 200), st.integers(1, 24))
def test_tablets_exceed_the_maximum_exactly_when_their_sum_does(count, frequency):
    # 200 mg each, at most 800 mg at once and 2400 mg a day
    told = taken(IBUPROFEN, tablets(str(count), frequency))
    assert bool(found("dose.single_max", told)) == (count * 200 > 800)
    assert bool(found("dose.daily_max", told)) == (count * frequency * 200 > 2400)


# -- maxima -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "hits"),
    [
        ("1", "g", []),
        ("1000", "mg", []),
        ("1000.001", "mg", [("high", (1,))]),
        ("3", "g", [("high", (1,))]),
        ("3000001", "ug", [("contraindicated", (1,))]),
    ],
)
def test_single_dose_at_its_boundaries(value, unit, hits):
    assert found("dose.single_max", taken(ACETAMINOPHEN, measured(value, unit))) == hits


@pytest.mark.parametrize(
    ("frequency", "hits"), [(4, []), (5, [("high", (1,))]), (12, [("high", (1,))]), (13, [("contraindicated", (1,))])]
)
def test_daily_dose_at_its_boundaries(frequency, hits):
    assert found("dose.daily_max", taken(ACETAMINOPHEN, measured("1", "g", frequency=frequency))) == hits


def test_factor_of_what_is_contraindicated_is_the_tenants():
    told = taken(ACETAMINOPHEN, measured("1.5", "g"), policies=policies(dose_contraindicated_factor="1.2"))
    assert found("dose.single_max", told) == [("contraindicated", (1,))]


@pytest.mark.parametrize(("volume", "hits"), [("20", []), ("20.1", [("high", (1,))])])
def test_syrup_is_counted_by_its_strength(volume, hits):
    assert found("dose.single_max", taken(SYRUP, measured(volume, "mL"))) == hits


@pytest.mark.parametrize(("count", "hits"), [("3", []), ("4", [("high", (1,))])])
def test_each_ingredient_of_a_combination_has_its_own_strength(count, hits):
    assert found("dose.single_max", taken(PERCOCET, tablets(count))) == hits


def test_measure_of_a_combination_belongs_to_nobody_knows_which_ingredient():
    told = taken(PERCOCET, measured("5", "g"))
    assert (found("dose.single_max", told), gaps("dose.single_max", told)) == ([], ["no_amount", "no_dose_table"])


def test_dosages_beside_each_other_are_added_and_steps_are_not():
    beside = taken(ACETAMINOPHEN, measured("1", "g", frequency=3), measured("1", "g", frequency=2))
    steps = taken(
        ACETAMINOPHEN,
        measured("1", "g", frequency=3, duration={"value": "3", "unit": "d"}),
        measured("1", "g", frequency=2, duration={"value": "3", "unit": "d"}),
    )
    assert found("dose.daily_max", beside) == [("high", (1,))]
    assert found("dose.daily_max", steps) == []


@pytest.mark.parametrize(
    ("dosage", "hits"),
    [
        (measured("1", "g", frequency=6, as_needed=True, max_dose_per_day="4"), []),
        (measured("1", "g", frequency=6, as_needed=True, max_dose_per_day={"value": "4000", "unit": "mg"}), []),
        (measured("1", "g", frequency=6, max_dose_per_day="4"), [("high", (1,))]),
        (measured("1", "g", frequency=1, as_needed=True, max_dose_per_day="5"), [("high", (1,))]),
        (measured("1", "g", frequency=None, period=None, max_dose_per_day="5"), [("high", (1,))]),
    ],
)
def test_maximum_of_a_day_that_the_dosage_names(dosage, hits):
    assert found("dose.daily_max", taken(ACETAMINOPHEN, dosage)) == hits


def test_weekly_dose_is_spread_over_the_week():
    rows = [dose("ibuprofen", daily="100")]
    told = taken(IBUPROFEN, tablets("3", 1, "1", "wk"), knowledge=tables(doses=rows))
    assert found("dose.daily_max", told) == []


# -- bands --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("born", "hits"),
    [("2014-03-10", []), ("2014-03-11", [("contraindicated", (1,))])],
    ids=["twelve today", "tomorrow"],
)
def test_band_of_age_begins_at_the_birthday(born, hits):
    # 1 g: allowed from 12 years on; below, 15 mg for each of 20 kg are 300 mg, of which 1 g is more than three times
    told = taken(ACETAMINOPHEN, measured("1", "g"), patient=patient(born), observations=[weight("20")])
    assert found("dose.single_max", told) == hits


@pytest.mark.parametrize(("kilograms", "hits"), [("20", []), ("19.99", [("high", (1,))])])
def test_dose_by_weight_at_its_boundary(kilograms, hits):
    told = taken(ACETAMINOPHEN, measured("300", "mg"), patient=patient("2020-01-01"), observations=[weight(kilograms)])
    assert found("dose.single_max", told) == hits


@pytest.mark.parametrize(("kilograms", "hits"), [("39.9", [("high", (1,))]), ("40", [])])
def test_band_of_weight_begins_at_its_lower_bound(kilograms, hits):
    rows = [dose("ibuprofen", "200", weights=(None, 40)), dose("ibuprofen", "400", weights=(40, None))]
    told = taken(IBUPROFEN, tablets("2"), knowledge=tables(doses=rows), observations=[weight(kilograms)])
    assert found("dose.single_max", told) == hits


def test_rows_of_the_route_go_before_rows_of_every_route():
    rows = [dose("ibuprofen", "800"), dose("ibuprofen", "300", route="IV")]
    by_mouth = taken(IBUPROFEN, tablets("2"), knowledge=tables(doses=rows))
    by_vein = taken(IBUPROFEN, tablets("2", route="47625008"), knowledge=tables(doses=rows))
    assert (found("dose.single_max", by_mouth), found("dose.single_max", by_vein)) == ([], [("high", (1,))])


# -- what cannot be evaluated -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["dose.single_max", "dose.daily_max"])
@pytest.mark.parametrize(
    ("told", "cause"),
    [
        (taken("855332", tablets()), "no_dose_table"),
        (taken(IBUPROFEN, tablets(), knowledge=tables(doses=[dose("ibuprofen", 1, 1, route="rectal")])), "other_route"),
        (taken(IBUPROFEN, tablets(), patient={"resourceType": "Patient"}), "no_birth_date"),
        (taken(IBUPROFEN, tablets(), patient=patient("2020-01-01")), "other_age"),
        (taken(ACETAMINOPHEN, tablets(), patient=patient("2020-01-01")), "no_weight"),
        (taken(IBUPROFEN, tablets(), knowledge=tables(doses=[dose("ibuprofen", 1, 1, weights=(90, None))]), observations=[weight(50)]), "other_weight"),
        (taken(IBUPROFEN, {"text": "as told", "route": "oral"}), "no_amount"),
        (taken(IBUPROFEN, tablets(dose={"value": "1", "unit": "spoon"})), "no_amount"),
        (taken(IBUPROFEN), "no_amount"),
        (inputs(item(code="", system="", medication_text="a herb")), "no_ingredients"),
    ],
)  # fmt: skip
def test_cause_of_what_is_not_evaluated_is_told(code, told, cause):
    assert (found(code, told), gaps(code, told)) == ([], [cause])


def test_dose_that_is_evaluated_leaves_no_gap():
    told = taken(ACETAMINOPHEN, tablets("2", 3))
    assert (gaps("dose.single_max", told), gaps("dose.daily_max", told)) == ([], [])


def test_daily_dose_without_frequency_is_told():
    told = taken(IBUPROFEN, tablets(frequency=None, period=None))
    assert (gaps("dose.single_max", told), gaps("dose.daily_max", told)) == ([], ["no_amount"])


def test_unlimited_rows_are_no_maxima():
    told = taken(IBUPROFEN, tablets(), knowledge=tables(doses=[*DOSES[:2], dose("ibuprofen", "800")]))
    assert gaps("dose.daily_max", told) == ["no_dose_table"]


def test_dose_of_nothing_is_below_any_minimum():
    assert found("dose.below_min", taken(IBUPROFEN, tablets("0.00"))) == [("low", (1,))]
    assert found("dose.below_min", taken(IBUPROFEN, tablets("0.5"))) == []


def test_lack_of_minima_is_told():
    assert gaps("dose.below_min", taken(IBUPROFEN, tablets("0.5"))) == ["no_minimum"]
