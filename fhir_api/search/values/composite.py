"""Composites: a token and a second value that belong together. Source: R4 search.html#combining."""

from collections.abc import Sequence
from typing import Final

from fhir_api.definitions.parameters import parameter
from fhir_api.ids import is_id
from fhir_api.keys import composite_key, date_key, string_key, system_form, target_form
from fhir_api.references import target
from fhir_api.search.conditions import DATES, QUANTITIES, STRINGS, AllOf, Condition, Keyed, Listed, Own, Test, either
from fhir_api.search.parse import Leaf, split
from fhir_api.search.refusals import unsupported_modifier, wrong_value

from . import date, quantity, string, token
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
    tokens = [text for text, one in zip(parts, leaf.parameter.components, strict=True) if one.kind == "token"]
    if leaf.parameter.expression == leaf.parameter.type and any(_is_system(name, text) for text in tokens):
        return _of_sides(leaf, parts, context)
    first = _form(name, parts[0])
    match leaf.parameter.components[1].kind:
        case "token":
            return Keyed((composite_key(number, first, _form(name, parts[1])),))
        case "reference":
            return Keyed(tuple(composite_key(number, first, form) for form in _targets(leaf, parts[1])), rare=True)
        case "quantity":
            return Listed(QUANTITIES, (quantity.choice(leaf, parts[1], first),))
        case "date":
            return Listed(DATES, ((date_key(number, first), span_test(leaf, parts[1], context)),))
    return Listed(STRINGS, ((string_key(number, first), starts_with(name, parts[1])),))


def _is_system(name: str, text: str) -> bool:
    """Tell whether a token is written `system|`, any code of it."""
    system, code = token.parts(name, text)
    return bool(system) and not code


def _form(name: str, text: str) -> str:
    """The form of a token, `system|` among them, which the entries of elements that repeat have."""
    system, code = token.parts(name, text)
    return system_form(system) if system and not code else token.form(name, text)


def _of_sides(leaf: Leaf, parts: Sequence[str], context: Context) -> Condition:
    """A composite of a resource as a whole: each side is there once, so that two parameters together say the same.

    That the resource has the composite tells which type its value is of: a parameter of values may take more types.
    """
    sides = []
    for component, text in zip(leaf.parameter.components, parts, strict=True):
        own = parameter(leaf.parameter.type, component.code)
        assert own  # R4 defines a composite by parameters of the same type
        sides.append(_SIDES[component.kind](Leaf(own._replace(code=leaf.parameter.code), "", (text,)), context))
    has = Own(Test("strpos({row}.parameters, {}) > 0", ((f" {leaf.parameter.number} ", "text"),)))
    return AllOf((*sides, has))


_SIDES: Final = {
    "token": token.condition,
    "quantity": quantity.condition,
    "date": date.condition,
    "string": string.condition,
}


def _targets(leaf: Leaf, value: str) -> list[str]:
    """The forms of what a reference may mean: `Type/id`, or an id of any type that the parameter may point to."""
    if found := target(value):
        return [target_form(*found)]
    referring = parameter(leaf.parameter.type, leaf.parameter.components[1].code)
    if referring is None or not is_id(value):
        raise wrong_value(leaf.parameter.code, "a code and an id or Type/id, with a $ between")
    return [target_form(name, value) for name in referring.targets]
