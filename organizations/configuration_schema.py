"""The settings of a tenant: one JSON Schema per section, the defaults, and the checks that a schema cannot express.

A key marked `x-secret` is shown only to those who may configure. Source of the dialect: JSON
Schema draft 2020-12.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import reduce
from operator import getitem
from typing import Any

import jsonschema_rs
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from core.errors import FieldError
from core.ids import parse_uuid

from .plans import FEATURES
from .policy_schema import FLAG, POLICIES, is_certificate, object_of

Sections = dict[str, dict[str, Any]]

SCHEMA_VERSION = 1
SECTIONS = ("policies", "modules", "branding")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
MINIMUM_CONTRAST = 4.5

_COLOR = {"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"}

_MODULES = object_of({name: FLAG | {"default": True} for name in FEATURES})

<<<<<<< HEAD
def _object(properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False, **more}


def _days(default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": 3_650, "default": default}


def _one_of(*values: str, default: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values), "default": default}


def _amount(**more: Any) -> dict[str, Any]:
    return {"type": "string", "format": "decimal", "pattern": r"^[0-9]{1,13}(\.[0-9]{1,6})?$", **more}


_APPROVAL_STEP = _object(
    {"over_amount": _amount(), "approvals": {"type": "integer", "minimum": 1, "maximum": 5}},
    required=["over_amount", "approvals"],
)

_REMINDER = {"type": "integer", "minimum": 1, "maximum": 43_200}
_DATE = {"type": "string", "format": "date"}

_POLICIES = _object(
    {
        "prescription_validity_days": _days(365),
        "controlled_validity_days": _days(30),
        "early_refill_ratio": {"type": "string", "pattern": r"^(0(\.[0-9]{1,4})?|1(\.0{1,4})?)$", "default": "0.75"},
        "max_days_supply": {"type": ["integer", "null"], "minimum": 1, "maximum": 3_650, "default": None},
        "require_cancel_reason": _one_of("none", "controlled", "all", default="controlled"),
        "covering_prescriber_may_cancel": _FLAG | {"default": False},
        "allow_contraindicated_override": _FLAG | {"default": False},
        "dispensing_prescriber_allowed": _FLAG | {"default": False},
        "dispense_reversal_hours": {"type": "integer", "minimum": 0, "maximum": 8_760, "default": 24},
        "lot_number_required_on_dispense": _FLAG | {"default": False},
        "default_pharmacy_location_id": {"type": ["string", "null"], "format": "uuid", "default": None},
        "appointment_slot_minutes": {"type": "integer", "minimum": 5, "maximum": 1_440, "default": 15},
        "appointment_reminder_minutes": {"type": "array", "items": _REMINDER, "maxItems": 10, "default": [1_440]},
        "holidays": {"type": "array", "items": _DATE, "maxItems": 400, "default": []},
        "fhir_write_scope": _one_of("healthcare.write", "healthcare.read", default="healthcare.write"),
        "fhir_reference_integrity": _one_of("none", "check", default="check"),
        "fhir_vital_signs": _one_of("check", "warn", "off", default="check"),
        "event_payload_mode": _one_of("thin", "full", default="thin"),
        "reads_while_suspended": _FLAG | {"default": True},
        "approval_steps": {"type": "array", "items": _APPROVAL_STEP, "maxItems": 5, "default": []},
        "invoice_auto_approve_limit": _amount(default="0") | {"x-secret": True},
        "over_receipt_tolerance_bp": _BASIS_POINTS | {"default": 0},
    }
)

_MODULES = _object({name: _FLAG | {"default": True} for name in FEATURES})

_BRANDING = _object(
=======
_BRANDING = object_of(
>>>>>>> keys
    {
        "display_name": {"type": ["string", "null"], "minLength": 1, "maxLength": 120, "default": None},
        "logo_file_id": {"type": ["string", "null"], "format": "uuid", "default": None},
        "primary_color": _COLOR | {"default": "#0B5CAD"},
        "on_primary_color": _COLOR | {"default": "#FFFFFF"},
        "background_color": _COLOR | {"default": "#FFFFFF"},
        "text_color": _COLOR | {"default": "#1B1F24"},
        "support_email": {"type": ["string", "null"], "format": "email", "maxLength": 254, "default": None},
    }
)

SCHEMAS: Mapping[str, dict[str, Any]] = {
    "policies": {"$schema": DIALECT, "title": "Policies", **POLICIES},
    "modules": {"$schema": DIALECT, "title": "Modules", **_MODULES},
    "branding": {"$schema": DIALECT, "title": "Branding", **_BRANDING},
}

_TEXT_AND_BACKGROUND = (("on_primary_color", "primary_color"), ("text_color", "background_color"))

_CODES = {
    "additionalProperties": "unknown_field",
    "required": "required",
    "type": "invalid_type",
    "enum": "invalid_choice",
    "minimum": "min_value",
    "maximum": "max_value",
    "minLength": "min_length",
    "maxLength": "max_length",
    "maxItems": "max_items",
}


def _is_uuid(text: str) -> bool:
    return parse_uuid(text) is not None


def _is_email(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text  # it reads 20260101 and 2026-W01-1 too
    except ValueError:
        return False


_validators = {
    name: jsonschema_rs.Draft202012Validator(
        schema,
<<<<<<< HEAD
        formats={"uuid": _is_uuid, "email": _is_email, "date": _is_date},
=======
        formats={"uuid": _is_uuid, "email": _is_email, "certificate": is_certificate},
>>>>>>> keys
        validate_formats=True,
        pattern_options=jsonschema_rs.RegexOptions(),  # linear in time
        offline=True,
    )
    for name, schema in SCHEMAS.items()
}


def defaults() -> Sections:
    """Return the platform's default of every setting, section by section."""
    return {
        section: {key: rule["default"] for key, rule in schema["properties"].items()}
        for section, schema in SCHEMAS.items()
    }


