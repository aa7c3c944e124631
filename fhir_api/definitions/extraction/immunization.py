"""What a resource of the type Immunization is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 469, value)  # identifier


def _location(entries: Entries, value: Any) -> None:
    texts.reference(entries, 470, value)  # location


def _lot_number(entries: Entries, value: Any) -> None:
    texts.string(entries, 471, value)  # lot-number


def _manufacturer(entries: Entries, value: Any) -> None:
    texts.reference(entries, 472, value)  # manufacturer


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 464, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 465, part)  # _security
    texts.uri(entries, 466, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 467, part)  # _tag


def _occurrence_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 468, value)  # date


def _patient(entries: Entries, value: Any) -> None:
    texts.reference(entries, 473, value)  # patient


def _performer(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("actor")) is not None:
            texts.reference(entries, 474, part)  # performer


def _protocol_applied(entries: Entries, values: Any) -> None:
    for value in values:
        texts.string(entries, 479, value.get("series"))  # series
        for part in value.get("targetDisease", ()):
            tokens.codeable_concept(entries, 482, part)  # target-disease


def _reaction(entries: Entries, values: Any) -> None:
    for value in values:
        measures.moment(entries, 476, value.get("date"))  # reaction-date
        if (part := value.get("detail")) is not None:
            texts.reference(entries, 475, part)  # reaction


def _reason_code(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 477, value)  # reason-code


def _reason_reference(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 478, value)  # reason-reference


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 480, value, "http://hl7.org/fhir/event-status")  # status


def _status_reason(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 481, value)  # status-reason


def _vaccine_code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 483, value)  # vaccine-code


ELEMENTS: Final = {
    "identifier": _identifier,
    "location": _location,
    "lotNumber": _lot_number,
    "manufacturer": _manufacturer,
    "meta": _meta,
    "occurrenceDateTime": _occurrence_date_time,
    "patient": _patient,
    "performer": _performer,
    "protocolApplied": _protocol_applied,
    "reaction": _reaction,
    "reasonCode": _reason_code,
    "reasonReference": _reason_reference,
    "status": _status,
    "statusReason": _status_reason,
    "vaccineCode": _vaccine_code,
}
WHOLE: Final = ()
