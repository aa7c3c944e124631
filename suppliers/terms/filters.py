"""Filters of terms."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition

from .models import PriceList, PricingRule
from .states import Scope, TermStatus


class PriceListFilters(Filters):
    """Filters of price lists; `status` takes a comma-separated list."""

    status = django_filters.CharFilter(max_length=40)
    currency = django_filters.CharFilter(max_length=3)
    scope = django_filters.ChoiceFilter(choices=Scope.choices)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = PriceList
        fields: Any = []

    def condition_status(self, value: str) -> Condition:
        """Lists in one of the given states."""
        return one_of("status", value, TermStatus.values)


class PricingRuleFilters(Filters):
    """Filters of pricing rules; `status` takes a comma-separated list."""

    status = django_filters.CharFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = PricingRule
        fields: Any = []

    def condition_status(self, value: str) -> Condition:
        """Rules in one of the given states."""
        return one_of("status", value, TermStatus.values)
