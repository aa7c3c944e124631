"""What a resource of the type MedicationRequest is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _authored_on(entries: Entries, value: Any) -> None:
    measures.moment(entries, 115, value)  # authoredon


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 116, value)  # category


def _dispense_request(entries: Entries, value: Any) -> None:
    if (part := value.get("performer")) is not None:
        texts.reference(entries, 121, part)  # intended-dispenser


def _dosage_instruction(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("timing")) is not None:
            for detail in part.get("event", ()):
                measures.moment(entries, 118, detail)  # date


def _encounter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 119, value)  # encounter


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 120, value)  # identifier


def _intent(entries: Entries, value: Any) -> None:
    tokens.code(entries, 124, value, "http://hl7.org/fhir/CodeSystem/medicationrequest-intent")  # intent


def _medication_codeable_concept(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 117, value)  # code


def _medication_reference(entries: Entries, value: Any) -> None:
    texts.reference(entries, 125, value)  # medication


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 111, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 112, part)  # _security
    texts.uri(entries, 113, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 114, part)  # _tag


def _performer(entries: Entries, value: Any) -> None:
    texts.reference(entries, 122, value)  # intended-performer


def _performer_type(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 123, value)  # intended-performertype


def _priority(entries: Entries, value: Any) -> None:
    tokens.code(entries, 127, value, "http://hl7.org/fhir/request-priority")  # priority


def _requester(entries: Entries, value: Any) -> None:
    texts.reference(entries, 128, value)  # requester


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 129, value, "http://hl7.org/fhir/CodeSystem/medicationrequest-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 126, value, "Patient")  # patient
    texts.reference(entries, 130, value)  # subject


ELEMENTS: Final = {
    "authoredOn": _authored_on,
    "category": _category,
    "dispenseRequest": _dispense_request,
    "dosageInstruction": _dosage_instruction,
    "encounter": _encounter,
    "identifier": _identifier,
    "intent": _intent,
    "medicationCodeableConcept": _medication_codeable_concept,
    "medicationReference": _medication_reference,
    "meta": _meta,
    "performer": _performer,
    "performerType": _performer_type,
    "priority": _priority,
    "requester": _requester,
    "status": _status,
    "subject": _subject,
}
WHOLE: Final = ()
