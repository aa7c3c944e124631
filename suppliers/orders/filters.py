"""Filters of the list of received orders."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from api.periods import MomentFilter, PeriodForm, since, until
from core.conditions import TENANT, Condition

from .models import ReceivedOrder
from .searching import ORDERS_OF_SUPPLIER, words_searched
from .states import SHARED, Fulfilment


class ReceivedOrderFilters(Filters):
    """Filters of the supplier's list; `status` and `fulfilment_status` take a comma-separated list."""

    buyer_id = django_filters.UUIDFilter(field_name="owner_tenant_id")
    product_id = django_filters.UUIDFilter()
    status = django_filters.CharFilter(max_length=120)
    fulfilment_status = django_filters.CharFilter(max_length=120)
    search = django_filters.CharFilter(
        max_length=200, help_text="Beginnings of words of the numbers and the buyer's name, all of which must match."
    )
    to = MomentFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = ReceivedOrder
        fields: Any = []
        form = PeriodForm

    def condition_product_id(self, value: Any) -> Condition:
        """Orders with a line of this product."""
        return Condition(
            "t.id IN (SELECT l.document_id FROM suppliers_receivedorderline l"
            f" WHERE l.tenant_id = {TENANT} AND l.product_id = {{0}})",
            (str(value),),
        )

    def condition_status(self, value: str) -> Condition:
        """Orders in one of the given states, as the supplier reads them."""
        return one_of("status", value, SHARED)

    def condition_fulfilment_status(self, value: str) -> Condition:
        """Orders whose goods are so far."""
        return one_of("fulfilment_status", value, Fulfilment.values)

    def condition_search(self, value: str) -> Condition:
        """Orders with, for each word of the search, a word that begins with it."""
        return ORDERS_OF_SUPPLIER.condition(value)

    def condition_from(self, value: str) -> Condition:
        """Orders that were sent then or later."""
        return since("t.received_at", value)

    def condition_to(self, value: str) -> Condition:
        """Orders that were sent before."""
        return until("t.received_at", value)


# `from` is a word of Python.
ReceivedOrderFilters.base_filters["from"] = MomentFilter(max_length=40)


def searched(folded: str, value: str) -> Condition:
    """Return the condition that folded words, given as SQL, have for each word of a search one that begins with it.

    It reads every row that is not narrowed otherwise: for lists that stay short.

    :raises InvalidFields: the search has no word, or too many.
    """
    found = words_searched(value)
    parts = (f"strpos({folded}, {{{place}}}) > 0" for place in range(len(found)))
    return Condition(" AND ".join(parts), tuple(f" {word}" for word in found))
