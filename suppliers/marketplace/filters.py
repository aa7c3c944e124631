"""Filters of the list of offers."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition

from .models import Offer
from .states import OfferStatus, VisibilityMode


class OfferFilters(Filters):
    """Filters of offers; `status` takes a comma-separated list, `visibility` is the mode."""

    status = django_filters.CharFilter(max_length=80)
    product_id = django_filters.UUIDFilter()
    visibility = django_filters.ChoiceFilter(field_name="visibility_mode", choices=VisibilityMode.choices)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Offer
        fields: Any = []

    def condition_status(self, value: str) -> Condition:
        """Offers in one of the given states."""
        return one_of("status", value, OfferStatus.values)
