"""What a resource of the type Specimen is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _accession_identifier(entries: Entries, value: Any) -> None:
    tokens.identifier(entries, 630, value)  # accession


def _collection(entries: Entries, value: Any) -> None:
    if (part := value.get("bodySite")) is not None:
        tokens.codeable_concept(entries, 631, part)  # bodysite
    measures.moment(entries, 632, value.get("collectedDateTime"))  # collected
    if (part := value.get("collectedPeriod")) is not None:
        measures.period(entries, 632, part)  # collected
    if (part := value.get("collector")) is not None:
        texts.reference(entries, 633, part)  # collector


def _container(entries: Entries, values: Any) -> None:
    for value in values:
        for part in value.get("identifier", ()):
            tokens.identifier(entries, 635, part)  # container-id
        if (part := value.get("type")) is not None:
            tokens.codeable_concept(entries, 634, part)  # container


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 636, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 626, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 627, part)  # _security
    texts.uri(entries, 628, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 629, part)  # _tag


def _parent(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 637, value)  # parent


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 639, value, "http://hl7.org/fhir/specimen-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 638, value, "Patient")  # patient
    texts.reference(entries, 640, value)  # subject


def _type(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 641, value)  # type


ELEMENTS: Final = {
    "accessionIdentifier": _accession_identifier,
    "collection": _collection,
    "container": _container,
    "identifier": _identifier,
    "meta": _meta,
    "parent": _parent,
    "status": _status,
    "subject": _subject,
    "type": _type,
}
WHOLE: Final = ()
