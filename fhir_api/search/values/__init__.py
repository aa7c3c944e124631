"""Values of search parameters into conditions, one file for each kind."""

from dataclasses import replace

from fhir_api.ids import is_id
from fhir_api.search.conditions import Condition, Neither, Own, Test, either
from fhir_api.search.parse import Leaf
from fhir_api.search.refusals import unsupported_modifier, wrong_value

from . import composite, date, quantity, reference, special, string, token, uri
from .context import Context
from .reference import bare

_KINDS = {
    "token": token.condition,
    "reference": reference.condition,
    "string": string.condition,
    "date": date.condition,
    "quantity": quantity.condition,
    "uri": uri.condition,
    "composite": composite.condition,
    "special": special.condition,
}


def condition(leaf: Leaf, context: Context) -> Condition:
    """The condition that a parameter's alternatives state.

    :raises InvalidSearch, UnsupportedSearch: a value or the modifier.
    """
    parameter = leaf.parameter
    alone = [replace(leaf, parameter=part._replace(code=parameter.code)) for part in parameter.parts]
    return _united([_condition(one, context) for one in alone]) if alone else _condition(leaf, context)


def patients(leaf: Leaf) -> list[str]:
    """The ids of patients that the alternatives name literally: as the resource itself, or as what it refers to."""
    if (leaf.parameter.type, leaf.parameter.code, leaf.modifier) == ("Patient", "_id", ""):
        return [one for one in leaf.values if is_id(one)]
    return reference.patients(leaf)


def _condition(leaf: Leaf, context: Context) -> Condition:
    if leaf.modifier == "missing":
        return _missing(leaf)
    if leaf.parameter.code == "_id":
        return _identity(leaf)
    return _KINDS[leaf.parameter.kind](leaf, context)


def _united(found: list[Condition]) -> Condition:
    """What is met by either of the parts; what denies (`:not`, `:missing=true`) must be met by both."""
    denied = [one for condition in found if isinstance(condition, Neither) for one in condition.conditions]
    return Neither((either(denied),)) if denied else either(found)


def _missing(leaf: Leaf) -> Condition:
    if len(leaf.values) != 1 or leaf.values[0] not in ("true", "false"):
        raise wrong_value(f"{leaf.parameter.code}:missing", "true or false")
    if leaf.parameter.is_column:
        return Own(Test("FALSE" if leaf.values[0] == "true" else "TRUE"))
    present = Own(Test("strpos({row}.parameters, {}) > 0", ((f" {leaf.parameter.number} ", "text"),)))
    return Neither((present,)) if leaf.values[0] == "true" else present


def _identity(leaf: Leaf) -> Condition:
    if leaf.modifier not in ("", "not"):
        raise unsupported_modifier("_id", leaf.modifier)
    found = Own(Test("{row}.fhir_id = ANY({})", ((list(leaf.values), "text[]"),)), rare=True)
    return Neither((found,)) if leaf.modifier else found


__all__ = ["Context", "bare", "condition", "patients"]
