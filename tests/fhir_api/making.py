"""Small valid resources of the further types, by name; each of a patient where the type has one."""

from typing import Any

Json = dict[str, Any]
RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
VERIFICATION = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
CLINICAL = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"


def concept(code: str, system: str = "http://snomed.info/sct") -> Json:
    """A CodeableConcept of one coding."""
    return {"coding": [{"system": system, "code": code}]}


def further(person: str, about: str = "") -> dict[str, Json]:
    """A resource of each further type, of the patient with this reference; Provenance is of `about`."""
    subject = {"reference": person}
    found: dict[str, Json] = {
        "AllergyIntolerance": {
            "patient": subject,
            "code": concept("91935009"),
            "clinicalStatus": concept("active", CLINICAL),
            "verificationStatus": concept("confirmed", VERIFICATION),
            "recordedDate": "2026-03-01",
        },
        "CarePlan": {"subject": subject, "status": "active", "intent": "plan", "period": {"start": "2026-01-01"}},
        "CareTeam": {"subject": subject, "status": "active"},
        "Coverage": {"beneficiary": subject, "status": "active", "payor": [{"display": "Insurance"}]},
        "Device": {"patient": subject, "status": "active", "type": concept("72506001")},
        "DocumentReference": {
            "subject": subject,
            "status": "current",
            "date": "2026-02-01T10:00:00Z",
            "content": [{"attachment": {"contentType": "text/plain", "url": "http://example.org/letter.txt"}}],
        },
        "Goal": {"subject": subject, "lifecycleStatus": "active", "description": {"text": "walk"}, "startDate": "2026"},
        "Group": {"type": "person", "actual": True, "member": [{"entity": subject}]},
        "Immunization": {
            "patient": subject,
            "status": "completed",
            "vaccineCode": concept("140", "http://hl7.org/fhir/sid/cvx"),
            "occurrenceDateTime": "2026-01-10",
        },
        "Medication": {"status": "active", "code": concept("855332", RXNORM), "batch": {"lotNumber": "L-1"}},
        "MedicationAdministration": {
            "subject": subject,
            "status": "completed",
            "medicationCodeableConcept": concept("855332", RXNORM),
            "effectiveDateTime": "2026-03-02T08:00:00Z",
        },
        "Procedure": {
            "subject": subject,
            "status": "completed",
            "code": concept("80146002"),
            "performedDateTime": "2026-03-01",
        },
        "Provenance": {
            "target": [{"reference": about or person}],
            "recorded": "2026-03-02T08:00:00Z",
            "agent": [{"who": {"display": "Ward"}}],
        },
        "QuestionnaireResponse": {"subject": subject, "status": "completed", "authored": "2026-03-01"},
        "RelatedPerson": {"patient": subject, "name": [{"family": "Sister"}]},
        "ServiceRequest": {
            "subject": subject,
            "status": "active",
            "intent": "order",
            "code": concept("26604007"),
            "authoredOn": "2026-03-01",
        },
        "Specimen": {"subject": subject, "status": "available", "receivedTime": "2026-03-01T09:00:00Z"},
    }
    return {name: {"resourceType": name, **members} for name, members in found.items()}
