"""What a resource of the type MedicationAdministration is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _context(entries: Entries, value: Any) -> None:
    texts.reference(entries, 506, value)  # context


def _device(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 507, value)  # device


def _effective_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 508, value)  # effective-time


def _effective_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 508, value)  # effective-time


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 509, value)  # identifier


def _medication_codeable_concept(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 505, value)  # code


def _medication_reference(entries: Entries, value: Any) -> None:
    texts.reference(entries, 510, value)  # medication


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 501, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 502, part)  # _security
    texts.uri(entries, 503, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 504, part)  # _tag


def _performer(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("actor")) is not None:
            texts.reference(entries, 512, part)  # performer


def _reason_code(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 513, value)  # reason-given


def _request(entries: Entries, value: Any) -> None:
    texts.reference(entries, 515, value)  # request


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 516, value, "http://terminology.hl7.org/CodeSystem/medication-admin-status")  # status


def _status_reason(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 514, value)  # reason-not-given


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 511, value, "Patient")  # patient
    texts.reference(entries, 517, value)  # subject


ELEMENTS: Final = {
    "context": _context,
    "device": _device,
    "effectiveDateTime": _effective_date_time,
    "effectivePeriod": _effective_period,
    "identifier": _identifier,
    "medicationCodeableConcept": _medication_codeable_concept,
    "medicationReference": _medication_reference,
    "meta": _meta,
    "performer": _performer,
    "reasonCode": _reason_code,
    "request": _request,
    "status": _status,
    "statusReason": _status_reason,
    "subject": _subject,
}
WHOLE: Final = ()
