"""The vital-signs profiles of R4 as small rules: from their snapshots to `definitions/vital_signs.json`.

Source: hl7.fhir.r4.examples 4.0.1 (CC0-1.0). The value sets of units are not part of that package; R4's pages list their codes.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

Json = dict[str, Any]
Elements = Mapping[str, Json]

_ROOT: Final = "Observation"
_SETS: Final = "http://hl7.org/fhir/ValueSet/"
_CODING: Final = re.compile(r"code\.coding:\w+")
_MEMBERS: Final = ("value", "unit", "system", "code")
UNITS: Final[Mapping[str, Sequence[str]]] = {
    f"{_SETS}ucum-bodylength": ("cm", "[in_i]"),
    f"{_SETS}ucum-bodytemp": ("Cel", "[degF]"),
    f"{_SETS}ucum-bodyweight": ("g", "kg", "[lb_av]"),
    f"{_SETS}ucum-vitals-common": (
        *("%", "cm", "[in_i]", "kg", "g", "[lb_av]", "Cel", "[degF]", "mm[Hg]", "/min", "kg/m2", "m2"),
    ),
}


def written(profiles: Sequence[Json], structures: Sequence[Json]) -> bytes:
    """The file, one profile a line."""
    (base,) = (one for one in structures if one["name"] == _ROOT)
    types = {one["url"]: one["type"] for one in (*profiles, *structures)}
    rules = {one["url"]: _rules(_elements(one), _elements(base), types) for one in profiles}
    lines = [f"{json.dumps(url)}: {json.dumps(rules[url])}" for url in sorted(rules)]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _elements(profile: Json) -> Elements:
    """The elements of a snapshot by their ids, which tell the slices."""
    return {one["id"].removeprefix(f"{_ROOT}."): one for one in profile["snapshot"]["element"]}


def _rules(elements: Elements, base: Elements, types: Mapping[str, str]) -> Json:
    """What a profile demands beyond the definition of Observation."""
    own = {name: one for name, one in elements.items() if name in base and "." not in name and name != _ROOT}
    return {
        "constraints": sorted(_constraints(elements) - _constraints(base)),
        "least": {_stem(name): one["min"] for name, one in own.items() if one["min"] > base[name]["min"]},
        "types": {
            _stem(name): _types(one)
            for name, one in own.items()
            if name != "value[x]" and len(_types(one)) < len(_types(base[name]))
        },
        "targets": {
            name: found for name, one in own.items() if (found := _targets(one, types)) != _targets(base[name], types)
        },
        "category": next(_fixed(elements, "category:", ".coding"), None),
        "code": next(_fixed(elements, "code.coding:", ""), None),
        "needs_code": any(one["min"] for name, one in elements.items() if _CODING.fullmatch(name)),
        "value": _value(elements, ""),
        "component": _value(elements, "component."),
        "components": [
            {"code": next(_fixed(elements, f"{name}.code.coding:", "")), "value": _value(elements, f"{name}.")}
            for name, one in elements.items()
            if name.startswith("component:") and "." not in name and one["min"]
        ],
    }


def _constraints(elements: Elements) -> set[str]:
    return {rule["key"] for one in elements.values() for rule in one.get("constraint", ())}


def _stem(name: str) -> str:
    return name.removesuffix("[x]")


def _types(element: Json) -> list[str]:
    return [one["code"] for one in element.get("type", ())]


def _targets(element: Json, types: Mapping[str, str]) -> list[str]:
    """The types that a reference may lead to; a profile counts as the type that it is of."""
    urls = [url for one in element.get("type", ()) for url in one.get("targetProfile", ())]
    return sorted(types.get(url) or url.rpartition("/")[2] for url in urls)


def _fixed(elements: Elements, start: str, end: str) -> Iterator[tuple[str, str]]:
    """The system and code that the slices of an element are told by."""
    for name, one in elements.items():
        if name.startswith(start) and name.endswith(f"{end}.code") and "fixedCode" in one:
            yield elements[f"{name.removesuffix('.code')}.system"]["fixedUri"], one["fixedCode"]


def _value(elements: Elements, inside: str) -> Json:
    """What is demanded of the value of the observation, or of a component: its type, the members and the unit of a Quantity."""
    whole = elements[f"{inside}value[x]"]
    name = f"{inside}value[x]:valueQuantity"
    quantity = elements.get(name, whole)
    is_quantity = _types(whole) == ["Quantity"]
    if whole["max"] == "0" or (is_quantity and quantity["max"] == "0"):
        return {"most": 0}
    inner = f"{name if name in elements else f'{inside}value[x]'}."
    members = {leaf: elements[inner + leaf] for leaf in _MEMBERS if inner + leaf in elements}
    found: Json = {
        "least": max(whole["min"], quantity["min"]),
        "members": [leaf for leaf, one in members.items() if one["min"]],
        "codes": _codes(members.get("code", {})) or _codes(whole),
    }
    return {**found, "types": ["Quantity"]} if is_quantity else found


def _codes(element: Json) -> list[str]:
    """The units that a code may be of: the one that is fixed, or those of the value set that is required."""
    if "fixedCode" in element:
        return [element["fixedCode"]]
    binding = element.get("binding") or {}
    is_required = binding.get("strength") == "required"
    return list(UNITS[binding["valueSet"].partition("|")[0]]) if is_required else []
