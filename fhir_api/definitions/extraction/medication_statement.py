"""What a resource of the type MedicationStatement is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _category(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 158, value)  # category


def _context(entries: Entries, value: Any) -> None:
    texts.reference(entries, 160, value)  # context


def _effective_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 161, value)  # effective


def _effective_period(entries: Entries, value: Any) -> None:
    measures.period(entries, 161, value)  # effective


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 162, value)  # identifier


def _information_source(entries: Entries, value: Any) -> None:
    texts.reference(entries, 166, value)  # source


def _medication_codeable_concept(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 159, value)  # code


def _medication_reference(entries: Entries, value: Any) -> None:
    texts.reference(entries, 163, value)  # medication


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 154, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 155, part)  # _security
    texts.uri(entries, 156, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 157, part)  # _tag


def _part_of(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 164, value)  # part-of


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 167, value, "http://hl7.org/fhir/CodeSystem/medication-statement-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 165, value, "Patient")  # patient
    texts.reference(entries, 168, value)  # subject


ELEMENTS: Final = {
    "category": _category,
    "context": _context,
    "effectiveDateTime": _effective_date_time,
    "effectivePeriod": _effective_period,
    "identifier": _identifier,
    "informationSource": _information_source,
    "medicationCodeableConcept": _medication_codeable_concept,
    "medicationReference": _medication_reference,
    "meta": _meta,
    "partOf": _part_of,
    "status": _status,
    "subject": _subject,
}
WHOLE: Final = ()
