"""Filters of the lists of reservations, the supplier's and the buyer's."""

from typing import Any
from uuid import UUID

import django_filters

from api.filters import Filters, one_of
from core.conditions import TENANT, Condition
from suppliers.inventory.models import ReceivedReservation, Reservation
from suppliers.inventory.states import ReservationStatus


class _Shared(Filters):
    """The filters of both lists; `status` takes a comma-separated list."""

    status = django_filters.CharFilter(max_length=80)
    product_id = django_filters.UUIDFilter()
    expires_before = django_filters.IsoDateTimeFilter(field_name="expires_at", lookup_expr="lt")
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    def condition_status(self, value: str) -> Condition:
        """Reservations in one of the given states."""
        return one_of("status", value, ReservationStatus.values)


class ReservationFilters(_Shared):
    """Filters of the supplier's list; `order_id` is an order that the supplier has received."""

    buyer_id = django_filters.UUIDFilter(field_name="buyer_tenant_id")
    order_id = django_filters.UUIDFilter()

    class Meta:
        model = Reservation
        fields: Any = []

    def condition_order_id(self, value: UUID) -> Condition:
        """Reservations of the lines of an order."""
        lines = f"SELECT n.id FROM suppliers_receivedorderline n WHERE n.tenant_id = {TENANT} AND n.document_id = {{0}}::uuid"
        return Condition(f"t.purchase_order_line_id IN ({lines})", (str(value),))


class HeldReservationFilters(_Shared):
    """Filters of the buyer's list."""

    supplier_id = django_filters.UUIDFilter(field_name="owner_tenant_id")

    class Meta:
        model = ReceivedReservation
        fields: Any = []
