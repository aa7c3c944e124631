"""Units of doses and measurements: conversion within a kind, and what merely counts. Source: UCUM 2.2, section 4."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

_PREFIXES: Final = {"k": Fraction(1000), "": Fraction(1), "d": Fraction(1, 10), "c": Fraction(1, 100)} | {
    "m": Fraction(1, 10**3),
    "u": Fraction(1, 10**6),
    "n": Fraction(1, 10**9),
}
# The kind of a unit, and how much of the kind's base unit it is.
_BASES: Final = {"g": "mass", "L": "volume", "l": "volume", "mol": "substance", "eq": "equivalents"}
_UNITS: Final[dict[str, tuple[str, Fraction]]] = {
    prefix + base: (kind, factor) for base, kind in _BASES.items() for prefix, factor in _PREFIXES.items()
} | {
    "mcg": ("mass", Fraction(1, 10**6)),  # no code of UCUM, and common on prescriptions
    "[lb_av]": ("mass", Fraction("453.59237")),
    "[oz_av]": ("mass", Fraction("28.349523125")),
    **{unit: ("activity", Fraction(1)) for unit in ("[iU]", "[IU]")},
    **{f"k{unit}": ("activity", Fraction(1000)) for unit in ("[iU]", "[IU]")},
    **{f"M{unit}": ("activity", Fraction(10**6)) for unit in ("[iU]", "[IU]")},
    "U": ("enzyme units", Fraction(1)),
}
_COUNTED: Final = frozenset(
    [
        "1",
        "tablet",
        "tablets",
        "tab",
        "tabs",
        "tbl",
        "capsule",
        "capsules",
        "cap",
        "caps",
        "puff",
        "puffs",
        "actuation",
        "actuations",
        "spray",
        "sprays",
        "patch",
        "patches",
        "suppository",
        "suppositories",
        "ampoule",
        "ampoules",
        "vial",
        "vials",
        "sachet",
        "sachets",
        "piece",
        "pieces",
        "lozenge",
        "lozenges",
    ]
)
_DIGITS_SHOWN: Final = 12
_ANNOTATION: Final = re.compile(r"\{[^{}]*\}")


def kind_of(unit: str) -> str | None:
    """Return the kind of a unit (`mass`, `volume`, …); `count` for tablets and puffs; None if it is unknown."""
    if known := _UNITS.get(unit):
        return known[0]
    return "count" if _ANNOTATION.fullmatch(unit) or unit.casefold() in _COUNTED else None


def converted(value: Fraction, unit: str, to: str) -> Fraction | None:
    """Convert exactly; None where the units are not of one kind, or unknown and not the same."""
    if unit == to:
        return value
    if unit in _UNITS and to in _UNITS and _UNITS[unit][0] == _UNITS[to][0]:
        return value * _UNITS[unit][1] / _UNITS[to][1]
    return value if kind_of(unit) == kind_of(to) == "count" else None


def shown(value: Fraction | Decimal) -> str:
    """Write a number for people: exactly where few digits do, else rounded to six of them."""
    exact = Fraction(value)
    number = (Decimal(exact.numerator) / Decimal(exact.denominator)).normalize()
    if len(number.as_tuple().digits) > _DIGITS_SHOWN:
        number = Decimal(f"{number:.6g}").normalize()
    return f"{number:f}"
