"""What the list of products can be narrowed by."""

from typing import Any, ClassVar

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
from core.errors import FieldError, InvalidFields

from .category_tree import CATEGORIES
from .models import Product
from .search_index import with_terms
from .search_terms import MOST_OF_A_QUESTION, words_of
from .states import Availability, Status

_BELOW = f't."category" = ANY(ARRAY{CATEGORIES.within("n.code = {0}", column="code")})'


class ProductFilters(Filters):
    """`category` holds its descendants, `availability` and `status` take comma lists, `search` word beginnings (all of them)."""

    category = django_filters.CharFilter(max_length=64)
    availability = django_filters.CharFilter(max_length=100)
    status = django_filters.CharFilter(max_length=100)
    search = django_filters.CharFilter(max_length=200)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    otherwise: ClassVar = {"status": 't."archived_at" IS NULL'}  # archived products only when they are asked for

    class Meta:
        model = Product
        fields: Any = []

    def condition_category(self, value: str) -> Condition:
        """The category itself or one below it."""
        return Condition(_BELOW, (value,))

    def condition_availability(self, value: str) -> Condition:
        """One availability or several."""
        return one_of("availability", value, Availability.values)

    def condition_status(self, value: str) -> Condition:
        """One status or several; the conditions on `archived_at` say nothing new, but open the partial indexes."""
        found = one_of("status", value, Status.values)
        names = {part.strip() for part in value.split(",")}
        if Status.ARCHIVED not in names:
            return Condition(f'{found.sql} AND t."archived_at" IS NULL', found.parameters)
        return found if len(names) > 1 else Condition(f'{found.sql} AND t."archived_at" IS NOT NULL', found.parameters)

    def condition_search(self, value: str) -> Condition:
        """Products with, for each word of the question, a word that begins with it."""
        words = words_of(value)
        if not 1 <= len(words) <= MOST_OF_A_QUESTION:
            message = f"Search for 1 to {MOST_OF_A_QUESTION} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        return with_terms(words)
