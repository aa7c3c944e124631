"""What a resource of the type DocumentReference is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _authenticator(entries: Entries, value: Any) -> None:
    texts.reference(entries, 407, value)  # authenticator


def _author(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 408, value)  # author


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 409, value)  # category


def _content(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("attachment")) is not None:
            tokens.code(entries, 410, part.get("contentType"))  # contenttype
            tokens.code(entries, 419, part.get("language"))  # language
            texts.uri(entries, 420, part.get("url"))  # location
        if (part := value.get("format")) is not None:
            tokens.coding(entries, 417, part)  # format


def _context(entries: Entries, value: Any) -> None:
    for part in value.get("encounter", ()):
        texts.reference(entries, 414, part)  # encounter
    for part in value.get("event", ()):
        tokens.codeable_concept(entries, 415, part)  # event
    if (part := value.get("facilityType")) is not None:
        tokens.codeable_concept(entries, 416, part)  # facility
    if (part := value.get("period")) is not None:
        measures.period(entries, 422, part)  # period
    if (part := value.get("practiceSetting")) is not None:
        tokens.codeable_concept(entries, 428, part)  # setting
    for part in value.get("related", ()):
        texts.reference(entries, 423, part)  # related


def _custodian(entries: Entries, value: Any) -> None:
    texts.reference(entries, 411, value)  # custodian


def _date(entries: Entries, value: Any) -> None:
    measures.moment(entries, 412, value)  # date


def _description(entries: Entries, value: Any) -> None:
    texts.string(entries, 413, value)  # description


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 418, value)  # identifier


def _master_identifier(entries: Entries, value: Any) -> None:
    tokens.identifier(entries, 418, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 403, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 404, part)  # _security
    texts.uri(entries, 405, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 406, part)  # _tag


def _relates_to(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.code(entries, 425, value.get("code"), "http://hl7.org/fhir/document-relationship-type")  # relation
        if (part := value.get("target")) is not None:
            measures.token_reference(entries, 426, tokens.concept(value["code"], "http://hl7.org/fhir/document-relationship-type"), part, systems=True)  # relationship
            texts.reference(entries, 424, part)  # relatesto


def _security_label(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 427, value)  # security-label


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 429, value, "http://hl7.org/fhir/document-reference-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 421, value, "Patient")  # patient
    texts.reference(entries, 430, value)  # subject


def _type(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 431, value)  # type


ELEMENTS: Final = {
    "authenticator": _authenticator,
    "author": _author,
    "category": _category,
    "content": _content,
    "context": _context,
    "custodian": _custodian,
    "date": _date,
    "description": _description,
    "identifier": _identifier,
    "masterIdentifier": _master_identifier,
    "meta": _meta,
    "relatesTo": _relates_to,
    "securityLabel": _security_label,
    "status": _status,
    "subject": _subject,
    "type": _type,
}
WHOLE: Final = ()
