"""Filters of budgets."""

from typing import Any, Final

import django_filters

from api.filters import Filters
from core import clock
from core.conditions import TENANT, Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import MAX_SEARCH_WORDS, words_of
from organizations.public import today_sql

from .models import Budget

TODAY: Final = "today"
_HAS: Final = "EXISTS (SELECT 1 FROM unnest(t.words) AS w (word) WHERE w.word ^@ {{{}}})"
_USABLE: Final = "t.active AND t.valid_from <= {day} AND t.valid_to > {day}"


class BudgetFilters(Filters):
    """Filters of budgets."""

    code = django_filters.CharFilter(max_length=64)
    cost_center = django_filters.CharFilter(
        max_length=64, help_text="Budgets that this cost centre may use, those for any among them."
    )
    active_on = django_filters.CharFilter(
        max_length=10,
        help_text="A date, or `today` for that in the tenant's time zone: active budgets that are valid on that day.",
    )
    search = django_filters.CharFilter(
        max_length=200, help_text="Beginnings of words of code and name, all of which must match."
    )
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Budget
        fields: Any = []

    def condition_cost_center(self, value: str) -> Condition:
        """Budgets of the cost centre, or of any."""
        return Condition("(t.cost_centers = '{{}}' OR {0} = ANY(t.cost_centers))", (value,))

    def condition_active_on(self, value: str) -> Condition:
        """Budgets that orders of that day may name."""
        if value == TODAY:
            return Condition(_USABLE.format(day=f"(SELECT {today_sql(TENANT)})"))
        day = clock.day_of(value)
        if day is None:
            message = "Give a date as 2026-03-01, or `today`."
            raise InvalidFields(errors=[FieldError("active_on", "invalid", message)])
        return Condition(_USABLE.format(day="{0}::date"), (day.isoformat(),))

    def condition_search(self, value: str) -> Condition:
        """Budgets with, for each word of the search, a word that begins with it; a tenant has few budgets."""
        words = words_of(value)
        if not 1 <= len(words) <= MAX_SEARCH_WORDS:
            message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        return Condition(" AND ".join(_HAS.format(place) for place in range(len(words))), tuple(words))
