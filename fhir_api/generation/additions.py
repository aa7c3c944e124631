"""Search parameters beyond R4's own: those that US Core asks for.

Source: hl7.fhir.us.core 6.1.0 (CC0-1.0), the searches that its server should offer (CapabilityStatement us-core-server).
"""

from typing import Any, Final

_US_CORE: Final = "http://hl7.org/fhir/us/core/SearchParameter/"

ADDITIONS: Final[tuple[dict[str, Any], ...]] = (
    {
        "url": f"{_US_CORE}us-core-encounter-discharge-disposition",
        "code": "discharge-disposition",
        "base": ["Encounter"],
        "type": "token",
        "expression": "Encounter.hospitalization.dischargeDisposition",
    },
    {
        "url": f"{_US_CORE}us-core-condition-asserted-date",
        "code": "asserted-date",
        "base": ["Condition"],
        "type": "date",
        "expression": "Condition.extension('http://hl7.org/fhir/StructureDefinition/condition-assertedDate')",
    },
)

# R4 names the two definitions of this composite in the wrong order: its expressions are the code, then the target.
SWAPPED: Final = frozenset({"http://hl7.org/fhir/SearchParameter/DocumentReference-relationship"})
