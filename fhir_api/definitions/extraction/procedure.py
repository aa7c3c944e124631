"""What a resource of the type Procedure is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _based_on(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 524, value)  # based-on


def _category(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 525, value)  # category


def _code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 526, value)  # code


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 528, value)  # encounter


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 529, value)  # identifier


def _instantiates_canonical(entries: Entries, values: Any) -> None:
    for value in values:
        texts.canonical(entries, 530, value)  # instantiates-canonical


def _instantiates_uri(entries: Entries, values: Any) -> None:
    for value in values:
        texts.uri(entries, 531, value)  # instantiates-uri


def _location(entries: Entries, value: Any) -> None:
    texts.reference(entries, 532, value)  # location


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 520, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 521, part)  # _security
    texts.uri(entries, 522, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 523, part)  # _tag


def _part_of(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 533, value)  # part-of


def _performed_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 527, value)  # date


def _performed_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 527, value)  # date


def _performer(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("actor")) is not None:
            texts.reference(entries, 535, part)  # performer


def _reason_code(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 536, value)  # reason-code


def _reason_reference(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 537, value)  # reason-reference


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 538, value, "http://hl7.org/fhir/event-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 534, value, "Patient")  # patient
    texts.reference(entries, 539, value)  # subject


ELEMENTS: Final = {
    "basedOn": _based_on,
    "category": _category,
    "code": _code,
    "encounter": _encounter,
    "identifier": _identifier,
    "instantiatesCanonical": _instantiates_canonical,
    "instantiatesUri": _instantiates_uri,
    "location": _location,
    "meta": _meta,
    "partOf": _part_of,
    "performedDateTime": _performed_date_time,
    "performedPeriod": _performed_period,
    "performer": _performer,
    "reasonCode": _reason_code,
    "reasonReference": _reason_reference,
    "status": _status,
    "subject": _subject,
}
WHOLE: Final = ()
