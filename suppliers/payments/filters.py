"""Filters of the list of payments, for both parties."""

from typing import Any, Final

import django_filters

from api.filters import one_of
from api.periods import MomentFilter, PeriodForm, since, until
from api.two_sides import TwoSidedFilters
from core.conditions import TENANT, Condition
from core.text_folding import folded_sql
from suppliers.orders.filters import searched

from .models import Payment
from .states import PaymentStatus

_WORDS: Final = folded_sql(
    "t.number || ' ' || (SELECT n.name FROM organizations_tenant n"
    " WHERE n.id = CASE t.side WHEN 'buyer' THEN t.supplier_tenant_id ELSE t.buyer_tenant_id END)"
)
# A value date is its start in the asking tenant's time zone.
_MOMENT: Final = (
    "coalesce(t.value_date::timestamp AT TIME ZONE"
    f" (SELECT n.time_zone FROM organizations_tenant n WHERE n.id = {TENANT}), t.created_at)"
)


class PaymentFilters(TwoSidedFilters):
    """Filters of payments; `status` takes a comma-separated list.

    `from` and `to` are about `value_date`, or where there is none `created_at`.
    """

    status = django_filters.CharFilter(max_length=120)
    supplier_id = django_filters.UUIDFilter(field_name="supplier_tenant_id", help_text="For a buyer.")
    buyer_id = django_filters.UUIDFilter(field_name="buyer_tenant_id", help_text="For a supplier.")
    search = django_filters.CharFilter(
        max_length=200,
        help_text="Beginnings of words of the number and the other party's name, all of which must match.",
    )
    to = MomentFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Payment
        fields: Any = []
        form = PeriodForm

    def condition_status(self, value: str) -> Condition:
        """Payments in one of the given states."""
        return one_of("status", value, PaymentStatus.values)

    def condition_search(self, value: str) -> Condition:
        """Payments with, for each word of the search, a word that begins with it."""
        return searched(_WORDS, value)

    def condition_from(self, value: str) -> Condition:
        """Payments of then or later."""
        return since(_MOMENT, value)

    def condition_to(self, value: str) -> Condition:
        """Payments of before."""
        return until(_MOMENT, value)


# `from` is a word of Python.
PaymentFilters.base_filters["from"] = MomentFilter(max_length=40)
