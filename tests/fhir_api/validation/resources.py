"""Resources to validate: read as the service reads them, so that decimals keep their digits."""

import copy
import re
from typing import Any

from fhir_api.reading import read_stored
from tests.fhir_api import data

Json = dict[str, Any]
_CONDITIONAL = re.compile(r'"reference": ?"([A-Z][A-Za-z]+)[?][^"]*"')


def examples() -> list[Json]:
    """The official examples of all types."""
    return [read_stored(line.encode()) for line in data.example_lines()]


def synthea() -> list[Json]:
    """The resources of twenty Synthea patients, with references by urn:uuid; conditional ones are resolved."""
    lines = (
        _CONDITIONAL.sub(r'"reference":"\1/1"', line) for line in data.lines("patient_transactions_small20.ndjson.gz")
    )
    bundles = (read_stored(line.encode()) for line in lines)
    return [entry["resource"] for bundle in bundles for entry in bundle["entry"]]


def patient(**members: Any) -> Json:
    """A small valid Patient, changed."""
    return copy.deepcopy({"resourceType": "Patient", "name": [{"family": "Roe", "given": ["Jane"]}], **members})


def observation(**members: Any) -> Json:
    """A small valid Observation, changed."""
    return copy.deepcopy({"resourceType": "Observation", "status": "final", "code": {"text": "a code"}, **members})
