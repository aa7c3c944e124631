"""Filters of the buyer's catalog, and their conditions on a product `t` of the market."""

from typing import Any
from uuid import UUID

import django_filters

from api.filters import Filters
from core.arrays import array_literal
from core.conditions import Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import MAX_SEARCH_WORDS, words_of
from suppliers.catalog.models import Product
from suppliers.catalog.states import Availability
from suppliers.marketplace.searching import WITHIN_CATEGORY
from suppliers.storefront.stock.filters import listed, with_gtin


class CatalogFilters(Filters):
    """Filters of the products that are offered to the tenant."""

    supplier_id = django_filters.UUIDFilter()
    category = django_filters.CharFilter(
        max_length=64, help_text="A category's code; what stands below it is found, too."
    )
    availability = django_filters.CharFilter(
        max_length=100, help_text="Comma-separated list of `available`, `limited`, `backorder`, `unavailable`."
    )
    search = django_filters.CharFilter(
        max_length=200, help_text="Beginnings of words of name, SKU, brand and GTIN, all of which must match."
    )
    gtin = django_filters.CharFilter(max_length=1_000, help_text="Comma-separated GTINs of packagings, at most 50.")

    class Meta:
        model = Product
        fields: Any = []

    def condition_supplier_id(self, value: UUID) -> Condition:
        """Products of one supplier."""
        return Condition("t.supplier_id = {0}::uuid", (str(value),))

    def condition_category(self, value: str) -> Condition:
        """Products in the category or in one below it."""
        return Condition(WITHIN_CATEGORY, (value,))

    def condition_availability(self, value: str) -> Condition:
        """Products in one of the states."""
        known = {one.value: one.value for one in Availability}
        text = f"Choose among {', '.join(known)}."
        found = listed("availability", value, known.get, "invalid_choice", text)
        return Condition("t.availability = ANY({0}::text[])", (array_literal(found),))

    def condition_search(self, value: str) -> Condition:
        """Check the words; how they are searched depends on how many products have them."""
        words = words_of(value)
        if not 1 <= len(words) <= MAX_SEARCH_WORDS:
            message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        return Condition("", tuple(words))

    def condition_gtin(self, value: str) -> Condition:
        """Products that have a packaging with one of the GTINs."""
        return with_gtin(value)
