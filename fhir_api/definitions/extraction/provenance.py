"""What a resource of the type Provenance is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _agent(entries: Entries, values: Any) -> None:
    for value in values:
        for part in value.get("role", ()):
            tokens.codeable_concept(entries, 547, part)  # agent-role
        if (part := value.get("type")) is not None:
            tokens.codeable_concept(entries, 548, part)  # agent-type
        if (part := value.get("who")) is not None:
            texts.reference(entries, 546, part)  # agent


def _entity(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("what")) is not None:
            texts.reference(entries, 549, part)  # entity


def _location(entries: Entries, value: Any) -> None:
    texts.reference(entries, 550, value)  # location


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 542, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 543, part)  # _security
    texts.uri(entries, 544, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 545, part)  # _tag


def _occurred_date_time(entries: Entries, value: Any) -> None:
    measures.moment(entries, 555, value)  # when


def _recorded(entries: Entries, value: Any) -> None:
    measures.moment(entries, 552, value)  # recorded


def _signature(entries: Entries, values: Any) -> None:
    for value in values:
        for part in value.get("type", ()):
            tokens.coding(entries, 553, part)  # signature-type


def _target(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 551, value, "Patient")  # patient
        texts.reference(entries, 554, value)  # target


ELEMENTS: Final = {
    "agent": _agent,
    "entity": _entity,
    "location": _location,
    "meta": _meta,
    "occurredDateTime": _occurred_date_time,
    "recorded": _recorded,
    "signature": _signature,
    "target": _target,
}
WHOLE: Final = ()
