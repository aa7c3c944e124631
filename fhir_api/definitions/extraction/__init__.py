"""The extraction of all types: generated, not written."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fhir_api.entries import Entries

from . import (
    allergy_intolerance,
    care_plan,
    care_team,
    condition,
    coverage,
    device,
    diagnostic_report,
    document_reference,
    encounter,
    goal,
    group,
    immunization,
    location,
    medication,
    medication_administration,
    medication_dispense,
    medication_request,
    medication_statement,
    observation,
    organization,
    patient,
    practitioner,
    practitioner_role,
    procedure,
    provenance,
    questionnaire_response,
    related_person,
    service_request,
    specimen,
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
    "AllergyIntolerance": (allergy_intolerance.ELEMENTS, allergy_intolerance.WHOLE),
    "CarePlan": (care_plan.ELEMENTS, care_plan.WHOLE),
    "CareTeam": (care_team.ELEMENTS, care_team.WHOLE),
    "Coverage": (coverage.ELEMENTS, coverage.WHOLE),
    "Device": (device.ELEMENTS, device.WHOLE),
    "DocumentReference": (document_reference.ELEMENTS, document_reference.WHOLE),
    "Goal": (goal.ELEMENTS, goal.WHOLE),
    "Group": (group.ELEMENTS, group.WHOLE),
    "Immunization": (immunization.ELEMENTS, immunization.WHOLE),
    "Medication": (medication.ELEMENTS, medication.WHOLE),
    "MedicationAdministration": (medication_administration.ELEMENTS, medication_administration.WHOLE),
    "Procedure": (procedure.ELEMENTS, procedure.WHOLE),
    "Provenance": (provenance.ELEMENTS, provenance.WHOLE),
    "QuestionnaireResponse": (questionnaire_response.ELEMENTS, questionnaire_response.WHOLE),
    "RelatedPerson": (related_person.ELEMENTS, related_person.WHOLE),
    "ServiceRequest": (service_request.ELEMENTS, service_request.WHOLE),
    "Specimen": (specimen.ELEMENTS, specimen.WHOLE),
}
