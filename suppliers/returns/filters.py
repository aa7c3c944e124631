"""Filters of the list of returns, for both parties."""

from typing import Any, Final

import django_filters

from api.filters import one_of
from api.periods import MomentFilter, PeriodForm, since, until
from api.two_sides import TwoSidedFilters
from core.conditions import Condition
from core.text_folding import folded_sql
from suppliers.orders.filters import searched

from .models import Return
from .states import STORED, ReturnType

_WORDS: Final = folded_sql(
    "t.number || ' ' || t.po_number || ' ' || t.order_number || ' ' || t.delivery_number || ' '"
    " || (SELECT n.name FROM organizations_tenant n"
    " WHERE n.id = CASE t.side WHEN 'buyer' THEN t.supplier_tenant_id ELSE t.buyer_tenant_id END)"
)


class ReturnFilters(TwoSidedFilters):
    """Filters of returns; `status` takes a comma-separated list. `from` and `to` are about `created_at`."""

    status = django_filters.CharFilter(max_length=120)
    type = django_filters.ChoiceFilter(choices=ReturnType.choices)
    purchase_order_id = django_filters.UUIDFilter(field_name="order_id")
    delivery_id = django_filters.UUIDFilter()
    supplier_id = django_filters.UUIDFilter(field_name="supplier_tenant_id", help_text="For a buyer.")
    buyer_id = django_filters.UUIDFilter(field_name="buyer_tenant_id", help_text="For a supplier.")
    search = django_filters.CharFilter(
        max_length=200,
        help_text="Beginnings of words of the numbers and the other party's name, all of which must match.",
    )
    to = MomentFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Return
        fields: Any = []
        form = PeriodForm

    def condition_status(self, value: str) -> Condition:
        """Returns in one of the given states."""
        return one_of("status", value, STORED)

    def condition_search(self, value: str) -> Condition:
        """Returns with, for each word of the search, a word that begins with it."""
        return searched(_WORDS, value)

    def condition_from(self, value: str) -> Condition:
        """Returns that were requested then or later."""
        return since("t.created_at", value)

    def condition_to(self, value: str) -> Condition:
        """Returns that were requested before."""
        return until("t.created_at", value)


# `from` is a word of Python.
ReturnFilters.base_filters["from"] = MomentFilter(max_length=40)
