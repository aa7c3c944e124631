"""Strings: begin with, contain, or are exactly. Source: R4 search.html#string."""

from fhir_api.keys import exact_key, normal, string_key
from fhir_api.search.conditions import STRINGS, Condition, Keyed, Listed, Test
from fhir_api.search.parse import Leaf, plain
from fhir_api.search.refusals import unsupported_modifier

from .context import Context

_HIGHEST = "\U0010ffff"  # the last character there is, in the order of bytes too


def condition(leaf: Leaf, _context: Context) -> Condition:
    """The condition of a string parameter."""
    key = string_key(leaf.parameter.number)
    match leaf.modifier:
        case "":
            return Listed(STRINGS, tuple((key, starts_with(plain(value))) for value in leaf.values))
        case "contains":
            return Listed(STRINGS, tuple((key, _contains(plain(value))) for value in leaf.values), broad=True)
        case "exact":
            return Keyed(tuple(exact_key(leaf.parameter.number, plain(value)) for value in leaf.values))
    raise unsupported_modifier(leaf.parameter.code, leaf.modifier)


def starts_with(text: str) -> Test:
    """The test that a text begins so, whatever case and accents; as a range, which the index answers."""
    begin = normal(text)
    return Test("{row}.value >= {} AND {row}.value < {}", ((begin, "text"), (begin + _HIGHEST, "text")))


def _contains(text: str) -> Test:
    return Test("strpos({row}.value, {}) > 0", ((normal(text), "text"),))
