"""What a resource of the type RelatedPerson is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _active(entries: Entries, value: Any) -> None:
    tokens.boolean(entries, 580, value)  # active


def _address(entries: Entries, values: Any) -> None:
    for value in values:
        texts.address(entries, 581, value)  # address
        texts.string(entries, 582, value.get("city"))  # address-city
        texts.string(entries, 583, value.get("country"))  # address-country
        texts.string(entries, 584, value.get("postalCode"))  # address-postalcode
        texts.string(entries, 585, value.get("state"))  # address-state
        tokens.code(entries, 586, value.get("use"), "http://hl7.org/fhir/address-use")  # address-use


def _birth_date(entries: Entries, value: Any) -> None:
    measures.moment(entries, 587, value)  # birthdate


def _gender(entries: Entries, value: Any) -> None:
    tokens.code(entries, 589, value, "http://hl7.org/fhir/administrative-gender")  # gender


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 590, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 576, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 577, part)  # _security
    texts.uri(entries, 578, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 579, part)  # _tag


def _name(entries: Entries, values: Any) -> None:
    for value in values:
        texts.human_name(entries, 591, value)  # name
        texts.human_name(entries, 594, value)  # phonetic


def _patient(entries: Entries, value: Any) -> None:
    texts.reference(entries, 592, value)  # patient


def _relationship(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 595, value)  # relationship


def _telecom(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.contact_point(entries, 596, value)  # telecom
        if value.get("system") == "email":
            tokens.contact_point(entries, 588, value)  # email
        if value.get("system") == "phone":
            tokens.contact_point(entries, 593, value)  # phone


ELEMENTS: Final = {
    "active": _active,
    "address": _address,
    "birthDate": _birth_date,
    "gender": _gender,
    "identifier": _identifier,
    "meta": _meta,
    "name": _name,
    "patient": _patient,
    "relationship": _relationship,
    "telecom": _telecom,
}
WHOLE: Final = ()