def is_secret(section: str, key: str) -> bool:
    """Tell whether a setting is hidden from members who may not configure."""
    return bool(SCHEMAS[section]["properties"].get(key, {}).get("x-secret"))


def faults(sections: Mapping[str, Any]) -> list[FieldError]:
    """List the faults of the given settings; a valid configuration has none."""
    found = [FieldError(name, "unknown_field", "Unknown section.") for name in sections if name not in SCHEMAS]
    for name, values in sections.items():
        if name in SCHEMAS:
            errors = sorted(_validators[name].iter_errors(_with_fractions(values)), key=_order)
            found.extend(fault for error in errors for fault in _explain(name, error))
    return found


def contrast_faults(branding: Mapping[str, str]) -> list[FieldError]:
    """List the pairs of colours in effect whose contrast is too low to read.

    Source: WCAG 2.2, success criterion 1.4.3 (ratio 4.5 for text).
    """
    pairs = ((front, back, contrast(branding[front], branding[back])) for front, back in _TEXT_AND_BACKGROUND)
    return [
        FieldError(
            f"branding.{back}", "contrast_too_low", f"The contrast with {front} is {ratio:.2f}; at least 4.5 is needed."
        )
        for front, back, ratio in pairs
        if ratio < MINIMUM_CONTRAST
    ]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two `#RRGGBB` colours, from 1 to 21. Source: WCAG 2.2 glossary."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _with_fractions(value: Any) -> Any:
    """Give whole decimals a fraction: JSON Schema accepts 1.0 as an integer, a setting does not."""
    if isinstance(value, Mapping):
        return {name: _with_fractions(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_fractions(member) for member in value]
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return value + Decimal("0.5")
    return value


def _order(error: jsonschema_rs.ValidationError) -> tuple[list[str], bool, list[str]]:
    """Sort errors by their path, and a wrong type before other faults of the same value."""
    path = [str(part) for part in error.schema_path]
    return [str(part) for part in error.instance_path], path[-1] != "type", path


def _explain(section: str, error: jsonschema_rs.ValidationError) -> Iterator[FieldError]:
    path = ".".join([section, *map(str, error.instance_path)])
    keyword = str(error.schema_path[-1])
    code = _CODES.get(keyword, "invalid")
    kind: Any = error.kind
    if keyword == "additionalProperties":
        for key in sorted(kind.unexpected):
            yield FieldError(f"{path}.{key}", code, "Unknown setting.")
    elif keyword == "required":
        yield FieldError(f"{path}.{kind.property}", code, "This setting is required.")
    else:
        rule: Any = reduce(getitem, error.schema_path, SCHEMAS[section])  # type: ignore[arg-type]  # a path of keys
        yield FieldError(path, code, _sentence(keyword, rule))


def _sentence(keyword: str, rule: Any) -> str:
    """Name the rule, never the value that was sent: it may be a secret or very long."""
    rules = {
        "type": lambda: f"Must be of type {' or '.join([rule] if isinstance(rule, str) else rule)}.",
        "enum": lambda: f"Must be one of {', '.join(rule)}.",
        "minimum": lambda: f"Must be at least {rule}.",
        "maximum": lambda: f"Must be at most {rule}.",
        "format": lambda: f"Must be a valid {rule}.",
        "pattern": lambda: f"Must match {rule}.",
    }
    return rules.get(keyword, lambda: f"Breaks the rule {keyword} {rule}.")()
