"""What a resource of the type Practitioner is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import texts, tokens
from fhir_api.entries import Entries


def _active(entries: Entries, value: Any) -> None:
    tokens.boolean(entries, 225, value)  # active


def _address(entries: Entries, values: Any) -> None:
    for value in values:
        texts.address(entries, 226, value)  # address
        texts.string(entries, 227, value.get("city"))  # address-city
        texts.string(entries, 228, value.get("country"))  # address-country
        texts.string(entries, 229, value.get("postalCode"))  # address-postalcode
        texts.string(entries, 230, value.get("state"))  # address-state
        tokens.code(entries, 231, value.get("use"), "http://hl7.org/fhir/address-use")  # address-use


def _communication(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 232, value)  # communication


def _gender(entries: Entries, value: Any) -> None:
    tokens.code(entries, 235, value, "http://hl7.org/fhir/administrative-gender")  # gender


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 237, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 221, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 222, part)  # _security
    texts.uri(entries, 223, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 224, part)  # _tag


def _name(entries: Entries, values: Any) -> None:
    for value in values:
        texts.human_name(entries, 238, value)  # name
        texts.human_name(entries, 240, value)  # phonetic
        texts.string(entries, 234, value.get("family"))  # family
        for part in value.get("given", ()):
            texts.string(entries, 236, part)  # given


def _telecom(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.contact_point(entries, 241, value)  # telecom
        if value.get("system") == "email":
            tokens.contact_point(entries, 233, value)  # email
        if value.get("system") == "phone":
            tokens.contact_point(entries, 239, value)  # phone


ELEMENTS: Final = {
    "active": _active,
    "address": _address,
    "communication": _communication,
    "gender": _gender,
    "identifier": _identifier,
    "meta": _meta,
    "name": _name,
    "telecom": _telecom,
}
WHOLE: Final = ()
