"""What a resource of the type PractitionerRole is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import measures, texts, tokens
from fhir_api.entries import Entries


def _active(entries: Entries, value: Any) -> None:
    tokens.boolean(entries, 248, value)  # active


def _code(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 257, value)  # role


def _endpoint(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 251, value)  # endpoint


def _healthcare_service(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 258, value)  # service


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 252, value)  # identifier


def _location(entries: Entries, values: Any) -> None:
    for value in values:
        texts.reference(entries, 253, value)  # location


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 244, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 245, part)  # _security
    texts.uri(entries, 246, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 247, part)  # _tag


def _organization(entries: Entries, value: Any) -> None:
    texts.reference(entries, 254, value)  # organization


def _period(entries: Entries, value: Any) -> None:
    measures.period(entries, 249, value)  # date


def _practitioner(entries: Entries, value: Any) -> None:
    texts.reference(entries, 256, value)  # practitioner


def _specialty(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.codeable_concept(entries, 259, value)  # specialty


def _telecom(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.contact_point(entries, 260, value)  # telecom
        if value.get("system") == "email":
            tokens.contact_point(entries, 250, value)  # email
        if value.get("system") == "phone":
            tokens.contact_point(entries, 255, value)  # phone


ELEMENTS: Final = {
    "active": _active,
    "code": _code,
    "endpoint": _endpoint,
    "healthcareService": _healthcare_service,
    "identifier": _identifier,
    "location": _location,
    "meta": _meta,
    "organization": _organization,
    "period": _period,
    "practitioner": _practitioner,
    "specialty": _specialty,
    "telecom": _telecom,
}
WHOLE: Final = ()
