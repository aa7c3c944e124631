"""What one search may see: chains, `_has` and includes are held to the same types and compartment as the matches."""

from typing import Final

from fhir_api.definitions.parameters import parameter
from fhir_api.keys import reference_key, target_key
from fhir_api.smart import Access

from .conditions import Condition, Keyed, Own, Test

# The parameters by which resources belong to a patient. Source: R4 compartmentdefinition-patient.html. Types that are not
# named hold nothing of a patient (Practitioner, PractitionerRole, Organization, Location).
COMPARTMENT: Final = {
    "Encounter": ("patient",),
    "Observation": ("subject", "performer"),
    "MedicationRequest": ("subject",),
    "MedicationDispense": ("subject", "patient", "receiver"),
    "MedicationStatement": ("subject",),
    "DiagnosticReport": ("subject",),
    "Condition": ("patient", "asserter"),
}


def within(access: Access, type_name: str) -> tuple[Condition, ...]:
    """The conditions that hold the resources of a type to the compartment of the request's one patient, if it has one."""
    if not access.patient:
        return ()
    if type_name == "Patient":
        return (Own(Test("{row}.fhir_id = {}", ((access.patient, "text"),)), rare=True),)
    codes = COMPARTMENT.get(type_name, ())
    if not codes:
        return ()
    found = [one for one in (parameter(type_name, code) for code in codes) if one]
    target = target_key("Patient", access.patient)
    return (Keyed(tuple(reference_key(one.number, target) for one in found), rare=True),)
