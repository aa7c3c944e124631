"""Strings: begin with, contain, or are exactly. Source: R4 search.html#string."""

from fhir_api.keys import LONGEST, comparable, exact_key, string_key
from fhir_api.search.conditions import STRINGS, Condition, Keyed, Listed, Test
from fhir_api.search.parse import Leaf, plain
from fhir_api.search.refusals import unsupported_modifier, wrong_value

from .context import Context

_HIGHEST = "\U0010ffff"  # the last character there is, in the order of bytes too


def condition(leaf: Leaf, _context: Context) -> Condition:
    """The condition of a string parameter."""
    name, key = leaf.parameter.code, string_key(leaf.parameter.number)
    match leaf.modifier:
        case "":
            return Listed(STRINGS, tuple((key, starts_with(name, value)) for value in leaf.values))
        case "contains":
            return Listed(STRINGS, tuple((key, _contains(name, value)) for value in leaf.values), broad=True)
        case "exact":
            return Keyed(tuple(exact_key(leaf.parameter.number, plain(value)) for value in leaf.values))
    raise unsupported_modifier(leaf.parameter.code, leaf.modifier)


def starts_with(name: str, value: str) -> Test:
    """The test that a text begins so, whatever case and accents; as a range, which the index answers.

    :raises InvalidSearch: it is longer than what is kept of a text.
    """
    begin = _text(name, value)
    return Test("{row}.value >= {} AND {row}.value < {}", ((begin, "text"), (begin + _HIGHEST, "text")))


def _contains(name: str, value: str) -> Test:
    return Test("strpos({row}.value, {}) > 0", ((_text(name, value), "text"),))


def _text(name: str, value: str) -> str:
    """What is compared with the beginnings of texts; cut as they are, it would find others too."""
    text = comparable(plain(value))
    if len(text) > LONGEST:
        raise wrong_value(name, f"at most {LONGEST} characters, as no more of a text is searched")
    return text
