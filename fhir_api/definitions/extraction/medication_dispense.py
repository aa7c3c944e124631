"""What a resource of the type MedicationDispense is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _authorizing_prescription(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 144, value)  # prescription


def _context(entries: Entries, value: Any) -> None:
    texts.reference(entries, 138, value)  # context


def _destination(entries: Entries, value: Any) -> None:
    texts.reference(entries, 139, value)  # destination


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 140, value)  # identifier


def _medication_codeable_concept(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 137, value)  # code


def _medication_reference(entries: Entries, value: Any) -> None:
    texts.reference(entries, 141, value)  # medication


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 133, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 134, part)  # _security
    texts.uri(entries, 135, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 136, part)  # _tag


def _performer(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("actor")) is not None:
            texts.reference(entries, 143, part)  # performer


def _receiver(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 145, value)  # receiver


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 147, value, "http://terminology.hl7.org/CodeSystem/medicationdispense-status")  # status


def _subject(entries: Entries, value: Any) -> None:
    texts.reference(entries, 142, value, "Patient")  # patient
    texts.reference(entries, 148, value)  # subject


def _substitution(entries: Entries, value: Any) -> None:
    for part in value.get("responsibleParty", ()):
        texts.reference(entries, 146, part)  # responsibleparty


def _type(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 149, value)  # type


def _when_handed_over(entries: Entries, value: Any) -> None:
    measures.moment(entries, 150, value)  # whenhandedover


def _when_prepared(entries: Entries, value: Any) -> None:
    measures.moment(entries, 151, value)  # whenprepared


ELEMENTS: Final = {
    "authorizingPrescription": _authorizing_prescription,
    "context": _context,
    "destination": _destination,
    "identifier": _identifier,
    "medicationCodeableConcept": _medication_codeable_concept,
    "medicationReference": _medication_reference,
    "meta": _meta,
    "performer": _performer,
    "receiver": _receiver,
    "status": _status,
    "subject": _subject,
    "substitution": _substitution,
    "type": _type,
    "whenHandedOver": _when_handed_over,
    "whenPrepared": _when_prepared,
}
WHOLE: Final = ()
