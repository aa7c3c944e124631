"""What a resource of the type Organization is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import texts, tokens
from fhir_api.entries import Entries


def _active(entries: Entries, value: Any) -> None:
    tokens.boolean(entries, 267, value)  # active


def _address(entries: Entries, values: Any) -> None:
    for value in values:
        texts.address(entries, 268, value)  # address
        texts.string(entries, 269, value.get("city"))  # address-city
        texts.string(entries, 270, value.get("country"))  # address-country
        texts.string(entries, 271, value.get("postalCode"))  # address-postalcode
        texts.string(entries, 272, value.get("state"))  # address-state
        tokens.code(entries, 273, value.get("use"), "http://hl7.org/fhir/address-use")  # address-use


def _alias(entries: Entries, values: Any) -> None:
    for value in values:
        texts.string(entries, 276, value)  # name


def _endpoint(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 274, value)  # endpoint


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 275, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 263, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 264, part)  # _security
    texts.uri(entries, 265, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 266, part)  # _tag


def _name(entries: Entries, value: Any) -> None:
    texts.string(entries, 276, value)  # name
    texts.string(entries, 278, value)  # phonetic


def _part_of(entries: Entries, value: Any) -> None:
    texts.reference(entries, 277, value)  # partof


def _type(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 279, value)  # type


ELEMENTS: Final = {
    "active": _active,
    "address": _address,
    "alias": _alias,
    "endpoint": _endpoint,
    "identifier": _identifier,
    "meta": _meta,
    "name": _name,
    "partOf": _part_of,
    "type": _type,
}
WHOLE: Final = ()
