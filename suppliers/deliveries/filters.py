"""Filters of the list of deliveries, for both parties."""

from typing import Any, Final

import django_filters

from api.filters import one_of
from api.periods import MomentFilter, PeriodForm, since, until
from api.two_sides import TwoSidedFilters
from core.conditions import Condition
from suppliers.orders.searching import DELIVERIES_OF_BUYER, DELIVERIES_OF_SUPPLIER, of_either

from .models import Delivery
from .states import OF_DELIVERY

# Shipments in preparation are seen with their order.
DISPATCHED: Final = Condition("t.status NOT IN ('preparing', 'cancelled')")


class DeliveryFilters(TwoSidedFilters):
    """Filters of deliveries; `status` takes a comma-separated list. `from` and `to` are about `shipped_at`."""

    status = django_filters.CharFilter(max_length=120)
    purchase_order_id = django_filters.UUIDFilter(field_name="order_id")
    supplier_id = django_filters.UUIDFilter(field_name="supplier_tenant_id", help_text="For a buyer.")
    buyer_id = django_filters.UUIDFilter(field_name="buyer_tenant_id", help_text="For a supplier.")
    search = django_filters.CharFilter(
        max_length=200,
        help_text="Beginnings of words of the numbers, the tracking number and the other party's name, all of which must match.",
    )
    to = MomentFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Delivery
        fields: Any = []
        form = PeriodForm

    def condition_status(self, value: str) -> Condition:
        """Deliveries in one of the given states."""
        return one_of("status", value, OF_DELIVERY)

    def condition_search(self, value: str) -> Condition:
        """Deliveries with, for each word of the search, a word that begins with it."""
        return of_either(value, DELIVERIES_OF_BUYER, DELIVERIES_OF_SUPPLIER)

    def condition_from(self, value: str) -> Condition:
        """Deliveries that left then or later."""
        return since("t.shipped_at", value)

    def condition_to(self, value: str) -> Condition:
        """Deliveries that left before."""
        return until("t.shipped_at", value)


# `from` is a word of Python.
DeliveryFilters.base_filters["from"] = MomentFilter(max_length=40)
