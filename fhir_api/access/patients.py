"""Whose data a resource is: the patients whom the eight types of a patient's record name."""

import re
from collections.abc import Iterable

import orjson

from fhir_api.references import target
from fhir_api.resources.types import PATIENTS_TYPES

# As the store writes it; any other form, e.g. with an identifier before the reference, is read in full.
_SUBJECT = re.compile(rb'"subject":\{(?:"(?:type|display)":"[^"\\]*",)*"reference":"([^"\\]*)"')


def patients_of(found: Iterable[tuple[str, str, bytes | None]]) -> tuple[str, ...]:
    """The ids of the patients whom resources, given as type, id and body, are about; each once, in order."""
    named = {_patient_of(*one) for one in found}
    return tuple(sorted(name for name in named if name))


def _patient_of(type_name: str, fhir_id: str, body: bytes | None) -> str:
    if type_name == "Patient":
        return fhir_id
    if type_name not in PATIENTS_TYPES or not body:
        return ""
    found = target(_subject_of(body))
    return found[1] if found and found[0] == "Patient" else ""


def _subject_of(body: bytes) -> str:
    if b'"contained":' not in body and (found := _SUBJECT.search(body)):
        return found[1].decode()
    subject = orjson.loads(body).get("subject")
    reference = subject.get("reference") if isinstance(subject, dict) else None
    return reference if isinstance(reference, str) else ""
