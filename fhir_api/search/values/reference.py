"""References: by id, by type and id, by address, by the target's identifier. Source: R4 search.html#reference."""

import re
from functools import partial
from typing import Final

from fhir_api.definitions.parameters import parameter
from fhir_api.ids import is_id
from fhir_api.keys import constant, identifier_key, reference_key, system_form, target_key, uri_key
from fhir_api.references import target, unversioned
from fhir_api.resources.types import NUMBERS
from fhir_api.search.access import within
from fhir_api.search.conditions import Chained, Condition, Keyed, Kin
from fhir_api.search.parse import Leaf, plain
from fhir_api.search.refusals import unsupported_modifier, wrong_value
from fhir_api.smart import SEARCH

from . import token
from .context import Context

# The types whose resources form trees, each with the search parameter of its `partOf`.
PART_OF: Final = {"Organization": "partof", "Location": "partof", "Encounter": "part-of"}
_BARE = re.compile(r"[A-Za-z0-9\-.]{1,64}")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:\S+")
_FORM = "an id, Type/id or an address"


def condition(leaf: Leaf, context: Context) -> Condition:
    """The condition of a reference parameter; `:Type` tells the type of a bare id."""
    if leaf.modifier in ("above", "below"):
        return _kin(leaf, context)
    if leaf.modifier == "identifier":
        keys = tuple(_by_identifier(leaf, value) for value in leaf.values)
        return Keyed(keys, rare=not any(value.endswith("|") for value in leaf.values))
    if leaf.modifier and not _may_target(leaf, leaf.modifier):
        raise unsupported_modifier(leaf.parameter.code, leaf.modifier)
    found = [key for value in leaf.values for key in _keys(leaf, plain(value))]
    return Keyed(tuple(dict.fromkeys(found)), rare=True)


def bare(leaf: Leaf) -> list[tuple[int, ...]]:
    """For each value that is an id without a type: the keys of the resources of several types that it may mean."""
    if leaf.parameter.kind != "reference" or leaf.modifier not in ("", "above", "below"):
        return []
    types = [name for name in NUMBERS if not leaf.parameter.targets or name in leaf.parameter.targets]
    ids = [plain(value) for value in leaf.values if _BARE.fullmatch(plain(value))]
    return [tuple(target_key(name, one) for name in types) for one in ids] if len(types) > 1 else []


def patients(leaf: Leaf) -> list[str]:
    """The ids of this server's patients that the values name literally; whether there are such patients is not asked."""
    if leaf.parameter.kind != "reference" or leaf.modifier not in ("", "Patient") or not _may_target(leaf, "Patient"):
        return []
    found = [target(value) or ("Patient", value) for value in map(plain, leaf.values)]
    return [fhir_id for name, fhir_id in found if name == "Patient" and is_id(fhir_id)]


def _kin(leaf: Leaf, context: Context) -> Condition:
    """A reference to a resource or to any above or below it. Source: R4 search.html#hierarchy."""
    name = f"{leaf.parameter.code}:{leaf.modifier}"
    types = [one for one in PART_OF if not leaf.parameter.targets or one in leaf.parameter.targets]
    if not types:
        raise unsupported_modifier(leaf.parameter.code, leaf.modifier)
    ids: dict[str, list[str]] = {}
    for value in map(plain, leaf.values):
        local = target(value)
        if (local and local[0] not in types) or not (local or _BARE.fullmatch(value)):
            raise wrong_value(name, f"an id, or Type/id of {', '.join(types)}")
        for one in (local[0],) if local else types:
            ids.setdefault(one, []).append(local[1] if local else value)
    links = []
    for one in filter(partial(context.access.allows, interaction=SEARCH), ids):
        part_of = parameter(one, PART_OF[one])
        assert part_of  # R4 has it
        kin = Kin(
            constant=constant(leaf.parameter.number),
            type=one,
            ids=tuple(ids[one]),
            part_of=constant(part_of.number),
            above=leaf.modifier == "above",
            conditions=within(context.access, one),
        )
        links.append(kin)
    return Chained(tuple(links))


def _may_target(leaf: Leaf, type_name: str) -> bool:
    return type_name in leaf.parameter.targets or (not leaf.parameter.targets and type_name in NUMBERS)


def _keys(leaf: Leaf, value: str) -> list[int]:
    number = leaf.parameter.number
    if local := target(value):
        if leaf.modifier and local[0] != leaf.modifier:
            return []
        return [reference_key(number, target_key(*local))]
    if _BARE.fullmatch(value):
        types = (leaf.modifier,) if leaf.modifier else leaf.parameter.targets or tuple(NUMBERS)
        return [reference_key(number, target_key(name, value)) for name in types]
    if _ADDRESS.fullmatch(value):
        return [uri_key(number, unversioned(value))]
    raise wrong_value(leaf.parameter.code, _FORM)


def _by_identifier(leaf: Leaf, value: str) -> int:
    name, number = f"{leaf.parameter.code}:identifier", leaf.parameter.number
    if value.endswith("|") and value.count("|") == 1 and len(value) > 1:
        return identifier_key(number, system_form(plain(value[:-1])))
    return identifier_key(number, token.form(name, value))
