"""All that is generated from R4's definitions: which files, with which bytes."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fhir_api.resources.types import NUMBERS

from . import elements, extensions, extraction, facts, parameters, trees, ucum, value_sets, vital_signs
from .additions import ADDITIONS
from .schema import write_schema
from .structures import Structures

DEFINITIONS = Path(__file__).parents[1] / "definitions"


def read(*paths: Path) -> list[dict[str, Any]]:
    """The resources of files: JSON arrays, perhaps with gzip."""
    raw = (path.read_bytes() for path in paths)
    return [
        one for content in raw for one in json.loads(gzip.decompress(content) if content[:1] == b"\x1f" else content)
    ]


def files(
    search_parameters: list[dict[str, Any]],
    structure_definitions: list[dict[str, Any]],
    valuesets: list[dict[str, Any]],
    compartments: list[dict[str, Any]],
    *,
    vital_signs_profiles: Sequence[dict[str, Any]] = (),
    ucum_essence: bytes = b"",
) -> dict[Path, bytes]:
    """The generated files, by their path; the same input gives the same bytes.

    Those of the vital signs and of UCUM are made where the profiles and the table are given.
    """
    structures = Structures(structure_definitions, valuesets)
    table = DEFINITIONS / "parameters.json"
    rows = parameters.rows([*search_parameters, *ADDITIONS], structures, read(table) if table.exists() else [])
    return {
        table: parameters.written(rows),
        DEFINITIONS / "elements.json": elements.written(elements.elements(structure_definitions)).encode(),
        DEFINITIONS / "extensions.json": extensions.written(rows),
        DEFINITIONS / "schema.json": write_schema(structure_definitions, valuesets),
        DEFINITIONS / "value_sets.json": value_sets.written(valuesets),
        DEFINITIONS / "types.json": facts.written(structure_definitions, compartments),
        **_extraction(rows, structures),
        **_vital_signs(vital_signs_profiles, structure_definitions),
        **({DEFINITIONS / "ucum.json": ucum.written(ucum_essence)} if ucum_essence else {}),
    }


def _vital_signs(profiles: Sequence[dict[str, Any]], structures: Sequence[dict[str, Any]]) -> dict[Path, bytes]:
    return {DEFINITIONS / "vital_signs.json": vital_signs.written(profiles, structures)} if profiles else {}


def _extraction(rows: list[parameters.Row], structures: Structures) -> dict[Path, bytes]:
    folder = DEFINITIONS / "extraction"
    modules = {
        folder / f"{trees.snake(name)}.py": trees.module(extraction.tree(name, rows, structures)).encode()
        for name in NUMBERS
    }
    return {folder / "__init__.py": trees.package(list(NUMBERS)).encode(), **modules}
