"""The extraction of the twelve types: generated, not written."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fhir_api.entries import Entries

from . import (
    condition,
    diagnostic_report,
    encounter,
    location,
    medication_dispense,
    medication_request,
    medication_statement,
    observation,
    organization,
    patient,
    practitioner,
    practitioner_role,
)

Extract = Callable[[Entries, Any], None]

# For each type: what to do with each of its elements, and what with the resource as a whole.
EXTRACTIONS: Final[Mapping[str, tuple[Mapping[str, Extract], tuple[Extract, ...]]]] = {
    "Patient": (patient.ELEMENTS, patient.WHOLE),
    "Encounter": (encounter.ELEMENTS, encounter.WHOLE),
    "Observation": (observation.ELEMENTS, observation.WHOLE),
    "MedicationRequest": (medication_request.ELEMENTS, medication_request.WHOLE),
    "MedicationDispense": (medication_dispense.ELEMENTS, medication_dispense.WHOLE),
    "MedicationStatement": (medication_statement.ELEMENTS, medication_statement.WHOLE),
    "DiagnosticReport": (diagnostic_report.ELEMENTS, diagnostic_report.WHOLE),
    "Condition": (condition.ELEMENTS, condition.WHOLE),
    "Practitioner": (practitioner.ELEMENTS, practitioner.WHOLE),
    "PractitionerRole": (practitioner_role.ELEMENTS, practitioner_role.WHOLE),
    "Organization": (organization.ELEMENTS, organization.WHOLE),
    "Location": (location.ELEMENTS, location.WHOLE),
}
