"""What a resource of the type ServiceRequest is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _authored_on(entries: Entries, value: Any) -> None:
    measures.moment(entries, 603, value)  # authored


def _based_on(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 604, value)  # based-on


def _body_site(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 605, value)  # body-site


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 606, value)  # category


def _code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 607, value)  # code


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 608, value)  # encounter


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 609, value)  # identifier


def _instantiates_canonical(entries: Entries, values: Any) -> None:
    for value in values:
        texts.canonical(entries, 610, value)  # instantiates-canonical


def _instantiates_uri(entries: Entries, values: Any) -> None:
    for value in values:
        texts.uri(entries, 611, value)  # instantiates-uri


def _intent(entries: Entries, value: Any) -> None:
    tokens.code(entries, 612, value, "http://hl7.org/fhir/request-intent")  # intent


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 599, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 600, part)  # _security
    texts.uri(entries, 601, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 602, part)  # _tag


def _occurrence_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 613, value)  # occurrence


def _occurrence_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 613, value)  # occurrence


def _occurrence_timing(entries: Entries, value: Any) -> None:
    measures.timing(entries, 613, value)  # occurrence


def _performer(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 615, value)  # performer


def _performer_type(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 616, value)  # performer-type


def _priority(entries: Entries, value: Any) -> None:
    tokens.code(entries, 617, value, "http://hl7.org/fhir/request-priority")  # priority


def _replaces(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 618, value)  # replaces


def _requester(entries: Entries, value: Any) -> None:
    texts.reference(entries, 619, value)  # requester


def _requisition(entries: Entries, value: Any) -> None:
    tokens.identifier(entries, 620, value)  # requisition


def _specimen(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 621, value)  # specimen


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 622, value, "http://hl7.org/fhir/request-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 614, value, "Patient")  # patient
    texts.reference(entries, 623, value)  # subject


ELEMENTS: Final = {
    "authoredOn": _authored_on,
    "basedOn": _based_on,
    "bodySite": _body_site,
    "category": _category,
    "code": _code,
    "encounter": _encounter,
    "identifier": _identifier,
    "instantiatesCanonical": _instantiates_canonical,
    "instantiatesUri": _instantiates_uri,
    "intent": _intent,
    "meta": _meta,
    "occurrenceDateTime": _occurrence_date_time,
    "occurrencePeriod": _occurrence_period,
    "occurrenceTiming": _occurrence_timing,
    "performer": _performer,
    "performerType": _performer_type,
    "priority": _priority,
    "replaces": _replaces,
    "requester": _requester,
    "requisition": _requisition,
    "specimen": _specimen,
    "status": _status,
    "subject": _subject,
}
WHOLE: Final = ()
