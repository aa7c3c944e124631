"""Filters of the list of products."""

from typing import Any, ClassVar

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import MAX_SEARCH_WORDS, words_of

from .category_tree import CATEGORIES
from .models import Product
from .search_index import with_terms
from .states import Availability, Status

_BELOW = f't."category" = ANY(ARRAY{CATEGORIES.within("n.code = {0}", column="code")})'


class ProductFilters(Filters):
    """Filters of products.

    `category` includes its descendants; `availability` and `status` take comma-separated lists; `search` takes
    beginnings of words, all of which must match.
    """

    category = django_filters.CharFilter(max_length=64)
    availability = django_filters.CharFilter(max_length=100)
    status = django_filters.CharFilter(max_length=100)
    search = django_filters.CharFilter(max_length=200)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    otherwise: ClassVar = {"status": 't."archived_at" IS NULL'}  # unless `status` names them

    class Meta:
        model = Product
        fields: Any = []

    def condition_category(self, value: str) -> Condition:
        """Products in the category or in one of its descendants."""
        return Condition(_BELOW, (value,))

    def condition_availability(self, value: str) -> Condition:
        """Products with one of the given availabilities."""
        return one_of("availability", value, Availability.values)

    def condition_status(self, value: str) -> Condition:
        """Products with one of the given statuses; the conditions on `archived_at` make partial indexes usable."""
        found = one_of("status", value, Status.values)
        names = {part.strip() for part in value.split(",")}
        if Status.ARCHIVED not in names:
            return Condition(f'{found.sql} AND t."archived_at" IS NULL', found.parameters)
        return found if len(names) > 1 else Condition(f'{found.sql} AND t."archived_at" IS NOT NULL', found.parameters)

    def condition_search(self, value: str) -> Condition:
        """Products with, for each word of the search, a search term that begins with it."""
        words = words_of(value)
        if not 1 <= len(words) <= MAX_SEARCH_WORDS:
            message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        return with_terms(words)
