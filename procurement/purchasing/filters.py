"""Filters of the list of purchase orders."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from api.periods import MomentFilter, PeriodForm, since, until
from core.conditions import Condition
from suppliers.public import ORDERS_OF_BUYER, Fulfilment, OrderStatus, PurchaseOrder


class PurchaseOrderFilters(Filters):
    """Filters of the buyer's list; `status` and `fulfilment_status` take a comma-separated list."""

    supplier_id = django_filters.UUIDFilter(field_name="supplier_tenant_id")
    status = django_filters.CharFilter(max_length=120)
    fulfilment_status = django_filters.CharFilter(max_length=120)
    price_differs = django_filters.BooleanFilter()
    search = django_filters.CharFilter(
        max_length=200, help_text="Beginnings of words of the numbers and the supplier's name, all of which must match."
    )
    to = MomentFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = PurchaseOrder
        fields: Any = []
        form = PeriodForm

    def condition_status(self, value: str) -> Condition:
        """Orders in one of the given states."""
        return one_of("status", value, OrderStatus.values)

    def condition_fulfilment_status(self, value: str) -> Condition:
        """Orders whose goods are so far."""
        return one_of("fulfilment_status", value, Fulfilment.values)

    def condition_price_differs(self, value: bool) -> Condition:
        """Orders with a line whose price is not the agreed one, or all others."""
        return Condition("t.price_differs" if value else "NOT t.price_differs")

    def condition_search(self, value: str) -> Condition:
        """Orders with, for each word of the search, a word that begins with it."""
        return ORDERS_OF_BUYER.condition(value)

    def condition_from(self, value: str) -> Condition:
        """Orders created then or later."""
        return since("t.created_at", value)

    def condition_to(self, value: str) -> Condition:
        """Orders created before."""
        return until("t.created_at", value)


# `from` is a word of Python.
PurchaseOrderFilters.base_filters["from"] = MomentFilter(max_length=40)
