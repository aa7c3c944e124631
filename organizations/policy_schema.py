"""The policies of a tenant with their defaults and bounds, as a JSON Schema. Source: contract, organizations.md "Policy keys"."""

from collections.abc import Mapping
from typing import Any

from cryptography import x509

FLAG: dict[str, Any] = {"type": "boolean"}
_BASIS_POINTS = {"type": "integer", "minimum": 0, "maximum": 10_000}


def object_of(properties: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the schema of an object that has these properties and no others."""
    return {"type": "object", "properties": dict(properties), "additionalProperties": False, **more}


def is_certificate(text: str) -> bool:
    """Tell whether a text is one X.509 certificate in PEM form and nothing else. Source: RFC 7468 section 5."""
    try:
        x509.load_pem_x509_certificate(text.encode())
    except ValueError:
        return False
    return text.startswith("-----BEGIN CERTIFICATE-----") and text.count("-----BEGIN") == 1


def _whole(least: int, most: int, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, **more}


def _list(item: Mapping[str, Any], most: int, *, default: list[Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": dict(item), "maxItems": most, "default": default, **more}


def _days(default: int) -> dict[str, Any]:
    return _whole(1, 3_650, default=default)


def _one_of(*values: str, default: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values), "default": default}


def _amount(**more: Any) -> dict[str, Any]:
    return {"type": "string", "format": "decimal", "pattern": r"^[0-9]{1,13}(\.[0-9]{1,6})?$", **more}


_APPROVAL_STEP = object_of(
    {"over_amount": _amount(), "approvals": _whole(1, 5)},
    required=["over_amount", "approvals"],
)
_MEMBERSHIP = {"type": "string", "format": "uuid"}
_INSTANT = {
    "type": "string",
    "format": "date-time",
    "pattern": (
        r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
        r"(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
    ),
}
_DELEGATION = object_of({"from": _MEMBERSHIP, "to": _MEMBERSHIP, "until": _INSTANT}, required=["from", "to", "until"])
_MAX_QUANTITY = object_of(
    {
        "code": {"type": "string", "minLength": 1, "maxLength": 100},
        "schedule": {"type": "string", "enum": ["I", "II", "III", "IV", "V"]},
        "value": {
            "type": "string",
            "format": "decimal",
            "pattern": r"^(?:[1-9][0-9]{0,8}(?:\.[0-9]{1,6})?|0\.[0-9]{0,5}[1-9])$",
        },
        "unit": {"type": "string", "minLength": 1, "maxLength": 40},
        "hard": FLAG,
    },
    required=["value", "unit"],
    oneOf=[{"required": ["code"]}, {"required": ["schedule"]}],
)
_CERTIFICATE = {"type": "string", "format": "certificate", "maxLength": 8_000}

POLICIES = object_of(
    {
        "prescription_validity_days": _days(365),
        "controlled_validity_days": _days(30),
        "prescription_expiring_days": _whole(0, 90, default=7),
        "early_refill_ratio": {"type": "string", "pattern": r"^(0(\.[0-9]{1,4})?|1(\.0{1,4})?)$", "default": "0.75"},
        "late_dispense_hours": _whole(0, 720, default=24),
        "max_days_supply": {"type": ["integer", "null"], "minimum": 1, "maximum": 3_650, "default": None},
        "max_quantity": _list(_MAX_QUANTITY, 100, default=[]),
        "free_text_medication_allowed": FLAG | {"default": False},
        "validation_max_age_hours": _whole(0, 720, default=24),
        "dose_contraindicated_factor": {
            "type": "string",
            "format": "decimal",
            "pattern": r"^[1-9][0-9]{0,2}(\.[0-9]{1,4})?$",
            "default": "3",
        },
        "require_cancel_reason": _one_of("none", "controlled", "all", default="controlled"),
        "covering_prescriber_may_cancel": FLAG | {"default": False},
        "allow_contraindicated_override": FLAG | {"default": False},
        "dispensing_prescriber_allowed": FLAG | {"default": False},
        "auditor_reads_prescriptions": FLAG | {"default": False},
        "controlled_step_up_seconds": _whole(60, 3_600, default=300),
        "controlled_max_fills": _whole(1, 99, default=1),
        "controlled_words_required": FLAG | {"default": True},
        "controlled_witness_required": FLAG | {"default": False},
        "external_signing_roots": _list(_CERTIFICATE, 20, default=[]),
        "dispense_reversal_hours": _whole(0, 8_760, default=24),
        "lot_number_required_on_dispense": FLAG | {"default": False},
        "default_pharmacy_location_id": {"type": ["string", "null"], "format": "uuid", "default": None},
        "appointment_slot_minutes": _whole(5, 1_440, default=15),
        "appointment_reminder_minutes": _list(_whole(1, 43_200), 10, default=[1_440], uniqueItems=True),
        "holidays": _list({"type": "string", "format": "date"}, 500, default=[], uniqueItems=True),
        "fhir_write_scope": _one_of("healthcare.write", "healthcare.read", default="healthcare.write"),
        "fhir_reference_integrity": _one_of("none", "check", default="check"),
        "fhir_vital_signs": _one_of("check", "warn", "off", default="check"),
        "event_payload_mode": _one_of("thin", "full", default="thin"),
        "reads_while_suspended": FLAG | {"default": True},
        "approval_steps": _list(_APPROVAL_STEP, 5, default=[]),
        "approval_delegation": _list(_DELEGATION, 50, default=[]),
        "approval_overdue_hours": _whole(1, 720, default=24),
        "invoice_auto_approve_limit": _amount(default="0") | {"x-secret": True},
        "over_receipt_tolerance_bp": _BASIS_POINTS | {"default": 0},
        "match_quantity_tolerance_bp": _BASIS_POINTS | {"default": 0, "x-secret": True},
        "match_price_tolerance_bp": _BASIS_POINTS | {"default": 0, "x-secret": True},
        "match_price_tolerance_amount": _amount(default="0") | {"x-secret": True},
        "match_tax_tolerance_amount": _amount(default="0.02") | {"x-secret": True},
    }
)
