"""What R4 says of each type as a whole: its compartments, the elements of its summary and those that must be there.

`types.json` is generated (`./dev manage generate_fhir_definitions`). Source: hl7.fhir.r4.core 4.0.1, CC0-1.0.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("types.json")
_FACTS: Final[Mapping[str, Any]] = json.loads(FILE.read_bytes())

# The first level's elements, a choice by its base.
SUMMARY: Final[Mapping[str, frozenset[str]]] = {name: frozenset(one["summary"]) for name, one in _FACTS.items()}
MANDATORY: Final[Mapping[str, frozenset[str]]] = {name: frozenset(one["mandatory"]) for name, one in _FACTS.items()}

# By compartment ("Patient") and type, the search parameters through which a resource is in it.
COMPARTMENTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    whose: {name: tuple(one["compartments"][whose]) for name, one in _FACTS.items() if whose in one["compartments"]}
    for whose in ("Patient", "Encounter", "Practitioner", "RelatedPerson", "Device")
}
# Those of patients, and devices too: R4 leaves them out of the compartment, but a device in use tells of its patient.
OF_PATIENTS: Final[Mapping[str, tuple[str, ...]]] = {**COMPARTMENTS["Patient"], "Device": ("patient",)}
PATIENTS_TYPES: Final = frozenset(OF_PATIENTS)
