"""The registry of the types of resources. A further type is a line here and a run of `generate_fhir_definitions`."""

from typing import Final, NamedTuple


class Kind(NamedTuple):
    """What the definitions of R4 do not say of a type.

    `number` stands for the type in the tables and is never given to another one. `date` is the search parameter of the
    clinical date, newest first in lists; `dated_by` are the elements that tell this date, the first that is there.
    """

    number: int
    date: str = ""
    dated_by: tuple[str, ...] = ()


TYPES: Final = {
    "Patient": Kind(1),
    "Encounter": Kind(2, "date", ("period",)),
    "Observation": Kind(3, "date", ("effectiveDateTime", "effectiveInstant", "effectivePeriod", "effectiveTiming")),
    "MedicationRequest": Kind(4, "authoredon", ("authoredOn",)),
    "MedicationDispense": Kind(5, "whenhandedover", ("whenHandedOver", "whenPrepared")),
    "MedicationStatement": Kind(6, "effective", ("effectiveDateTime", "effectivePeriod", "dateAsserted")),
    "DiagnosticReport": Kind(7, "date", ("effectiveDateTime", "effectivePeriod", "issued")),
    "Condition": Kind(8, "onset-date", ("onsetDateTime", "onsetPeriod", "recordedDate")),
    "Practitioner": Kind(9),
    "PractitionerRole": Kind(10),
    "Organization": Kind(11),
    "Location": Kind(12),
    "AllergyIntolerance": Kind(13, "date", ("recordedDate", "onsetDateTime", "onsetPeriod")),
    "CarePlan": Kind(14, "date", ("period", "created")),
    "CareTeam": Kind(15, "date", ("period",)),
    "Coverage": Kind(16, dated_by=("period",)),
    "Device": Kind(17),
    "DocumentReference": Kind(18, "date", ("date",)),
    "Goal": Kind(19, "start-date", ("startDate", "statusDate")),
    "Group": Kind(20),
    "Immunization": Kind(21, "date", ("occurrenceDateTime", "recorded")),
    "Medication": Kind(22),
    "MedicationAdministration": Kind(23, "effective-time", ("effectiveDateTime", "effectivePeriod")),
    "Procedure": Kind(24, "date", ("performedDateTime", "performedPeriod")),
    "Provenance": Kind(25, "recorded", ("recorded",)),
    "QuestionnaireResponse": Kind(26, "authored", ("authored",)),
    "RelatedPerson": Kind(27),
    "ServiceRequest": Kind(28, "authored", ("authoredOn",)),
    "Specimen": Kind(29, dated_by=("receivedTime",)),
}
NUMBERS: Final = {name: kind.number for name, kind in TYPES.items()}
NAMES: Final = {number: name for name, number in NUMBERS.items()}
FHIR_VERSION: Final = "4.0.1"
