"""Resources whose references or contained resources break one rule each, as those of `broken`."""

from .broken import URL, request
from .resources import observation, patient

REFERENCES = {
    # references
    "33 reference to a type not allowed": (
        observation(subject={"reference": "Organization/1"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 reference of no form": (
        observation(subject={"reference": "the patient"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 reference with a bad id": (
        observation(subject={"reference": "Patient/a_b"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 reference with a bad version": (
        observation(subject={"reference": "Patient/1/_history/a_b"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 reference by a uuid that is none": (
        observation(subject={"reference": "urn:uuid:1234"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 reference by an oid that is none": (
        observation(subject={"reference": "urn:oid:9"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 reference whose type is another": (
        observation(subject={"reference": "Patient/1", "type": "Group"}),
        "Observation.subject.type",
        "value",
    ),
    "33 absolute reference to a type not allowed": (
        observation(subject={"reference": "https://example.org/fhir/Organization/1/_history/2"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 logical reference to a type not allowed": (
        observation(performer=[{"type": "Location", "identifier": {"value": "a"}}]),
        "Observation.performer[0].type",
        "value",
    ),
    "33 contained target of a type not allowed": (
        observation(contained=[{"resourceType": "Practitioner", "id": "p"}], subject={"reference": "#p"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 contained target of a type not allowed, of another interface": (
        observation(contained=[{"resourceType": "Medication", "id": "p"}], subject={"reference": "#p"}),
        "Observation.subject.reference",
        "value",
    ),
    "33 container of a type not allowed": (
        patient(contained=[observation(performer=[{"reference": "#"}], encounter={"reference": "#"})]),
        "Patient.contained[0].encounter.reference",
        "value",
    ),
    "33 contained target whose type is another": (
        observation(contained=[patient(id="p")], subject={"reference": "#p", "type": "Group"}),
        "Observation.subject.type",
        "value",
    ),
    "40 conditional reference outside a transaction": (
        observation(subject={"reference": "Patient?identifier=a"}),
        "Observation.subject.reference",
        "value",
    ),
    # contained resources
    "contained of a type of no FHIR": (
        patient(contained=[{"resourceType": "Medicine", "id": "a"}]),
        "Patient.contained[0].resourceType",
        "structure",
    ),
    "contained without a type": (patient(contained=[{"id": "a"}]), "Patient.contained[0].resourceType", "required"),
    "contained with the id of another": (
        patient(
            contained=[
                {"resourceType": "Organization", "id": "o", "name": "a"},
                {"resourceType": "Organization", "id": "o", "name": "b"},
            ],
            managingOrganization={"reference": "#o"},
        ),
        "Patient.contained[1].id",
        "value",
    ),
    "contained that is broken": (
        patient(
            contained=[{"resourceType": "Organization", "id": "o", "name": "a", "active": "yes"}],
            managingOrganization={"reference": "#o"},
        ),
        "Patient.contained[0].active",
        "value",
    ),
    "contained with a date of no calendar": (
        observation(
            contained=[patient(id="p", birthDate="2021-02-29")],
            subject={"reference": "#p"},
        ),
        "Observation.contained[0].birthDate",
        "value",
    ),
    "contained of another type with a null": (
        request(
            medicationCodeableConcept={"text": "a", "extension": [{"url": URL, "valueReference": {"reference": "#m"}}]},
            contained=[{"resourceType": "Substance", "id": "m", "code": None}],
        ),
        "MedicationRequest.contained[0].code",
        "structure",
    ),
    "contained of another type with an empty list": (
        request(
            medicationCodeableConcept={"text": "a", "extension": [{"url": URL, "valueReference": {"reference": "#m"}}]},
            contained=[{"resourceType": "Substance", "id": "m", "ingredient": [{"strength": []}]}],
        ),
        "MedicationRequest.contained[0].ingredient[0].strength",
        "structure",
    ),
}
