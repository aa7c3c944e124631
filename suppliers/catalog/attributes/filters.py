"""Filters of the list of attribute definitions."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
from suppliers.catalog.category_tree import CATEGORIES
from suppliers.catalog.models import AttributeDefinition
from suppliers.catalog.states import AttributeType

_REQUIRED = f't."required_for"::text[] && ARRAY{CATEGORIES.above("n.code = {0}", column="code")}::text[]'


class AttributeFilters(Filters):
    """Filters of attribute definitions; `type` takes a comma-separated list."""

    category = django_filters.CharFilter(
        max_length=64, help_text="Only attributes that active products of this category need."
    )
    type = django_filters.CharFilter(max_length=100)

    class Meta:
        model = AttributeDefinition
        fields: Any = []

    def condition_category(self, value: str) -> Condition:
        """Attributes that the category or one above it requires."""
        return Condition(_REQUIRED, (value,))

    def condition_type(self, value: str) -> Condition:
        """Attributes of one of the given types."""
        return one_of("type", value, AttributeType.values)
