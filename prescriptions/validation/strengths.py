"""How much of each ingredient a unit of a medication holds, read from the strength of the tables: "250 mg/5 mL"."""

import re
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
    """Read the strengths of a medication, one for each ingredient; none where one of them cannot be read.

    Parts are separated by `;`, `+` or `/`. A volume or a count behind a slash is what the amount before it is in. A
    number without a unit has the `unit` of the table.
    """
    found: list[Strength] = []
    for separator, part in re.findall(r"([;+/]?)([^;+/]+)", text):
        match = _PART.fullmatch(part)
        if match is None or not (match["value"] or match["unit"]):
            return ()
        value, named = Fraction(match["value"] or 1), _unit(match["unit"] or unit)
        kind = kind_of(named)
        if kind in _AMOUNTS and match["value"]:
            found.append(Strength(value, named, Fraction(1), "1"))
        elif separator == "/" and found and kind in {"volume", "count"} and value:
            found[-1] = Strength(found[-1].amount, found[-1].unit, value, named)
        else:
            return ()
    return tuple(found)


def _unit(text: str) -> str:
    """The code of UCUM for what a table calls a unit."""
    return text if kind_of(text) else _SPELLINGS.get(text.upper(), text)
