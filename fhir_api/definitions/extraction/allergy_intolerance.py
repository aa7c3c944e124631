"""What a resource of the type AllergyIntolerance is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _asserter(entries: Entries, value: Any) -> None:
    texts.reference(entries, 309, value)  # asserter


def _category(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.code(entries, 310, value, "http://hl7.org/fhir/allergy-intolerance-category")  # category


def _clinical_status(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 311, value)  # clinical-status


def _code(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 312, value)  # code


def _criticality(entries: Entries, value: Any) -> None:
    tokens.code(entries, 313, value, "http://hl7.org/fhir/allergy-intolerance-criticality")  # criticality


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 315, value)  # identifier


def _last_occurrence(entries: Entries, value: Any) -> None:
    measures.moment(entries, 316, value)  # last-date


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 305, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 306, part)  # _security
    texts.uri(entries, 307, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 308, part)  # _tag


def _patient(entries: Entries, value: Any) -> None:
    texts.reference(entries, 319, value)  # patient


def _reaction(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("exposureRoute")) is not None:
            tokens.codeable_concept(entries, 321, part)  # route
        for part in value.get("manifestation", ()):
            tokens.codeable_concept(entries, 317, part)  # manifestation
        measures.moment(entries, 318, value.get("onset"))  # onset
        tokens.code(entries, 322, value.get("severity"), "http://hl7.org/fhir/reaction-event-severity")  # severity
        if (part := value.get("substance")) is not None:
            tokens.codeable_concept(entries, 312, part)  # code


def _recorded_date(entries: Entries, value: Any) -> None:
    measures.moment(entries, 314, value)  # date


def _recorder(entries: Entries, value: Any) -> None:
    texts.reference(entries, 320, value)  # recorder


def _type(entries: Entries, value: Any) -> None:
    tokens.code(entries, 323, value, "http://hl7.org/fhir/allergy-intolerance-type")  # type


def _verification_status(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 324, value)  # verification-status


ELEMENTS: Final = {
    "asserter": _asserter,
    "category": _category,
    "clinicalStatus": _clinical_status,
    "code": _code,
    "criticality": _criticality,
    "identifier": _identifier,
    "lastOccurrence": _last_occurrence,
    "meta": _meta,
    "patient": _patient,
    "reaction": _reaction,
    "recordedDate": _recorded_date,
    "recorder": _recorder,
    "type": _type,
    "verificationStatus": _verification_status,
}
WHOLE: Final = ()
