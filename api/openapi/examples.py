"""Examples of answers, made from their fields; a serializer's `Meta.example` replaces members that read badly."""

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty

from api.representations import Computed, Document, Instant, Representation
from api.serializers import StrictSerializer

_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_BY_NAME: Mapping[str, Any] = {
    "api_version": "2026-01-01",
    "name": "North Clinic",
    "description": "",
    "email": "kari@example.org",
    "phone": "+47 55 00 00 00",
    "url": "https://north.example.org",
    "city": "Bergen",
    "state": "Vestland",
    "postal_code": "5003",
    "country": "NO",
    "currency": "NOK",
    "time_zone": "Europe/Oslo",
    "locale": "nb-NO",
    "latitude": 60.39,
    "longitude": 5.32,
}
_BY_KIND: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], Any], ...] = (
    (serializers.UUIDField, _ID),
    (Instant, "2026-01-05T08:00:00.000Z"),
    (serializers.DateTimeField, "2026-01-05T08:00:00.000Z"),
    (serializers.DateField, "2026-01-05"),
    (serializers.BooleanField, True),
    (serializers.DecimalField, "12.50"),
    (serializers.FloatField, 1.5),
    (serializers.EmailField, "kari@example.org"),
    (serializers.URLField, "https://north.example.org"),
    (serializers.IPAddressField, "203.0.113.7"),
    (serializers.DictField, {}),
    (serializers.JSONField, {}),
)


def example_of(form: Any) -> Any:
    """Make an example of what a serializer or field writes."""
    if isinstance(form, serializers.ListSerializer):
        return [example_of(form.child)]
    if isinstance(form, serializers.BaseSerializer):
        return _object(form)
    if isinstance(form, Computed | Document):
        return example_of(form.form) if form.form is not None else {}
    if isinstance(form, serializers.ListField):
        return [example_of(form.child)]
    return _plain(form)


def _object(form: Any) -> dict[str, Any]:
    """Every member of an answer; of a body that describes a JSON column those it names, and what is required."""
    meta = getattr(form, "Meta", None)
    given: Mapping[str, Any] = getattr(meta, "example", {})
    left_out: Iterable[str] = getattr(meta, "includes", ()) if isinstance(form, Representation) else ()
    chosen = bool(given) and isinstance(form, StrictSerializer)
    return {
        name: given[name] if name in given else example_of(field)
        for name, field in form.fields.items()
        if name not in left_out and not (chosen and name not in given and not always_there(field))
    }


def always_there(field: Any) -> bool:
    """Tell whether every answer has a member: it is read from a column, or a body must have it or gets its default."""
    return bool(field.required or field.read_only or field.default is not empty)


def _plain(field: Any) -> Any:
    if isinstance(field, serializers.ChoiceField):
        return next(iter(field.choices))
    if isinstance(field, serializers.DecimalField) and field.decimal_places == 1:
        return "12.5"
    for kind, value in _BY_KIND:
        if isinstance(field, kind):
            return value
    if isinstance(field, serializers.IntegerField):
        return max(1, field.min_value or 0)
    if field.field_name in _BY_NAME:
        return _BY_NAME[field.field_name]
    text = (field.field_name or "text").replace("_", " ")
    return None if field.allow_null else text[: getattr(field, "max_length", None)]
