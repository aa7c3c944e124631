"""All that is generated from R4's definitions: which files, with which bytes."""

import gzip
import json
from pathlib import Path
from typing import Any

from fhir_api.resources.types import NUMBERS

from . import elements, extraction, parameters, trees, value_sets
from .additions import ADDITIONS
from .schema import write_schema
from .structures import Structures

DEFINITIONS = Path(__file__).parents[1] / "definitions"


def read(path: Path) -> list[dict[str, Any]]:
    """The resources of a file: a JSON array, perhaps with gzip."""
    raw = path.read_bytes()
    found: list[dict[str, Any]] = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    return found


def files(
    search_parameters: list[dict[str, Any]],
    structure_definitions: list[dict[str, Any]],
    valuesets: list[dict[str, Any]],
) -> dict[Path, bytes]:
    """The generated files, by their path; the same input gives the same bytes."""
    structures = Structures(structure_definitions, valuesets)
    table = DEFINITIONS / "parameters.json"
    rows = parameters.rows([*search_parameters, *ADDITIONS], structures, read(table) if table.exists() else [])
    return {
        table: parameters.written(rows),
        DEFINITIONS / "elements.json": elements.written(elements.elements(structure_definitions)).encode(),
        DEFINITIONS / "schema.json": write_schema(structure_definitions, valuesets),
        DEFINITIONS / "value_sets.json": value_sets.written(valuesets),
        **_extraction(rows, structures),
    }


def _extraction(rows: list[parameters.Row], structures: Structures) -> dict[Path, bytes]:
    folder = DEFINITIONS / "extraction"
    modules = {
        folder / f"{trees.snake(name)}.py": trees.module(extraction.tree(name, rows, structures)).encode()
        for name in NUMBERS
    }
    return {folder / "__init__.py": trees.package(list(NUMBERS)).encode(), **modules}
