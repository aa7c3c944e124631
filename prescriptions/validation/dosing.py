"""The arithmetic of doses: how much of an ingredient is taken at once and in a day. Exact fractions, never floats."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final

from .inputs import Json
from .strengths import Strength
from .units import converted, kind_of

# Days of FHIR's units of time; a month has 30 days here and a year 365.
_DAYS: Final = {
    "s": Fraction(1, 86_400),
    "min": Fraction(1, 1_440),
    "h": Fraction(1, 24),
    "d": Fraction(1),
    "wk": Fraction(7),
    "mo": Fraction(30),
    "a": Fraction(365),
}

_LARGEST_EXPONENT: Final = 30


@dataclass(frozen=True, slots=True)
class Amount:
    """How much of an ingredient a Dosage gives at once and in a day, in one unit; None where it cannot be told."""

    single: Fraction | None
    daily: Fraction | None
    is_step: bool  # a step with a duration of its own, which other steps follow


def amount_of(dosage: Json, strength: Strength | None, unit: str) -> Amount:
    """Return what a Dosage gives of an ingredient, in `unit`.

    A dose in the ingredient's own measure counts as it is, one in tablets, puffs or volumes by the `strength`.
    """
    dose = dosage.get("dose") or {}
    single = _in_unit(_number(dose.get("value")), str(dose.get("unit") or ""), strength, unit)
    times = doses_per_day(dosage)
    daily = single * times if single is not None and times is not None else None
    most = _most_per_day(dosage, strength, unit)
    if most is not None and (daily is None or dosage.get("as_needed")):
        daily = most
    return Amount(single, daily, is_step=dosage.get("duration") is not None)


def doses_per_day(dosage: Json) -> Fraction | None:
    """Return frequency over period; a missing one counts as 1, None where both are or a number is none."""
    frequency, period = dosage.get("frequency"), dosage.get("period")
    if frequency is None and period is None:
        return None
    days = _DAYS.get(str(dosage.get("period_unit") or "d"))
    times = _number(1 if frequency is None else frequency)
    length = _number(1 if period is None else period)
    if days is None or times is None or length is None or length <= 0:
        return None
    return times / (length * days)


def most_at_once(amounts: Sequence[Amount]) -> Fraction | None:
    """Return the largest single dose, None if none is known."""
    return max((one.single for one in amounts if one.single is not None), default=None)


def most_in_a_day(amounts: Sequence[Amount]) -> Fraction | None:
    """Return the largest amount of a day, None if none is known.

    Dosages without a duration are taken beside each other; each step of a sequence is beside these, not beside others.
    """
    steady = [one.daily for one in amounts if one.daily is not None and not one.is_step]
    steps = [one.daily for one in amounts if one.daily is not None and one.is_step]
    if not steady and not steps:
        return None
    return sum(steady, Fraction(0)) + max(steps, default=Fraction(0))


def _most_per_day(dosage: Json, strength: Strength | None, unit: str) -> Fraction | None:
    """The `max_dose_per_day`: a quantity, or a number in the unit of the dose."""
    told = dosage.get("max_dose_per_day")
    if isinstance(told, dict):
        return _in_unit(_number(told.get("value")), str(told.get("unit") or ""), strength, unit)
    return _in_unit(_number(told), str((dosage.get("dose") or {}).get("unit") or ""), strength, unit)


def _in_unit(value: Fraction | None, given: str, strength: Strength | None, unit: str) -> Fraction | None:
    if value is None:
        return None
    if kind_of(given) not in {"count", "volume"}:
        return converted(value, given, unit)
    return strength.amount_in(value, given, unit) if strength else None


def _number(value: Any) -> Fraction | None:
    """A number of a Dosage; None where it is none, or so large or small that no dose is."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        return None
    return Fraction(number)
