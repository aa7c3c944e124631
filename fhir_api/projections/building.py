"""How an organization and a place of the platform read as FHIR. Source: R4 organization.html, location.html."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.conf import settings

from fhir_api.resources import Json
from organizations.public import ShownLocation, ShownOrganization

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:\S+")
_TERMINOLOGY = "http://terminology.hl7.org/CodeSystem"
_ORGANIZATION_TYPES: Final = {
    "health_system": ("prov", "Healthcare Provider"),
    "hospital": ("prov", "Healthcare Provider"),
    "clinic": ("prov", "Healthcare Provider"),
    "pharmacy": ("prov", "Healthcare Provider"),
    "laboratory": ("prov", "Healthcare Provider"),
    "supplier": ("bus", "Non-Healthcare Business or Corporation"),
    "payer": ("pay", "Payer"),
}
_PHYSICAL_TYPES: Final = {
    "site": ("si", "Site"),
    "ward": ("wa", "Ward"),
    "room": ("ro", "Room"),
    "zone": ("area", "Area"),
    "vehicle": ("ve", "Vehicle"),
}
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_PLACES: Final = {"Organization": "organizations", "Location": "locations"}


def rest_address(type_name: str, fhir_id: str) -> str:
    """Where the row behind a projected resource is kept and changed."""
    return f"/v1/{_PLACES[type_name]}/{fhir_id}"


def organization(shown: ShownOrganization, *, known: Iterable[str] = ()) -> Json:
    """An Organization; it is part of its parent where that is among the `known` ids."""
    parent = str(shown.parent_id) if shown.parent_id else ""
    return _filled(
        {
            "resourceType": "Organization",
            "meta": _meta("Organization", str(shown.id)),
            "identifier": _identifiers(shown.identifiers),
            "active": shown.status == "active",
            "type": [_concept(shown.type, "organization-type", _ORGANIZATION_TYPES)],
            "name": _text(shown.name),
            "telecom": _telecom(shown.contact),
            "address": [one for one in (_address(shown.address),) if one],
            "partOf": {"reference": f"Organization/{parent}"} if parent in set(known) else None,
        }
    )


def location(shown: ShownLocation) -> Json:
    """A Location."""
    return _filled(
        {
            "resourceType": "Location",
            "meta": _meta("Location", str(shown.id)),
            "identifier": _identifiers(shown.identifiers),
            "status": shown.status,
            "name": _text(shown.name),
            "mode": "instance",
            "type": [_kind(shown.type)],
            "telecom": _telecom(shown.contact),
            "address": _address(shown.address),
            "physicalType": _concept(shown.type, "location-physical-type", _PHYSICAL_TYPES)
            if shown.type in _PHYSICAL_TYPES
            else None,
            "position": _position(shown.geo),
            "managingOrganization": _reference("Organization", shown.organization_id),
            "partOf": _reference("Location", shown.parent_id),
            "hoursOfOperation": [one for one in map(_hours, shown.opening_hours) if one],
        }
    )


def _meta(type_name: str, fhir_id: str) -> Json:
    return {"source": settings.BASE_URL.rstrip("/") + rest_address(type_name, fhir_id)}


def _filled(members: Json) -> Json:
    """Leave out what is empty; FHIR knows no empty members."""
    return {name: value for name, value in members.items() if value not in (None, "", [], {})}


def _text(value: Any) -> str:
    return " ".join(str(value or "").split())


def _reference(type_name: str, key: Any) -> Json | None:
    return {"reference": f"{type_name}/{key}"} if key else None


def _concept(code: str, system: str, known: Mapping[str, tuple[str, str]]) -> Json:
    """The platform's own word, with a code where the code system has one."""
    found = known.get(code)
    text = code.replace("_", " ").capitalize()
    if found is None:
        return {"text": text}
    return {"coding": [{"system": f"{_TERMINOLOGY}/{system}", "code": found[0], "display": found[1]}], "text": text}


def _kind(code: str) -> Json:
    return _concept(code, "v3-RoleCode", {"pharmacy": ("PHARM", "Pharmacy")})


def _identifiers(given: Iterable[Mapping[str, Any]]) -> list[Json]:
    return [one for one in map(_identifier, given) if one]


def _identifier(given: Mapping[str, Any]) -> Json | None:
    """A register that is no URI is told in words."""
    system, value = _text(given.get("system")), _text(given.get("value"))
    if not value:
        return None
    if _URI.fullmatch(system):
        return {"system": system, "value": value}
    return {"type": {"text": system}, "value": value} if system else {"value": value}


def _telecom(contact: Mapping[str, Any] | None) -> list[Json]:
    given = contact or {}
    return [{"system": name, "value": value} for name in ("phone", "email", "url") if (value := _text(given.get(name)))]


def _address(given: Mapping[str, Any] | None) -> Json:
    found = given or {}
    lines = [line for line in map(_text, found.get("lines") or ()) if line]
    plain = {
        "city": _text(found.get("city")),
        "state": _text(found.get("state")),
        "postalCode": _text(found.get("postal_code")),
        "country": _text(found.get("country")),
    }
    return _filled({"line": lines, **plain})


def _position(geo: Mapping[str, Any] | None) -> Json | None:
    if not geo or geo.get("longitude") is None or geo.get("latitude") is None:
        return None
    return {"longitude": geo["longitude"], "latitude": geo["latitude"]}


def _hours(span: Mapping[str, Any]) -> Json | None:
    """R4 knows the seven days of the week only; what holds on holidays stays in the REST interface."""
    days = [day for day in span.get("days") or () if day in _WEEKDAYS]
    if not days:
        return None
    if span.get("all_day"):
        return {"daysOfWeek": days, "allDay": True}
    return {"daysOfWeek": days, "openingTime": f"{span['opens']}:00", "closingTime": f"{span['closes']}:00"}
