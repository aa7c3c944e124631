"""How much of each ingredient a unit of a medication holds, read from the strength of the tables: "250 mg/5 mL"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from .units import converted, kind_of

# RxNorm writes units in capitals, and "UNT" for international units.
_SPELLINGS: Final = {
    "MG": "mg", "G": "g", "GM": "g", "MCG": "ug", "UG": "ug", "NG": "ng", "ML": "mL", "L": "L", "MEQ": "meq",
    "MMOL": "mmol", "UNT": "[IU]", "IU": "[IU]", "ACTUAT": "1",
}  # fmt: skip
_PART: Final = re.compile(r"\s*(?P<value>\d+(?:\.\d+)?)?\s*(?P<unit>[^\s\d/;+]+)?\s*")
_PARTS: Final = re.compile(r"([;+/]?)([^;+/]+)")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_HOLDERS: Final = frozenset({"volume", "count"})
_AMOUNTS: Final = frozenset({"mass", "activity", "substance", "equivalents", "enzyme units"})


@dataclass(frozen=True, slots=True)
class Strength:
    """An amount of an ingredient in a tablet, a puff (`per_unit` "1") or a volume."""

    amount: Fraction
    unit: str
    per: Fraction
    per_unit: str

    def amount_in(self, value: Fraction, unit: str, to: str) -> Fraction | None:
        """Return how much of the ingredient, in the unit `to`, a dose of the medication holds; None if unknown."""
        measure = converted(value, unit, self.per_unit)
        return None if measure is None else converted(measure / self.per * self.amount, self.unit, to)


@lru_cache(maxsize=4096)
def strengths_of(text: str, unit: str = "") -> tuple[Strength, ...]:
    """Read the strengths of a medication, one for each ingredient in their order; none where one cannot be read.

    Either numbers separated by `/` in the `unit` of the table ("325/5" in "mg", "0.09" in "mg/{actuat}"), or amounts with
    units of their own separated by `;`, `+` or `/`, where a volume or count behind a slash is what the amount is in.
    """
    parts = [part.strip() for part in text.split("/")]
    if all(_NUMBER.fullmatch(part) for part in parts):
        return _in_common_unit(parts, unit)
    return _with_own_units(text, unit)


def _in_common_unit(numbers: Sequence[str], unit: str) -> tuple[Strength, ...]:
    amount_unit, _, told = unit.partition("/")
    match = _PART.fullmatch(told or "1")
    per, per_unit = (Fraction(match["value"] or 1), _unit(match["unit"] or "1")) if match else (Fraction(0), "")
    if kind_of(_unit(amount_unit)) not in _AMOUNTS or kind_of(per_unit) not in _HOLDERS or not per:
        return ()
    return tuple(Strength(Fraction(number), _unit(amount_unit), per, per_unit) for number in numbers)


def _with_own_units(text: str, unit: str) -> tuple[Strength, ...]:
    found: list[Strength] = []
    for separator, part in _PARTS.findall(text):
        match = _PART.fullmatch(part)
        if match is None or not (match["value"] or match["unit"]):
            return ()
        value, named = Fraction(match["value"] or 1), _unit(match["unit"] or unit)
        if kind_of(named) in _AMOUNTS and match["value"]:
            found.append(Strength(value, named, Fraction(1), "1"))
        elif separator == "/" and found and kind_of(named) in _HOLDERS and value:
            found[-1] = Strength(found[-1].amount, found[-1].unit, value, named)
        else:
            return ()
    return tuple(found)


def _unit(text: str) -> str:
    """The code of UCUM for what a table calls a unit."""
    return text if kind_of(text) else _SPELLINGS.get(text.upper(), text)
