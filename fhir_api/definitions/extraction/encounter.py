"""What a resource of the type Encounter is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _account(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 37, value)  # account


def _appointment(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 38, value)  # appointment


def _based_on(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 39, value)  # based-on


def _class(entries: Entries, value: Any) -> None:
    tokens.coding(entries, 40, value)  # class


def _diagnosis(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("condition")) is not None:
            texts.reference(entries, 42, part)  # diagnosis


def _episode_of_care(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 43, value)  # episode-of-care


def _hospitalization(entries: Entries, value: Any) -> None:
    if (part := value.get("dischargeDisposition")) is not None:
        tokens.codeable_concept(entries, 301, part)  # discharge-disposition
    for part in value.get("specialArrangement", ()):
        tokens.codeable_concept(entries, 56, part)  # special-arrangement


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 44, value)  # identifier


def _length(entries: Entries, value: Any) -> None:
    measures.quantity(entries, 45, value)  # length


def _location(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("location")) is not None:
            texts.reference(entries, 46, part)  # location
        if (part := value.get("period")) is not None:
            measures.period(entries, 47, part)  # location-period


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 33, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 34, part)  # _security
    texts.uri(entries, 35, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 36, part)  # _tag


def _part_of(entries: Entries, value: Any) -> None:
    texts.reference(entries, 48, value)  # part-of


def _participant(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("individual")) is not None:
            texts.reference(entries, 49, part)  # participant
            texts.reference(entries, 52, part, "Practitioner")  # practitioner
        for part in value.get("type", ()):
            tokens.codeable_concept(entries, 50, part)  # participant-type


def _period(entries: Entries, value: Any) -> None:
    measures.period(entries, 41, value)  # date


def _reason_code(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 53, value)  # reason-code


def _reason_reference(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 54, value)  # reason-reference


def _service_provider(entries: Entries, value: Any) -> None:
    texts.reference(entries, 55, value)  # service-provider


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 57, value, "http://hl7.org/fhir/encounter-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 51, value, "Patient")  # patient
    texts.reference(entries, 58, value)  # subject


def _type(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 59, value)  # type


ELEMENTS: Final = {
    "account": _account,
    "appointment": _appointment,
    "basedOn": _based_on,
    "class": _class,
    "diagnosis": _diagnosis,
    "episodeOfCare": _episode_of_care,
    "hospitalization": _hospitalization,
    "identifier": _identifier,
    "length": _length,
    "location": _location,
    "meta": _meta,
    "partOf": _part_of,
    "participant": _participant,
    "period": _period,
    "reasonCode": _reason_code,
    "reasonReference": _reason_reference,
    "serviceProvider": _service_provider,
    "status": _status,
    "subject": _subject,
    "type": _type,
}
WHOLE: Final = ()
