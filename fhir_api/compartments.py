"""Which resources belong to a patient, an encounter, a practitioner, a related person or a device: R4's compartments.

Of a patient asked of bodies here and in SQL (`path`), of the index by keys (`keys`); all of them read the same search
parameters. Source: hl7.fhir.r4.core 4.0.1, CompartmentDefinition (compartmentdefinition.html).
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from django.conf import settings

from .definitions.facts import COMPARTMENTS, OF_PATIENTS
from .definitions.parameters import PARAMETERS, Parameter
from .generation.expressions import elements, steps
from .keys import reference_key, target_key
from .references import target, texts_at
from .resources import Json
from .resources.types import NUMBERS

# By type, the search parameters through which a resource names its patient. A Patient belongs to himself as well. Types with
# none are in nobody's compartment: what a clinic shows everybody of its staff and places.
PATIENT: Final[Mapping[str, tuple[str, ...]]] = {name: OF_PATIENTS.get(name, ()) for name in NUMBERS}
ENCOUNTER: Final = COMPARTMENTS["Encounter"]  # an Encounter is of its own compartment
CONFINED: Final = tuple(name for name, codes in PATIENT.items() if codes)
SHARED: Final = frozenset(PATIENT) - frozenset(CONFINED)

# The compartments that hold the resource they are named after: `{def}` of R4's definitions, and patients. A device is in none
# of its own.
_HOLDS_ITSELF: Final = frozenset({"Patient", "Encounter", "Practitioner", "RelatedPerson"})
DEFINITIONS: Final = {
    kind: f"http://hl7.org/fhir/CompartmentDefinition/{kind[0].lower()}{kind[1:]}" for kind in COMPARTMENTS
}


def types_of(kind: str) -> tuple[str, ...]:
    """The types whose resources may be in compartments of a kind, by R4's definitions."""
    itself = {kind} if kind in _HOLDS_ITSELF else set()
    return tuple(name for name in NUMBERS if name in COMPARTMENTS[kind] or name in itself)


def member_keys(type_name: str, whose: tuple[str, str]) -> tuple[int, ...]:
    """The keys under which resources of a type name the resource of a compartment, by R4's definition of it."""
    found = target_key(*whose)
    codes = COMPARTMENTS[whose[0]].get(type_name, ())
    return tuple(reference_key(PARAMETERS[type_name, code].number, found) for code in codes)


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
    return tuple(key for name in CONFINED for key in keys(name, patient))


def holds(patient: str, type_name: str, resource: Json) -> bool:
    """Tell whether a patient may see a resource: it is in his compartment, or in nobody's."""
    return type_name in SHARED or patient in patients(type_name, resource)


def patients(type_name: str, resource: Json) -> frozenset[str]:
    """The ids of the patients in whose compartments a resource is."""
    texts = {text for path in _elements(type_name) for text in texts_at(resource, path)}
    named = {found[1] for found in map(target, texts) if found and found[0] == "Patient"}
    if type_name == "Patient" and isinstance(resource.get("id"), str):
        named.add(resource["id"])
    return frozenset(named)


@lru_cache(maxsize=1024)
def paths(patient: str) -> str:
    """JSON of the JSON paths, by the numbers of types, that hold of bodies in a patient's compartment."""
    return json.dumps({str(NUMBERS[name]): _path(name, patient, settings.FHIR_BASE_URL) for name in CONFINED})


def _path(type_name: str, patient: str, base: str) -> str:
    own = f"Patient/{patient}"
    forms = [form for text in (own, f"{base}/{own}") for form in _forms(text)]
    tests = [f"@.{'.'.join(path)}.reference {form}" for path in _elements(type_name) for form in forms]
    if type_name == "Patient":
        tests.append(f"@.id == {json.dumps(patient)}")
    return f"$ ? ({' || '.join(tests)})"


def _forms(text: str) -> tuple[str, str]:
    return f"== {json.dumps(text)}", f"starts with {json.dumps(f'{text}/_history/')}"


@lru_cache(maxsize=64)
def _parameters(type_name: str) -> tuple[Parameter, ...]:
    return tuple(PARAMETERS[type_name, code] for code in PATIENT[type_name])


@lru_cache(maxsize=64)
def _elements(type_name: str) -> tuple[tuple[str, ...], ...]:
    """Where the references stand. What kind of resource one leads to, its own text tells."""
    return tuple(dict.fromkeys(elements(steps(one.expression)) for one in _parameters(type_name)))
