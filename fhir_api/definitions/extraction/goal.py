"""What a resource of the type Goal is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _achievement_status(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 438, value)  # achievement-status


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 439, value)  # category


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 440, value)  # identifier


def _lifecycle_status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 441, value, "http://hl7.org/fhir/goal-status")  # lifecycle-status


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 434, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 435, part)  # _security
    texts.uri(entries, 436, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 437, part)  # _tag


def _start_date(entries: Entries, value: Any) -> None:
    measures.moment(entries, 443, value)  # start-date


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 442, value, "Patient")  # patient
    texts.reference(entries, 444, value)  # subject


def _target(entries: Entries, values: Any) -> None:
    for value in values:
        measures.moment(entries, 445, value.get("dueDate"))  # target-date


ELEMENTS: Final = {
    "achievementStatus": _achievement_status,
    "category": _category,
    "identifier": _identifier,
    "lifecycleStatus": _lifecycle_status,
    "meta": _meta,
    "startDate": _start_date,
    "subject": _subject,
    "target": _target,
}
WHOLE: Final = ()
