"""Limits of quantity and of days. Source: contract, prescriptions.md, "Limits"."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from prescriptions.validation.facts import Facts, Prescribed
from prescriptions.validation.issues import Finding, Severity
from prescriptions.validation.units import converted, shown

from .registry import ClinicalRule, register


@register
class QuantityDaysSupply(ClinicalRule):
    """The item is for more days than the policy `max_days_supply` allows."""

    code = "quantity.days_supply"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item; nothing where the tenant has no limit."""
        limit = facts.inputs.policies.max_days_supply
        if limit is None:
            return
        for item in facts.prescribed:
            days = item.item.days_supply
            if days is None:
                message = "Not evaluated: the days of supply are not given."
                yield self.not_evaluated("no_days_supply", message, [item.line])
            elif days > limit:
                message = f"{item.drug.label} is for {days} days; at most {limit} are allowed."
                read = {"item": item.code, "days": days, "limit": limit}
                yield self.finding(Severity.HIGH, [item.line], message, read)


@register
class QuantityMax(ClinicalRule):
    """The quantity of a fill exceeds a limit of the policy `max_quantity`, by code or by schedule."""

    code = "quantity.max"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item and limit."""
        for item in facts.prescribed:
            for entry in facts.inputs.policies.max_quantity:
                if _concerns(entry, item):
                    yield from self._compared(entry, item)

    def _compared(self, entry: Any, item: Prescribed) -> Iterator[Finding]:
        limit, unit = Fraction(str(entry["value"])), str(entry.get("unit") or "")
        given = converted(Fraction(item.item.quantity), item.item.quantity_unit, unit)
        if given is None:
            message = "Not evaluated: the unit of the quantity cannot be compared with that of the limit."
            yield self.not_evaluated("other_unit", message, [item.line])
        elif given > limit:
            severity = Severity.BLOCKING if entry.get("hard") else Severity.HIGH
            message = (
                f"The quantity {shown(given)} {unit} of {item.drug.label} exceeds the limit of {shown(limit)} {unit}."
            )
            read = {"item": item.code, "given": f"{given}", "limit": f"{limit}", "unit": unit}
            yield self.finding(severity, [item.line], message, read)


def _concerns(entry: Any, item: Prescribed) -> bool:
    """Whether a limit names the item's code or its effective schedule."""
    if entry.get("code"):
        return bool(entry["code"] == item.item.code)
    return bool(item.schedule) and entry.get("schedule") == item.schedule
