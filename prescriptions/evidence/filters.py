"""Filters of the audit history, and of the records of reads that are answered in its place."""

from typing import Any, Final

import django_filters

from api.filters import Filters
from core.arrays import array_literal
from core.conditions import TENANT, Condition
from core.db import BOUND_LOCATIONS
from fhir_api import public as record
from prescriptions.lifecycle.chain_models import AuditEntry
from prescriptions.lifecycle.targets import WITHIN

CHAINED: Final = (
    "created", "updated", "validated", "validation_blocked", "override_recorded", "signed", "routed", "rerouted",
    "token_issued", "claimed", "acknowledged", "rejected", "returned", "ready_for_collection", "partially_dispensed",
    "dispensed", "dispense_reversed", "cancelled", "expired", "requested", "request_answered",
)  # fmt: skip
_ACTIONS: Final = [(name, name) for name in (*CHAINED, *record.RX_READS)]
_REACHED: Final = f"SELECT 1 FROM prescriptions_prescription p WHERE p.tenant_id = {TENANT} AND {WITHIN.over('p').sql}"
_UUID: Final = "CASE WHEN t.resource_id ~ '^[0-9a-f-]{{36}}$' THEN t.resource_id::uuid END"

# Whoever is limited to places sees what concerns prescriptions there; everybody else is spared the look at them.
_UNLIMITED: Final = f"cardinality({BOUND_LOCATIONS}) = 0"
ENTRIES_WITHIN: Final = Condition(f"({_UNLIMITED} OR EXISTS ({_REACHED} AND p.id = t.prescription_id))")
READS_WITHIN: Final = Condition(f"({_UNLIMITED} OR EXISTS ({_REACHED} AND p.id = {_UUID}))")


class _Shared(Filters):
    """What both lists take."""

    prescription_id = django_filters.UUIDFilter()
    action = django_filters.ChoiceFilter(
        choices=_ACTIONS,
        help_text="read, verified and exported answer the records of reads instead; without it they are left out.",
    )
    actor_id = django_filters.UUIDFilter()
    patient_id = django_filters.CharFilter(max_length=64)


class AuditFilters(_Shared):
    """Filters of the history; `from` is inclusive, `to` exclusive."""

    to = django_filters.IsoDateTimeFilter(field_name="occurred_at", lookup_expr="lt")

    class Meta:
        model = AuditEntry
        fields: Any = []


class AccessFilters(_Shared):
    """Filters of the records of reads."""

    to = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="lt")

    class Meta:
        model = record.AccessRecord
        fields: Any = []

    def condition_prescription_id(self, value: Any) -> Condition:
        """Reads of one prescription."""
        return Condition('t."resource_id" = {0}', (str(value),))

    def condition_action(self, value: str) -> Condition:
        """Reads of one kind."""
        return Condition('t."interaction" = ANY({0}::text[])', (array_literal(record.RX_READS.get(value, ())),))

    def condition_actor_id(self, value: Any) -> Condition:
        """Reads by one person or service."""
        return Condition('t."subject_id" = {0}', (str(value),))

    def condition_patient_id(self, value: str) -> Condition:
        """Reads of one patient's prescriptions."""
        return record.reads_of_patient(value)


# `from` is a word of Python.
for _filters, _column in ((AuditFilters, "occurred_at"), (AccessFilters, "created_at")):
    _filters.base_filters["from"] = django_filters.IsoDateTimeFilter(field_name=_column, lookup_expr="gte")
