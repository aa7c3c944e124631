"""What a resource of the type Patient is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _active(entries: Entries, value: Any) -> None:
    tokens.boolean(entries, 7, value)  # active


def _address(entries: Entries, values: Any) -> None:
    for value in values:
        texts.address(entries, 8, value)  # address
        texts.string(entries, 9, value.get("city"))  # address-city
        texts.string(entries, 10, value.get("country"))  # address-country
        texts.string(entries, 11, value.get("postalCode"))  # address-postalcode
        texts.string(entries, 12, value.get("state"))  # address-state
        tokens.code(entries, 13, value.get("use"), "http://hl7.org/fhir/address-use")  # address-use


def _birth_date(entries: Entries, value: Any) -> None:
    measures.moment(entries, 14, value)  # birthdate


def _communication(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("language")) is not None:
            tokens.codeable_concept(entries, 23, part)  # language


def _deceased_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 15, value)  # death-date


def _extension(entries: Entries, values: Any) -> None:
    for value in values:
        if value.get("url") == "http://hl7.org/fhir/StructureDefinition/patient-extensions-Patient-mothersMaidenName":
            texts.extension_string(entries, 25, value)  # mothersMaidenName
        if value.get("url") == "http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName":
            texts.extension_string(entries, 25, value)  # mothersMaidenName


def _gender(entries: Entries, value: Any) -> None:
    tokens.code(entries, 19, value, "http://hl7.org/fhir/administrative-gender")  # gender


def _general_practitioner(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 20, value)  # general-practitioner


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 22, value)  # identifier


def _link(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("other")) is not None:
            texts.reference(entries, 24, part)  # link


def _managing_organization(entries: Entries, value: Any) -> None:
    texts.reference(entries, 27, value)  # organization


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 3, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 4, part)  # _security
    texts.uri(entries, 5, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 6, part)  # _tag


def _name(entries: Entries, values: Any) -> None:
    for value in values:
        texts.human_name(entries, 26, value)  # name
        texts.human_name(entries, 29, value)  # phonetic
        texts.string(entries, 18, value.get("family"))  # family
        for part in value.get("given", ()):
            texts.string(entries, 21, part)  # given


def _telecom(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.contact_point(entries, 30, value)  # telecom
        if value.get("system") == "email":
            tokens.contact_point(entries, 17, value)  # email
        if value.get("system") == "phone":
            tokens.contact_point(entries, 28, value)  # phone


def _whole(entries: Entries, value: Any) -> None:
    tokens.holds(entries, 16, value, ("deceasedBoolean", "deceasedDateTime"))  # deceased


ELEMENTS: Final = {
    "active": _active,
    "address": _address,
    "birthDate": _birth_date,
    "communication": _communication,
    "deceasedDateTime": _deceased_date_time,
    "extension": _extension,
    "gender": _gender,
    "generalPractitioner": _general_practitioner,
    "identifier": _identifier,
    "link": _link,
    "managingOrganization": _managing_organization,
    "meta": _meta,
    "name": _name,
    "telecom": _telecom,
}
WHOLE: Final = (_whole,)
