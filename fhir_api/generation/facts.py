"""What R4 says of each type as a whole: from the definitions to `definitions/types.json`.

Sources: StructureDefinition (`isSummary`, `min` of the first level's elements), CompartmentDefinition.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fhir_api.resources.types import NUMBERS

Json = dict[str, Any]
_OF_EVERY_RESOURCE = ("id", "meta", "implicitRules", "language")


def written(structures: Sequence[Json], compartments: Sequence[Json]) -> bytes:
    """The file, one type a line."""
    by_name = {one["name"]: one for one in structures}
    lines = (f"{json.dumps(name)}: {json.dumps(_facts(by_name[name], compartments))}" for name in NUMBERS)
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _facts(structure: Json, compartments: Sequence[Json]) -> Json:
    elements = [*_first_level(structure)]
    return {
        "summary": [name for name, element in elements if element.get("isSummary")],
        "mandatory": [name for name, element in elements if element["min"]],
        "compartments": {one["code"]: codes for one in compartments if (codes := _codes(one, structure["name"]))},
    }


def _first_level(structure: Json) -> Iterator[tuple[str, Json]]:
    for element in structure["snapshot"]["element"]:
        parent, _, leaf = element["path"].partition(".")
        name = leaf.removesuffix("[x]")
        if parent and leaf and "." not in leaf and name not in _OF_EVERY_RESOURCE:
            yield name, element


def _codes(compartment: Json, type_name: str) -> list[str]:
    """The parameters of a type; `{def}` is the resource that the compartment is named after, not a parameter."""
    found = [one for one in compartment["resource"] if one["code"] == type_name]
    return [code for one in found for code in one.get("param", ()) if code != "{def}"]
