"""The twelve types of resources, each with the number it has in the tables. A number is never given to another type."""

from typing import Final

NUMBERS: Final = {
    "Patient": 1,
    "Encounter": 2,
    "Observation": 3,
    "MedicationRequest": 4,
    "MedicationDispense": 5,
    "MedicationStatement": 6,
    "DiagnosticReport": 7,
    "Condition": 8,
    "Practitioner": 9,
    "PractitionerRole": 10,
    "Organization": 11,
    "Location": 12,
}
NAMES: Final = {number: name for name, number in NUMBERS.items()}
PATIENTS_TYPES: Final = frozenset(
    {
        "Patient",
        "Encounter",
        "Observation",
        "MedicationRequest",
        "MedicationDispense",
        "MedicationStatement",
        "DiagnosticReport",
        "Condition",
    }
)  # what belongs to a patient's record
FHIR_VERSION: Final = "4.0.1"
