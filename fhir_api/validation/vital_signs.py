"""An Observation held to the vital-signs profiles of R4: the profile that its code names, and those that its meta.profile names.

The rules are generated (`generation/vital_signs.py`). Source: R4 observation-vitalsigns.html.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from fhir_api.outcomes import Issue

from . import containment, ucum
from .definitions import choices
from .faults import CODE_INVALID, REQUIRED, STRUCTURE, VALUE, Fault, broken, listed
from .faults import Path as Spot
from .invariants import Surroundings
from .rules import BY_PROFILE

Json = dict[str, Any]

_TYPE: Final = "Observation"
_FILE: Final = Path(__file__).resolve().parent.parent / "definitions" / "vital_signs.json"
_OF_ALL: Final = "http://hl7.org/fhir/StructureDefinition/vitalsigns"
_VERSION: Final = "4.0.1"
_RULES: Final[Mapping[str, Json]] = json.loads(_FILE.read_bytes())
_BY_CODE: Final = {tuple(one["code"]): url for url, one in _RULES.items() if one["code"]}
_STEMS: Final = choices(_TYPE)  # those of a component are the same
_SPEAKING: Final = frozenset({"component", "hasMember", "dataAbsentReason", "value"})
_NOWHERE: Final = Surroundings()
_SHORTEST: Final = 8  # characters of a date that vs-1 takes for one of a day


def profile_of(address: object) -> str:
    """The vital-signs profile that a canonical address names, perhaps with its version; "" for any other."""
    url, _, version = address.partition("|") if isinstance(address, str) else ("", "", "")
    return url if url in _RULES and version in ("", _VERSION) else ""


def profiles_of(resource: Json) -> list[str]:
    """The profiles that a valid Observation is held to; none for any other resource.

    The profile of all vital signs is part of every other one.
    """
    if resource["resourceType"] != _TYPE:
        return []
    codings = resource.get("code", {}).get("coding", ())
    named = [found for one in codings if (found := _BY_CODE.get((one.get("system"), one.get("code"))))]
    named += [found for one in resource.get("meta", {}).get("profile", ()) if (found := profile_of(one))]
    return [one for one in dict.fromkeys(named) if one != _OF_ALL] or named[:1]


def judge(resource: Json, profiles: Iterable[str]) -> list[Issue]:
    """Find what breaks these profiles in an Observation that `validate` found valid; each fault once."""
    found: dict[tuple[Spot, str, str], Fault] = {}
    surroundings = Surroundings(containment.types(resource)) if "contained" in resource else _NOWHERE
    for url in profiles:
        name = url.rpartition("/")[2]
        for fault in _faults(_RULES[url], resource, surroundings):
            told = Fault(fault.code, f"{fault.diagnostics} (profile {name})", fault.path, fault.rule)
            missing = fault.diagnostics if fault.code == REQUIRED else ""  # two components may be missing at one place
            found.setdefault((fault.path, fault.code, missing), told)
    return [fault.issue(_TYPE) for fault in found.values()]


def _faults(rules: Json, resource: Json, surroundings: Surroundings) -> Iterator[Fault]:
    named = _elements(resource)
    yield from _shaped(rules, resource, named)
    for name, targets in rules["targets"].items():
        yield from _targeted(resource.get(name, {}), name, targets, surroundings)
    yield from _coded(rules, resource)
    yield from _valued(resource, named.get("value", ""), rules["value"])
    if "component" in resource:
        yield from _components(rules, resource["component"])
    for key in rules["constraints"]:
        yield from _CONSTRAINTS[key](resource, named)


def _shaped(rules: Json, resource: Json, named: Mapping[str, str]) -> Iterator[Fault]:
    """Which elements are there, how often, and of which type."""
    for name, least in rules["least"].items():
        if name not in named:
            yield Fault(REQUIRED, f"{name} is required.", (name,))
        elif least > 1 and len(resource[name]) < least:
            yield Fault(REQUIRED, f"At least {least} of {name} are required.", (name,))
    for name, types in rules["types"].items():
        if name in named and named[name] not in _members(name, tuple(types)):
            yield Fault(STRUCTURE, f"{name} is of type {listed(types)}.", (named[name],))


def _elements(holder: Json) -> dict[str, str]:
    """The elements that are there, each with the member that holds it, also where only its sibling does."""
    plain = [name[1:] if name[0] == "_" else name for name in holder]
    return {_STEMS.get(name, name): name for name in plain}


@cache
def _members(name: str, types: tuple[str, ...]) -> frozenset[str]:
    """The members that an element of one of these types may be in."""
    return frozenset(name + kind[0].upper() + kind[1:] for kind in types)


def _targeted(value: Json, name: str, targets: Sequence[str], surroundings: Surroundings) -> Iterator[Fault]:
    stated = value.get("type", "").rpartition("/")[2]
    kind = surroundings.type_of(value.get("reference", "")) or stated
    if kind and kind not in targets:
        member = "reference" if "reference" in value else "type"
        yield Fault(VALUE, f"The reference may be to {listed(targets)} only.", (name, member))


def _coded(rules: Json, resource: Json) -> Iterator[Fault]:
    """The category of all vital signs, and the code of this one."""
    if "category" in resource:
        category = [place for place, one in enumerate(resource["category"]) if _count(one, *rules["category"])]
        if not category:
            yield Fault(
                CODE_INVALID, f"A category with the code {_told(rules['category'])} is required.", ("category",)
            )
        for place in category[1:]:
            yield Fault(STRUCTURE, "This category stands once.", ("category", place))
    if rules["needs_code"] and (count := _count(resource.get("code", {}), *rules["code"])) != 1:
        words = f"The code {_told(rules['code'])} stands once." if count else f"{_told(rules['code'])} is required."
        yield Fault(STRUCTURE if count else CODE_INVALID, words, ("code",))


def _count(concept: Json, system: str, code: str) -> int:
    """How often a concept has a code."""
    found = 0
    for one in concept.get("coding", ()):
        if one.get("code") == code and one.get("system") == system:
            found += 1
    return found


def _told(code: Sequence[str]) -> str:
    return "|".join(code)


def _components(rules: Json, components: Sequence[Json]) -> Iterator[Fault]:
    """What is demanded of every component, and of those with certain codes, each of which stands once."""
    for place, one in enumerate(components):
        faults = _valued(one, _elements(one).get("value", ""), rules["component"])
        yield from (fault.under("component", place) for fault in faults)
    for wanted in rules["components"]:
        places = [place for place, one in enumerate(components) if _count(one.get("code", {}), *wanted["code"])]
        if not places:
            yield Fault(REQUIRED, f"A component with the code {_told(wanted['code'])} is required.", ("component",))
        for place in places[:1]:
            one = components[place]
            faults = _valued(one, _elements(one).get("value", ""), wanted["value"])
            yield from (fault.under("component", place) for fault in faults)
        for place in places[1:]:
            yield Fault(STRUCTURE, "A component of this code stands once.", ("component", place))


def _valued(holder: Json, name: str, rules: Json) -> Iterator[Fault]:
    """The value of an observation or of a component: whether there is one, of which type, in which units."""
    if not name:
        if rules.get("least"):
            yield Fault(REQUIRED, "value is required.", ("value",))
    elif "most" in rules:
        yield Fault(STRUCTURE, "There is no value here.", (name,))
    elif name == "valueQuantity":
        for fault in _quantity(holder.get(name, {}), rules):
            yield fault.under(name)
    elif "types" in rules:
        yield Fault(STRUCTURE, f"value is of type {listed(rules['types'])}.", (name,))
    elif name == "valueCodeableConcept" and rules["codes"]:
        is_unit = any(_count(holder.get(name, {}), ucum.SYSTEM, code) for code in rules["codes"])
        yield from () if is_unit else (Fault(CODE_INVALID, _units(rules["codes"]), (name,)),)


def _quantity(value: Json, rules: Json) -> Iterator[Fault]:
    missing = [name for name in rules["members"] if name not in value and f"_{name}" not in value]
    for name in missing:
        yield Fault(REQUIRED, f"{name} is required.", (name,))
    if not rules["codes"]:
        return
    if "system" not in missing and value.get("system") != ucum.SYSTEM:
        yield Fault(VALUE, f"The system is {ucum.SYSTEM}.", ("system",))
    elif "code" not in missing and value.get("code") not in rules["codes"]:
        yield Fault(CODE_INVALID, _units(rules["codes"]), ("code",))


def _units(codes: Sequence[str]) -> str:
    return f"The unit is {listed(codes)}."


def _known_to_the_day(resource: Json, _: Mapping[str, str]) -> Iterator[Fault]:
    if 0 < len(resource.get("effectiveDateTime", "")) < _SHORTEST:
        yield broken("vs-1", BY_PROFILE["vs-1"], "effectiveDateTime")


def _has_value(_: Json, named: Mapping[str, str]) -> Iterator[Fault]:
    if _SPEAKING.isdisjoint(named):
        yield broken("vs-2", BY_PROFILE["vs-2"])


def _components_have_values(resource: Json, _: Mapping[str, str]) -> Iterator[Fault]:
    for place, one in enumerate(resource.get("component", ())):
        if "dataAbsentReason" not in one and "value" not in _elements(one):
            yield broken("vs-3", BY_PROFILE["vs-3"], "component", place)


_CONSTRAINTS: Final[Mapping[str, Callable[[Json, Mapping[str, str]], Iterator[Fault]]]] = {
    "vs-1": _known_to_the_day,
    "vs-2": _has_value,
    "vs-3": _components_have_values,
}

__all__ = ["judge", "profile_of", "profiles_of"]
