"""Makes `definitions/elements.json`: the children of every element, with their types, from the StructureDefinitions.

Facts of the standard. Source: hl7.fhir.r4.core 4.0.1 (CC0-1.0), snapshots of StructureDefinition.
"""

import json
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

_SYSTEM = "http://hl7.org/fhirpath/System."


def elements(definitions: Iterable[Json]) -> dict[str, dict[str, str]]:
    """For each type and inner element its children: `name` to "HumanName*" (a star: it repeats), `value[x]` to "Quantity|string"."""
    found: dict[str, dict[str, str]] = {}
    for definition in definitions:
        if definition["kind"] != "primitive-type":
            found |= _of(definition)
    return dict(sorted(found.items()))


def _of(definition: Json) -> dict[str, dict[str, str]]:
    listed = definition["snapshot"]["element"]
    parents = {element["path"].rpartition(".")[0] for element in listed}
    found: dict[str, dict[str, str]] = {definition["name"]: {}}
    for element in listed[1:]:
        parent, _, name = element["path"].rpartition(".")
        found.setdefault(parent, {})[name] = _types(element, inner=element["path"] in parents)
    return found


def _types(element: Json, *, inner: bool) -> str:
    if reference := element.get("contentReference"):
        kinds = str(reference).removeprefix("#")
    elif inner:
        kinds = str(element["path"])
    else:
        kinds = "|".join(_type(kind["code"]) for kind in element["type"])
    repeats = element["max"] == "*"
    return f"{kinds}*" if repeats else kinds


def _type(code: str) -> str:
    return "string" if code.startswith(_SYSTEM) else code


def written(found: dict[str, dict[str, str]]) -> str:
    """The text of the file, one type a line."""
    rows = (f"{json.dumps(name)}:{json.dumps(children, separators=(',', ':'))}" for name, children in found.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"
