"""What a resource of the type Coverage is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import texts, tokens
from fhir_api.entries import Entries


def _beneficiary(entries: Entries, value: Any) -> None:
    texts.reference(entries, 371, value)  # beneficiary
    texts.reference(entries, 376, value)  # patient


def _class(entries: Entries, values: Any) -> None:
    for value in values:
        if (part := value.get("type")) is not None:
            tokens.codeable_concept(entries, 372, part)  # class-type
        texts.string(entries, 373, value.get("value"))  # class-value


def _dependent(entries: Entries, value: Any) -> None:
    texts.string(entries, 374, value)  # dependent


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 375, value)  # identifier


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 367, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 368, part)  # _security
    texts.uri(entries, 369, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 370, part)  # _tag


def _payor(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 377, value)  # payor


def _policy_holder(entries: Entries, value: Any) -> None:
    texts.reference(entries, 378, value)  # policy-holder


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 379, value, "http://hl7.org/fhir/fm-status")  # status


def _subscriber(entries: Entries, value: Any) -> None:
    texts.reference(entries, 380, value)  # subscriber


def _type(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 381, value)  # type


ELEMENTS: Final = {
    "beneficiary": _beneficiary,
    "class": _class,
    "dependent": _dependent,
    "identifier": _identifier,
    "meta": _meta,
    "payor": _payor,
    "policyHolder": _policy_holder,
    "status": _status,
    "subscriber": _subscriber,
    "type": _type,
}
WHOLE: Final = ()
