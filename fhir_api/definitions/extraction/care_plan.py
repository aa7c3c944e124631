"""What a resource of the type CarePlan is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _activity(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("detail")) is not None:
            if (detail := part.get("code")) is not None:
                tokens.codeable_concept(entries, 331, detail)  # activity-code
            for detail in part.get("performer", ()):
                texts.reference(entries, 347, detail)  # performer
            if (detail := part.get("scheduledPeriod")) is not None:
                measures.period(entries, 332, detail)  # activity-date
            if (detail := part.get("scheduledTiming")) is not None:
                measures.timing(entries, 332, detail)  # activity-date
        if (part := value.get("reference")) is not None:
            texts.reference(entries, 333, part)  # activity-reference


def _addresses(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 337, value)  # condition


def _based_on(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 334, value)  # based-on


def _care_team(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 335, value)  # care-team


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 336, value)  # category


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 339, value)  # encounter


def _goal(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 340, value)  # goal


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 341, value)  # identifier


def _instantiates_canonical(entries: Entries, values: Any) -> None:
    for value in values:
        texts.canonical(entries, 342, value)  # instantiates-canonical


def _instantiates_uri(entries: Entries, values: Any) -> None:
    for value in values:
        texts.uri(entries, 343, value)  # instantiates-uri


def _intent(entries: Entries, value: Any) -> None:
    tokens.code(entries, 344, value, "http://hl7.org/fhir/request-intent")  # intent


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 327, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 328, part)  # _security
    texts.uri(entries, 329, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 330, part)  # _tag


def _part_of(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 345, value)  # part-of


def _period(entries: Entries, value: Any) -> None:
    measures.period(entries, 338, value)  # date


def _replaces(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 348, value)  # replaces


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 349, value, "http://hl7.org/fhir/request-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 346, value, "Patient")  # patient
    texts.reference(entries, 350, value)  # subject


ELEMENTS: Final = {
    "activity": _activity,
    "addresses": _addresses,
    "basedOn": _based_on,
    "careTeam": _care_team,
    "category": _category,
    "encounter": _encounter,
    "goal": _goal,
    "identifier": _identifier,
    "instantiatesCanonical": _instantiates_canonical,
    "instantiatesUri": _instantiates_uri,
    "intent": _intent,
    "meta": _meta,
    "partOf": _part_of,
    "period": _period,
    "replaces": _replaces,
    "status": _status,
    "subject": _subject,
}
WHOLE: Final = ()
