"""Filters of the suppliers that buyers find, and their conditions on a supplier `t` of the market."""

from typing import Any, Final

import django_filters

from api.filters import Filters
from core.arrays import array_literal
from core.conditions import Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import MAX_SEARCH_WORDS, words_of
from core.trees import Tree
from suppliers.company.models import SupplierProfile
from suppliers.company.states import Qualification
from suppliers.relationships.states import MANAGED
from suppliers.storefront.stock.filters import listed, of_country

_CODES: Final = Tree("suppliers_platformcategory", most=16).within("n.code = {0}", column="code")
_OF_CATEGORY: Final = (
    "EXISTS (SELECT 1 FROM jsonb_array_elements_text(t.categories) AS given(code)"
    f" WHERE given.code = ANY(ARRAY(SELECT known.code FROM {_CODES} known)))"
)


class SupplierFilters(Filters):
    """Filters of the suppliers on the platform."""

    status = django_filters.CharFilter(
        max_length=100,
        help_text="Comma-separated list of `registered`, `under_review`, `qualified`, `suspended`, `disqualified` and "
        "`managed`; without it the qualified and the managed ones are listed.",
    )
    category = django_filters.CharFilter(
        max_length=64, help_text="The code of a category of the platform; who sells what stands below it is found, too."
    )
    search = django_filters.CharFilter(
        max_length=200, help_text="Beginnings of words of the names and registrations, all of which must match."
    )
    country = django_filters.CharFilter(max_length=2, help_text="The supplier's own country, by ISO 3166-1 alpha-2.")

    class Meta:
        model = SupplierProfile
        fields: Any = []

    def condition_status(self, value: str) -> Condition:
        """Suppliers in one of the states."""
        known = {one: one for one in (*Qualification.values, MANAGED)}
        found = listed("status", value, known.get, "invalid_choice", f"Choose among {', '.join(known)}.")
        return Condition("t.qualification_status = ANY({0}::text[])", (array_literal(found),))

    def condition_category(self, value: str) -> Condition:
        """Suppliers that name the category or one below it."""
        return Condition(_OF_CATEGORY, (value,))

    def condition_search(self, value: str) -> Condition:
        """Suppliers whose names and registrations have all words."""
        words = words_of(value)
        if not 1 <= len(words) <= MAX_SEARCH_WORDS:
            message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        has = " AND ".join(f"strpos(t.words, {{{number}}}) > 0" for number in range(len(words)))
        return Condition(has, tuple(f" {word}" for word in words))

    def condition_country(self, value: str) -> Condition:
        """Suppliers of one country."""
        return Condition("t.country = {0}", of_country(value).parameters)
