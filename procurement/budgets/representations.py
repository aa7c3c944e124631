"""Budgets as their buyer reads them."""

from typing import ClassVar

from rest_framework import serializers

from api.representations import Computed, Representation
from core.money import minor_units_sql

from .models import Budget

_PLACES = minor_units_sql("t.currency")


def _amount(sql: str) -> str:
    """Write an amount with the decimals of the budget's currency."""
    return f"round({sql}, {_PLACES})::text"


class BudgetOut(Representation):
    """A budget with what orders have committed and invoices have spent of it."""

    amount = Computed(_amount("t.amount"), serializers.CharField())
    cost_centers = Computed(
        "to_jsonb(t.cost_centers)", serializers.ListField(child=serializers.CharField(), help_text="Empty: any.")
    )
    committed = Computed(_amount("t.committed"), serializers.CharField(help_text="Ordered, and not invoiced yet."))
    spent = Computed(_amount("t.spent"), serializers.CharField(help_text="Of approved invoices."))
    available = Computed(
        _amount("t.amount - t.committed - t.spent"),
        serializers.CharField(help_text="Below nothing where the enforcement `warn` let more be ordered."),
    )

    class Meta:
        model = Budget
        fields = (
            "id", "code", "name", "amount", "currency", "valid_from", "valid_to", "cost_centers", "threshold_percent",
            "enforcement", "active", "committed", "spent", "available", "created_at", "updated_at", "version",
        )  # fmt: skip
        unversioned = "CASE WHEN t.committed + t.spent > 0 THEN left(md5(t.committed || ' ' || t.spent), 12) END"
        example: ClassVar = {
            "code": "wards-2026",
            "name": "Consumables of the wards",
            "amount": "250000.00",
            "currency": "EUR",
            "valid_from": "2026-01-01",
            "valid_to": "2027-01-01",
            "cost_centers": ["4711", "4712"],
            "threshold_percent": 80,
            "committed": "1200.00",
            "spent": "800.00",
            "available": "248000.00",
        }
