"""What one search may see: types, and the compartment of one patient. Chains, `_has` and includes are held to it as well."""

from dataclasses import dataclass
from typing import Final, Protocol

from fhir_api.definitions.parameters import parameter
from fhir_api.keys import reference_key, target_key
from fhir_api.types import NUMBERS

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


class Access(Protocol):
    """The rights of a request, as `smart` reads them from the token."""

    def may_search(self, type_name: str) -> bool:
        """Tell whether resources of the type may be found."""
        ...

    @property
    def patient(self) -> str | None:
        """The id of the only patient whose record may be seen; None where all may."""
        ...


@dataclass(frozen=True, slots=True)
class Everything:
    """The platform itself, and tokens without narrower scopes."""

    patient: str | None = None

    def may_search(self, type_name: str) -> bool:
        """Tell that the type is one of the twelve."""
        return type_name in NUMBERS


def within(access: Access, type_name: str) -> tuple[Condition, ...]:
    """The conditions that hold the resources of a type to the patient's compartment."""
    patient = access.patient
    if patient is None:
        return ()
    if type_name == "Patient":
        return (Own(Test("{row}.fhir_id = {}", ((patient, "text"),)), rare=True),)
    codes = COMPARTMENT.get(type_name, ())
    if not codes:
        return ()
    found = [one for one in (parameter(type_name, code) for code in codes) if one]
    target = target_key("Patient", patient)
    return (Keyed(tuple(reference_key(one.number, target) for one in found), rare=True),)
