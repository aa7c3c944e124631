"""Items of a body as columns of their rows, and the number of a new prescription."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from core.canonical import decimal_text
from core.pipeline import Call, Statement
from prescriptions.medications.knowledge import Knowledge
from prescriptions.medications.schedules import effective_schedule

_NEXT = Statement.of(
    "INSERT INTO prescriptions_prescriptioncounter AS c (tenant_id, year, last) VALUES ($1, $2, 1)"
    " ON CONFLICT (tenant_id, year) DO UPDATE SET last = c.last + 1 RETURNING c.last"
)
_TEXTS = ("medication_text", "quantity_in_words", "substitution_reason", "authorization_number", "schedule")
_AS_GIVEN = ("days_supply", "fills_allowed", "dispense_interval_days", "substitution_allowed")
_DOSAGE_TEXTS = ("route", "site", "method", "as_needed_reason")


def number_call(tenant_id: UUID, year: int) -> Call:
    """Return the statement that draws the next number of a tenant's year; its row stays locked."""
    return Call(_NEXT, [str(tenant_id), str(year)])


def number_text(year: int, number: int) -> str:
    """Write a number: RX-2026-000042."""
    return f"RX-{year}-{number:06}"


def codes_of(items: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Return system and code of every medication of a body."""
    return {(one["medication"]["system"], one["medication"]["code"]) for one in items if one["medication"]}


def columns(item: Mapping[str, Any], knowledge: Knowledge, prior: UUID | None) -> dict[str, Any]:
    """Return the columns of an item of a checked body."""
    medication = _medication(item["medication"], knowledge) if item["medication"] else None
    held = item["medication"] and knowledge.medications.get((item["medication"]["system"], item["medication"]["code"]))
    return {
        **{name: item[name] or "" for name in _TEXTS},
        "medication": medication,
        "dosage": [dosage(one) for one in item["dosage"]],
        "quantity_value": item["quantity"]["value"],
        "quantity_unit": item["quantity"]["unit"],
        "days_supply": item["days_supply"],
        "fills_allowed": item["fills_allowed"],
        "dispense_interval_days": item["dispense_interval_days"],
        "substitution_allowed": item["substitution_allowed"],
        "effective_schedule": effective_schedule(item["schedule"], held.schedule if held else None),
        "prior_item_id": prior,
    }


def _medication(given: Mapping[str, Any], knowledge: Knowledge) -> dict[str, Any]:
    held = knowledge.medications.get((given["system"], given["code"]))
    return {
        "system": given["system"],
        "code": given["code"],
        "display": given["display"],
        "ingredient_codes": list(held.ingredients) if held else [],
        "form": given["form"] or (held.form if held else None) or None,
        "strength": given["strength"] or (held.strength if held else None) or None,
    }


def dosage(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dosage as its column and the answers hold it: decimals as strings, absent members null."""
    return {
        "text": one["text"],
        "dose": amount(one["dose"]),
        **{name: one[name] or None for name in _DOSAGE_TEXTS},
        "frequency": one["frequency"],
        "period": None if one["period"] is None else decimal_text(one["period"]),
        "period_unit": one["period_unit"],
        "duration": amount(one["duration"]),
        "as_needed": one["as_needed"],
        "max_dose_per_day": amount(one["max_dose_per_day"]),
    }


def amount(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a quantity with its decimal string; None for none."""
    return {"value": decimal_text(given["value"]), "unit": given["unit"]} if given else None


def template_item(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item of a checked body as templates and recurring treatments keep it; the same serializer reads it again."""
    given = one["medication"]
    names = ("system", "code", "display", "form", "strength")
    return {
        **{name: one[name] or None for name in _TEXTS},
        "medication": {name: given[name] or None for name in names} if given else None,
        "dosage": [dosage(each) for each in one["dosage"]],
        "quantity": amount(one["quantity"]),
        **{name: one[name] for name in _AS_GIVEN},
    }
