"""What a resource of the type Medication is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _batch(entries: Entries, value: Any) -> None:
    measures.moment(entries, 491, value.get("expirationDate"))  # expiration-date
    tokens.code(entries, 496, value.get("lotNumber"))  # lot-number


def _code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 490, value)  # code


def _form(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 492, value)  # form


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 493, value)  # identifier


def _ingredient(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("itemCodeableConcept")) is not None:
            tokens.codeable_concept(entries, 495, part)  # ingredient-code
        if (part := value.get("itemReference")) is not None:
            texts.reference(entries, 494, part)  # ingredient


def _manufacturer(entries: Entries, value: Any) -> None:
    texts.reference(entries, 497, value)  # manufacturer


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 486, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 487, part)  # _security
    texts.uri(entries, 488, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 489, part)  # _tag


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 498, value, "http://hl7.org/fhir/CodeSystem/medication-status")  # status


ELEMENTS: Final = {
    "batch": _batch,
    "code": _code,
    "form": _form,
    "identifier": _identifier,
    "ingredient": _ingredient,
    "manufacturer": _manufacturer,
    "meta": _meta,
    "status": _status,
}
WHOLE: Final = ()
