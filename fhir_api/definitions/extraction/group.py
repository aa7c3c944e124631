"""What a resource of the type Group is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _actual(entries: Entries, value: Any) -> None:
    tokens.boolean(entries, 452, value)  # actual


def _characteristic(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("code")) is not None:
            tokens.codeable_concept(entries, 453, part)  # characteristic
        tokens.boolean(entries, 456, value.get("exclude"))  # exclude
        if (part := value.get("valueBoolean")) is not None:
            measures.token_boolean(entries, 454, value["code"], part, systems=True)  # characteristic-value
            tokens.boolean(entries, 461, part)  # value
        if (part := value.get("valueCodeableConcept")) is not None:
            measures.token_token(entries, 454, value["code"], part, systems=True)  # characteristic-value
            tokens.codeable_concept(entries, 461, part)  # value


def _code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 455, value)  # code


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 457, value)  # identifier


def _managing_entity(entries: Entries, value: Any) -> None:
    texts.reference(entries, 458, value)  # managing-entity


def _member(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("entity")) is not None:
            texts.reference(entries, 459, part)  # member


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 448, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 449, part)  # _security
    texts.uri(entries, 450, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 451, part)  # _tag


def _type(entries: Entries, value: Any) -> None:
    tokens.code(entries, 460, value, "http://hl7.org/fhir/group-type")  # type


ELEMENTS: Final = {
    "actual": _actual,
    "characteristic": _characteristic,
    "code": _code,
    "identifier": _identifier,
    "managingEntity": _managing_entity,
    "member": _member,
    "meta": _meta,
    "type": _type,
}
WHOLE: Final = ()
