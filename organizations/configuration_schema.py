"""The settings of a tenant: one JSON Schema per section, the defaults, and the checks that a schema cannot express.

A key marked `x-secret` is shown only to those who may configure. Source of the dialect: JSON
Schema draft 2020-12.
"""

from collections.abc import Iterator, Mapping
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

_BRANDING = object_of(
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


_validators = {
    name: jsonschema_rs.Draft202012Validator(
        schema,
        formats={"uuid": _is_uuid, "email": _is_email, "certificate": is_certificate},
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
