"""Filters of the lists of reservations, the supplier's and the buyer's."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
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
    """Filters of the supplier's list."""

    buyer_id = django_filters.UUIDFilter(field_name="buyer_tenant_id")

    class Meta:
        model = Reservation
        fields: Any = []


class HeldReservationFilters(_Shared):
    """Filters of the buyer's list."""

    supplier_id = django_filters.UUIDFilter(field_name="owner_tenant_id")

    class Meta:
        model = ReceivedReservation
        fields: Any = []
