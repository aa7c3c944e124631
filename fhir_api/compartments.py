"""Which resources belong to a patient: R4's compartment of the patient, as one table for the twelve types.

Asked of bodies here and in SQL (`path`), of the index by keys (`keys`); all of them read the same search parameters.
Source: hl7.fhir.r4.core 4.0.1, CompartmentDefinition/patient (compartmentdefinition-patient.html).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from django.conf import settings

from .definitions.parameters import PARAMETERS, Parameter
from .generation.expressions import Field, steps
from .keys import reference_key, target_key
from .references import target
from .resources import Json
from .resources.types import NUMBERS

# By type, the search parameters through which a resource names its patient. A Patient belongs to himself as well. Types with
# none are in nobody's compartment: what a clinic shows everybody of its staff and places.
PATIENT: Final[Mapping[str, tuple[str, ...]]] = {
    "Patient": ("link",),
    "Encounter": ("patient",),
    "Observation": ("subject", "performer"),
    "MedicationRequest": ("subject",),
    "MedicationDispense": ("subject", "patient", "receiver"),
    "MedicationStatement": ("subject",),
    "DiagnosticReport": ("subject",),
    "Condition": ("patient", "asserter"),
    "Practitioner": (),
    "PractitionerRole": (),
    "Organization": (),
    "Location": (),
}
# The same of an encounter, which is of its own compartment. Source: CompartmentDefinition/encounter.
ENCOUNTER: Final[Mapping[str, tuple[str, ...]]] = {
    "Observation": ("encounter",),
    "MedicationRequest": ("encounter",),
    "DiagnosticReport": ("encounter",),
    "Condition": ("encounter",),
}
TYPES: Final = tuple(name for name, codes in PATIENT.items() if codes)
SHARED: Final = frozenset(PATIENT) - frozenset(TYPES)


@lru_cache(maxsize=4096)
def keys(type_name: str, patient: str) -> tuple[int, ...]:
    """The keys of postings under which resources of a type name a patient; a Patient's own row has none for himself."""
    found = target_key("Patient", patient)
    return tuple(reference_key(one.number, found) for one in _parameters(type_name))


def encounter_keys(type_name: str, encounter: str) -> tuple[int, ...]:
    """The keys under which resources of a type name an encounter; none of a type that is never of one."""
    found = target_key("Encounter", encounter)
    return tuple(reference_key(PARAMETERS[type_name, code].number, found) for code in ENCOUNTER.get(type_name, ()))


def all_keys(patient: str) -> tuple[int, ...]:
    """The same for all types."""
    return tuple(key for name in TYPES for key in keys(name, patient))


def holds(patient: str, type_name: str, resource: Json) -> bool:
    """Tell whether a patient may see a resource: it is in his compartment, or in nobody's."""
    return type_name in SHARED or patient in patients(type_name, resource)


def patients(type_name: str, resource: Json) -> frozenset[str]:
    """The ids of the patients in whose compartments a resource is."""
    named = {found for path in _elements(type_name) for found in _named(resource, path)}
    if type_name == "Patient" and isinstance(resource.get("id"), str):
        named.add(resource["id"])
    return frozenset(named)


@lru_cache(maxsize=1024)
def paths(patient: str) -> str:
    """JSON of the JSON paths, by the numbers of types, that hold of bodies in a patient's compartment."""
    return json.dumps({str(NUMBERS[name]): _path(name, patient, settings.FHIR_BASE_URL) for name in TYPES})


def _path(type_name: str, patient: str, base: str) -> str:
    own = f"Patient/{patient}"
    forms = [form for text in (own, f"{base}/{own}") for form in _forms(text)]
    tests = [f"@.{'.'.join(path)}.reference {form}" for path in _elements(type_name) for form in forms]
    if type_name == "Patient":
        tests.append(f"@.id == {json.dumps(patient)}")
    return f"$ ? ({' || '.join(tests)})"


def _forms(text: str) -> tuple[str, str]:
    return f"== {json.dumps(text)}", f"starts with {json.dumps(f'{text}/_history/')}"


@lru_cache(maxsize=16)
def _parameters(type_name: str) -> tuple[Parameter, ...]:
    return tuple(PARAMETERS[type_name, code] for code in PATIENT[type_name])


@lru_cache(maxsize=16)
def _elements(type_name: str) -> tuple[tuple[str, ...], ...]:
    """Where the references stand. What kind of resource one leads to, its own text tells."""
    found = [steps(one.expression) for one in _parameters(type_name)]
    return tuple(dict.fromkeys(tuple(step.name for step in path if isinstance(step, Field)) for path in found))


def _named(value: Any, path: Sequence[str]) -> Iterator[str]:
    """The patients whom the references at a path name; what is not of its form names nobody."""
    if isinstance(value, list):
        for one in value:
            yield from _named(one, path)
    elif isinstance(value, dict):
        if path:
            yield from _named(value.get(path[0]), path[1:])
        elif isinstance(text := value.get("reference"), str) and (found := target(text)) and found[0] == "Patient":
            yield found[1]
