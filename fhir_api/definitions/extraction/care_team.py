"""What a resource of the type CareTeam is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 357, value)  # category


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 359, value)  # encounter


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 360, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 353, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 354, part)  # _security
    texts.uri(entries, 355, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 356, part)  # _tag


def _participant(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("member")) is not None:
            texts.reference(entries, 361, part)  # participant


def _period(entries: Entries, value: Any) -> None:
    measures.period(entries, 358, value)  # date


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 363, value, "http://hl7.org/fhir/care-team-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 362, value, "Patient")  # patient
    texts.reference(entries, 364, value)  # subject


ELEMENTS: Final = {
    "category": _category,
    "encounter": _encounter,
    "identifier": _identifier,
    "meta": _meta,
    "participant": _participant,
    "period": _period,
    "status": _status,
    "subject": _subject,
}
WHOLE: Final = ()
