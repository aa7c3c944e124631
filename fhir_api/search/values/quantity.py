"""Quantities: a number with a unit by system and code, by code or name, or with any. Source: R4 search.html#quantity."""

from fhir_api.keys import ANY_UNIT, quantity_key, system_unit_form, unit_form
from fhir_api.search.conditions import QUANTITIES, Condition, Listed, Test
from fhir_api.search.parse import Leaf, plain, split
from fhir_api.search.refusals import unsupported_modifier, wrong_value

from .context import Context
from .number import read_number

_FORM = "number, number|system|code or number||unit"


def condition(leaf: Leaf, _context: Context) -> Condition:
    """The condition of a quantity parameter."""
    if leaf.modifier:
        raise unsupported_modifier(leaf.parameter.code, leaf.modifier)
    return Listed(QUANTITIES, tuple(choice(leaf, value) for value in leaf.values))


def choice(leaf: Leaf, value: str, first: str = "") -> tuple[int, Test]:
    """The key and the test of one value; `first` is the form of the token beside it in a composite."""
    name = leaf.parameter.code
    parts = [plain(part) for part in split(value, "|")]
    if len(parts) not in (1, 3) or (any(parts[1:]) and not parts[2]):
        raise wrong_value(name, _FORM)
    unit = ANY_UNIT
    if any(parts[1:]):
        unit = system_unit_form(parts[1], parts[2]) if parts[1] else unit_form(parts[2])
    return quantity_key(leaf.parameter.number, unit, first), read_number(name, parts[0]).test()
