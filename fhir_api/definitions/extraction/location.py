"""What a resource of the type Location is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _address(entries: Entries, value: Any) -> None:
    texts.address(entries, 286, value)  # address
    texts.string(entries, 287, value.get("city"))  # address-city
    texts.string(entries, 288, value.get("country"))  # address-country
    texts.string(entries, 289, value.get("postalCode"))  # address-postalcode
    texts.string(entries, 290, value.get("state"))  # address-state
    tokens.code(entries, 291, value.get("use"), "http://hl7.org/fhir/address-use")  # address-use


def _alias(entries: Entries, values: Any) -> None:
    for value in values:
        texts.string(entries, 294, value)  # name


def _endpoint(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 292, value)  # endpoint


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 293, value)  # identifier


def _managing_organization(entries: Entries, value: Any) -> None:
    texts.reference(entries, 297, value)  # organization


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 282, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 283, part)  # _security
    texts.uri(entries, 284, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 285, part)  # _tag


def _name(entries: Entries, value: Any) -> None:
    texts.string(entries, 294, value)  # name


def _operational_status(entries: Entries, value: Any) -> None:
    tokens.coding(entries, 296, value)  # operational-status


def _part_of(entries: Entries, value: Any) -> None:
    texts.reference(entries, 298, value)  # partof


def _position(entries: Entries, value: Any) -> None:
    measures.position(entries, 295, value)  # near


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 299, value, "http://hl7.org/fhir/location-status")  # status


def _type(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 300, value)  # type


ELEMENTS: Final = {
    "address": _address,
    "alias": _alias,
    "endpoint": _endpoint,
    "identifier": _identifier,
    "managingOrganization": _managing_organization,
    "meta": _meta,
    "name": _name,
    "operationalStatus": _operational_status,
    "partOf": _part_of,
    "position": _position,
    "status": _status,
    "type": _type,
}
WHOLE: Final = ()
