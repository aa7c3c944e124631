"""Whose data a resource is: the patients whom it is about, by the search parameter `patient` of its type."""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import orjson

from fhir_api.definitions.facts import OF_PATIENTS
from fhir_api.definitions.parameters import parameter
from fhir_api.generation.expressions import elements, steps
from fhir_api.references import target, texts_at

# As the store writes it; any other form, e.g. with an identifier before the reference, is read in full.
_MEMBER = r'"%s":\{(?:"(?:type|display)":"[^"\\]*",)*"reference":"([^"\\]*)"'


class _Place(NamedTuple):
    """Where the references to patients stand: the path, and how the usual form is found where the path is one member."""

    path: tuple[str, ...]
    usual: re.Pattern[bytes] | None


def patients_of(found: Iterable[tuple[str, str, bytes | None]]) -> tuple[str, ...]:
    """The ids of the patients whom resources, given as type, id and body, are about; each once, in order."""
    named: set[str] = set()
    references: set[str] = set()  # a page is often of one patient
    for type_name, fhir_id, body in found:
        if type_name == "Patient":
            named.add(fhir_id)
        elif body and (place := _place(type_name)):
            if place.usual and b'"contained":' not in body and (match := place.usual.search(body)):
                references.add(match[1].decode())
            else:
                references.update(texts_at(orjson.loads(body), place.path))
    targets = filter(None, map(target, references))
    return tuple(sorted(named.union(fhir_id for type_name, fhir_id in targets if type_name == "Patient")))


@cache
def _place(type_name: str) -> _Place | None:
    """Where a type names its patients; None for types that are nobody's."""
    named = parameter(type_name, "patient") or parameter(type_name, "member")
    if type_name not in OF_PATIENTS or named is None:
        return None
    path = elements(steps(named.expression))
    return _Place(path, re.compile((_MEMBER % path[0]).encode()) if len(path) == 1 else None)
