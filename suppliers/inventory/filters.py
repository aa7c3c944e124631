"""Filters of the lists of levels, movements and stock locations."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from api.periods import DateFilter, MomentFilter, PeriodForm, since, until
from core.conditions import TENANT, Condition

from .models import StockLevel, StockMovement, StockPlace
from .states import LotStatus, MovementType

_OF_LOT = f"FROM suppliers_lot l WHERE l.tenant_id = {TENANT} AND l.id = t.lot_id AND"


class StockLevelFilters(Filters):
    """Filters of levels; `status` is that of the lot, `expiring_before` leaves out what never expires."""

    product_id = django_filters.UUIDFilter()
    location_id = django_filters.UUIDFilter()
    lot_number = django_filters.CharFilter(max_length=20)
    status = django_filters.ChoiceFilter(choices=LotStatus.choices)
    expiring_before = DateFilter(help_text="Levels of lots whose last day of use is before this day.")
    below_threshold = django_filters.BooleanFilter()
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = StockLevel
        fields: Any = []

    def condition_lot_number(self, value: str) -> Condition:
        """Levels of lots with this number."""
        return Condition(f"EXISTS (SELECT 1 {_OF_LOT} l.lot_number = {{0}})", (value,))

    def condition_status(self, value: str) -> Condition:
        """Levels of lots in this state."""
        return Condition(f"EXISTS (SELECT 1 {_OF_LOT} l.status = {{0}})", (value,))

    def condition_expiring_before(self, value: Any) -> Condition:
        """Levels of lots whose last day of use is before a date."""
        return Condition(f"EXISTS (SELECT 1 {_OF_LOT} l.expiry_date < {{0}}::date)", (value.isoformat(),))

    def condition_below_threshold(self, value: bool) -> Condition:
        """Levels of which less is free than their threshold says, or the others."""
        below = "(t.low_stock_threshold IS NOT NULL AND t.on_hand - t.reserved < t.low_stock_threshold)"
        return Condition(below if value else f"NOT {below}", ())


class AvailabilityFilters(Filters):
    """Filters of availability; `needed_date` is the date by which lots must last long enough, today by default."""

    product_id = django_filters.UUIDFilter()
    location_id = django_filters.UUIDFilter()
    needed_date = DateFilter(help_text="The day that the remaining shelf life is counted from; by default today.")

    class Meta:
        model = StockLevel
        fields: Any = []

    def condition_needed_date(self, value: Any) -> Condition:
        """Hold for every row: the date decides what is counted, not which rows are shown."""
        return Condition("{0}::date IS NOT NULL", (value.isoformat(),))


class StockMovementFilters(Filters):
    """Filters of movements; `type` takes a comma-separated list, `reference` the text or id that they were made with."""

    product_id = django_filters.UUIDFilter()
    location_id = django_filters.UUIDFilter()
    level_id = django_filters.UUIDFilter()
    lot_number = django_filters.CharFilter(max_length=20)
    type = django_filters.CharFilter(max_length=120)
    reference = django_filters.CharFilter(max_length=120)
    to = MomentFilter(max_length=40)

    class Meta:
        model = StockMovement
        fields: Any = []
        form = PeriodForm

    def condition_type(self, value: str) -> Condition:
        """Movements of the given types."""
        return one_of("type", value, MovementType.values)

    def condition_reference(self, value: str) -> Condition:
        """Movements of a document, by its id or by what it was called."""
        return Condition("(t.reference_text = {0} OR t.reference_id::text = {0})", (value,))

    def condition_from(self, value: str) -> Condition:
        """Movements that were made then or later."""
        return since("t.created_at", value)

    def condition_to(self, value: str) -> Condition:
        """Movements that were made before."""
        return until("t.created_at", value)


# `from` is a word of Python.
StockMovementFilters.base_filters["from"] = MomentFilter(max_length=40)


class StockLocationFilters(Filters):
    """Filters of stock locations."""

    code = django_filters.CharFilter(max_length=40)
    sellable = django_filters.BooleanFilter()

    class Meta:
        model = StockPlace
        fields: Any = []
