"""Where the official definitions, the official examples and the Synthea patients lie that tests use.

They are no part of the project. `SHARED_DATA` names their folder; otherwise they are looked for beside the project's root.
"""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_BESIDE = Path(__file__).parents[3] / "shared" / "data"
FOLDER = Path(os.environ.get("SHARED_DATA") or _BESIDE) / "fhir"

Json = dict[str, Any]


def path(name: str) -> Path:
    """The path of a file; the test is skipped where it does not lie."""
    found = FOLDER / name
    if not found.exists():
        pytest.skip(f"{found} is not there; SHARED_DATA names the folder of the shared data")
    return found


def read(name: str) -> Any:
    """The content of a JSON file, packed or not."""
    raw = path(name).read_bytes()
    return json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)


def lines(name: str) -> Iterator[str]:
    """The lines of an NDJSON file, packed or not."""
    found = path(name)
    with gzip.open(found, "rt", encoding="utf-8") if name.endswith(".gz") else found.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield line


def definitions() -> dict[str, list[Path]]:
    """The files that `generate_fhir_definitions` reads, by the names of its options."""
    kinds = {"search_parameters": "search-parameters", "structure_definitions": "structure-definitions"}
    kinds |= {"valuesets": "required-valuesets"}
    found = {name: [path(f"r4-{kind}.json.gz"), path(f"r4-more-{kind}.json.gz")] for name, kind in kinds.items()}
    return {**found, "compartments": [path("r4-compartments.json.gz")]}


def example_lines() -> Iterator[str]:
    """The official examples of all types as they are written: 166 and 98."""
    for name in ("r4-examples.ndjson.gz", "r4-more-examples.ndjson.gz"):
        yield from lines(name)


def read_lines(name: str) -> Iterator[Json]:
    """The resources of an NDJSON file."""
    yield from map(json.loads, lines(name))


def examples(type_name: str = "") -> list[Json]:
    """The official examples of all types, or those of one."""
    found = [json.loads(line) for line in example_lines()]
    return [resource for resource in found if type_name in ("", resource["resourceType"])]


def synthea_bundles(*, small: bool = True) -> Iterator[Json]:
    """Transactions of Synthea, one patient each: 20, or all 120."""
    name = "patient_transactions_small20.ndjson.gz" if small else "patient_transactions.ndjson.gz"
    yield from map(json.loads, lines(name))
