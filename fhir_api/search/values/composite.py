"""Composites: a token and a second value that belong together. Source: R4 search.html#combining."""

from fhir_api.keys import composite_key, date_key, string_key
from fhir_api.search.conditions import DATES, QUANTITIES, STRINGS, Condition, Keyed, Listed, either
from fhir_api.search.parse import Leaf, split
from fhir_api.search.refusals import unsupported_modifier, wrong_value

from . import quantity, token
from .context import Context
from .date import span_test
from .string import starts_with


def condition(leaf: Leaf, context: Context) -> Condition:
    """The condition of a composite parameter; its sides are written with `$` between."""
    if leaf.modifier:
        raise unsupported_modifier(leaf.parameter.code, leaf.modifier)
    return either([_one(leaf, value, context) for value in leaf.values])


def _one(leaf: Leaf, value: str, context: Context) -> Condition:
    name, number = leaf.parameter.code, leaf.parameter.number
    parts = split(value, "$")
    if len(parts) != 2 or not all(parts):
        raise wrong_value(name, "two values with a $ between")
    first = token.form(name, parts[0])
    match leaf.parameter.components[1].kind:
        case "token":
            return Keyed((composite_key(number, first, token.form(name, parts[1])),))
        case "quantity":
            return Listed(QUANTITIES, (quantity.choice(leaf, parts[1], first),))
        case "date":
            return Listed(DATES, ((date_key(number, first), span_test(leaf, parts[1], context)),))
    return Listed(STRINGS, ((string_key(number, first), starts_with(name, parts[1])),))
