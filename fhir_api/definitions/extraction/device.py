"""What a resource of the type Device is found by, element by element: generated, not written.

Source: search parameters of hl7.fhir.r4.core 4.0.1 (CC0-1.0). `./dev manage generate_fhir_definitions` makes it anew.
"""

from typing import Any, Final

from fhir_api import texts, tokens
from fhir_api.entries import Entries


def _device_name(entries: Entries, values: Any) -> None:
    for value in values:
        texts.string(entries, 388, value.get("name"))  # device-name


def _extension(entries: Entries, values: Any) -> None:
    for value in values:
        if value.get("url") == "http://hl7.org/fhir/SearchParameter/device-extensions-Device-din":
            tokens.extension_token(entries, 389, value)  # din


def _identifier(entries: Entries, values: Any) -> None:
    for value in values:
        tokens.identifier(entries, 390, value)  # identifier


def _location(entries: Entries, value: Any) -> None:
    texts.reference(entries, 391, value)  # location


def _manufacturer(entries: Entries, value: Any) -> None:
    texts.string(entries, 392, value)  # manufacturer


def _meta(entries: Entries, value: Any) -> None:
    for part in value.get("profile", ()):
        texts.uri(entries, 384, part)  # _profile
    for part in value.get("security", ()):
        tokens.coding(entries, 385, part)  # _security
    texts.uri(entries, 386, value.get("source"))  # _source
    for part in value.get("tag", ()):
        tokens.coding(entries, 387, part)  # _tag


def _model_number(entries: Entries, value: Any) -> None:
    texts.string(entries, 393, value)  # model


def _owner(entries: Entries, value: Any) -> None:
    texts.reference(entries, 394, value)  # organization


def _patient(entries: Entries, value: Any) -> None:
    texts.reference(entries, 395, value)  # patient


def _status(entries: Entries, value: Any) -> None:
    tokens.code(entries, 396, value, "http://hl7.org/fhir/device-status")  # status


def _type(entries: Entries, value: Any) -> None:
    tokens.codeable_concept(entries, 397, value)  # type
    for part in value.get("coding", ()):
        texts.string(entries, 388, part.get("display"))  # device-name
    texts.string(entries, 388, value.get("text"))  # device-name


def _udi_carrier(entries: Entries, values: Any) -> None:
    for value in values:
        texts.string(entries, 398, value.get("carrierHRF"))  # udi-carrier
        texts.string(entries, 399, value.get("deviceIdentifier"))  # udi-di


def _url(entries: Entries, value: Any) -> None:
    texts.uri(entries, 400, value)  # url


ELEMENTS: Final = {
    "deviceName": _device_name,
    "extension": _extension,
    "identifier": _identifier,
    "location": _location,
    "manufacturer": _manufacturer,
    "meta": _meta,
    "modelNumber": _model_number,
    "owner": _owner,
    "patient": _patient,
    "status": _status,
    "type": _type,
    "udiCarrier": _udi_carrier,
    "url": _url,
}
WHOLE: Final = ()
