"""Filters of the list of invoices, for both parties."""

from datetime import datetime
from typing import Any, Final

import django_filters

from api.filters import one_of
from api.periods import MomentFilter, PeriodForm, moment_of
from api.two_sides import TwoSidedFilters
from core.conditions import TENANT, Condition
from core.text_folding import folded_sql
from suppliers.orders.filters import searched

from .models import Invoice
from .states import InvoiceStatus, InvoiceType

_WORDS: Final = folded_sql(
    "t.number || ' ' || t.po_number || ' ' || t.order_number || ' ' || (SELECT n.name FROM organizations_tenant n"
    " WHERE n.id = CASE t.side WHEN 'buyer' THEN t.supplier_tenant_id ELSE t.buyer_tenant_id END)"
)
_DAY: Final = (
    f"({{0}}::timestamptz AT TIME ZONE (SELECT n.time_zone FROM organizations_tenant n WHERE n.id = {TENANT}))::date"
)


def _day(value: str) -> str:
    """Return the SQL of the day that a plain date or an instant names, by the clock of the asking tenant."""
    return _DAY if isinstance(moment_of(value), datetime) else "{0}::date"


class InvoiceFilters(TwoSidedFilters):
    """Filters of invoices; `status` and `type` take comma-separated lists. `from` and `to` are about `issue_date`."""

    status = django_filters.CharFilter(max_length=120)
    type = django_filters.CharFilter(max_length=60)
    purchase_order_id = django_filters.UUIDFilter(field_name="order_id")
    supplier_id = django_filters.UUIDFilter(field_name="supplier_tenant_id", help_text="For a buyer.")
    buyer_id = django_filters.UUIDFilter(field_name="buyer_tenant_id", help_text="For a supplier.")
    search = django_filters.CharFilter(
        max_length=200,
        help_text="Beginnings of words of the numbers and the other party's name, all of which must match.",
    )
    to = MomentFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Invoice
        fields: Any = []
        form = PeriodForm

    def condition_status(self, value: str) -> Condition:
        """Invoices in one of the given states."""
        return one_of("status", value, InvoiceStatus.values)

    def condition_type(self, value: str) -> Condition:
        """Documents of one of the given types."""
        return one_of("type", value, InvoiceType.values)

    def condition_search(self, value: str) -> Condition:
        """Invoices with, for each word of the search, a word that begins with it."""
        return searched(_WORDS, value)

    def condition_from(self, value: str) -> Condition:
        """Invoices of that day or later."""
        return Condition(f"t.issue_date >= {_day(value)}", (value,))

    def condition_to(self, value: str) -> Condition:
        """Invoices of days before."""
        return Condition(f"t.issue_date < {_day(value)}", (value,))


# `from` is a word of Python.
InvoiceFilters.base_filters["from"] = MomentFilter(max_length=40)
