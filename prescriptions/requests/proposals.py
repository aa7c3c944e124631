"""The items of the draft that an approval makes: what was asked for, in the form of a body."""

from collections.abc import Mapping
from typing import Any

from core.canonical import decimal_text
from prescriptions.lifecycle.models import Prescription, PrescriptionItem

_KEPT = (
    "medication_text", "quantity_in_words", "days_supply", "fills_allowed", "dispense_interval_days",
    "substitution_allowed", "substitution_reason", "authorization_number",
)  # fmt: skip
_OF_MEDICATION = ("system", "code", "display", "form", "strength")


def asked_item(item: PrescriptionItem, proposed: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return an item as it was prescribed, changed as the pharmacy proposes."""
    found = {name: getattr(item, name) for name in _KEPT}
    found |= {
        "medication": item.medication and {name: item.medication.get(name) for name in _OF_MEDICATION},
        "dosage": item.dosage,
        "quantity": {"value": decimal_text(item.quantity_value), "unit": item.quantity_unit},
        "schedule": item.schedule or None,
    }
    return found | (_changes(proposed) if proposed else {})


def _changes(proposed: Mapping[str, Any]) -> dict[str, Any]:
    """What a proposal changes, and what no longer holds with it: words and days of another quantity."""
    found: dict[str, Any] = {}
    if product := proposed["product"]:
        found["medication"] = {**product, "display": product["display"] or product["code"]}
        found |= {"medication_text": "", "authorization_number": ""}
    if proposed["quantity"]:
        found |= {"quantity": proposed["quantity"], "quantity_in_words": "", "days_supply": None}
    if proposed["dosage_text"]:
        found |= {"dosage": [{"text": proposed["dosage_text"]}], "days_supply": None}
    return found


def draft_after(row: Prescription, items: Any) -> dict[str, Any]:
    """Return the body of the draft that follows a prescription; encounter, days and notes are those of the new one."""
    return {
        "patient_id": row.patient_id,
        "items": items,
        "template_id": None,
        "encounter_id": None,
        "prescriber_id": row.prescriber_id or None,
        "location_id": row.location_id,
        "reason_codes": [{"display": None, **one} for one in row.reason_codes],
        "priority": row.priority,
        "category": row.category,
        "valid_from": None,
        "notes_to_pharmacy": "",
        "patient_instructions": row.patient_instructions,
        "prior_prescription_id": row.id,
    }
