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


def examples(type_name: str = "") -> list[Json]:
    """The 166 official examples of the twelve types, or those of one."""
    found = [json.loads(line) for line in lines("r4-examples.ndjson.gz")]
    return [resource for resource in found if type_name in ("", resource["resourceType"])]


def synthea_bundles(*, small: bool = True) -> Iterator[Json]:
    """Transactions of Synthea, one patient each: 20, or all 120."""
    name = "patient_transactions_small20.ndjson.gz" if small else "patient_transactions.ndjson.gz"
    yield from map(json.loads, lines(name))
