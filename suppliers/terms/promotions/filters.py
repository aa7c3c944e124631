"""Filters of the list of promotions."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from api.periods import MomentFilter, PeriodForm, compared, until
from core.conditions import Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import MAX_SEARCH_WORDS, words_of
from suppliers.terms.states import TermStatus

from .models import Promotion
from .representations import STATE
from .states import PromotionState


class PromotionFilters(Filters):
    """Filters of promotions; `from` and `to` name a time in which the promotion has its window, or a part of it."""

    status = django_filters.CharFilter(
        max_length=40, help_text="A comma-separated list of `draft`, `active`, `archived`."
    )
    state = django_filters.CharFilter(
        max_length=80,
        help_text="What it is now: a comma-separated list of `draft`, `scheduled`, `running`, `exhausted`, `ended`, `archived`.",
    )
    search = django_filters.CharFilter(
        max_length=200, help_text="Beginnings of words of code and name, all of which must match."
    )
    to = MomentFilter(
        max_length=40,
        help_text="Promotions that start before an instant, or before a date begins in the time zone of the tenant.",
    )
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Promotion
        fields: Any = []
        form = PeriodForm

    def condition_status(self, value: str) -> Condition:
        """Promotions in one of the given states of their life."""
        return one_of("status", value, TermStatus.values)

    def condition_state(self, value: str) -> Condition:
        """Promotions that are in one of the given states now."""
        found = one_of("state", value, PromotionState.values)
        return Condition(found.sql.replace('t."state"', f"({STATE})"), found.parameters)

    def condition_search(self, value: str) -> Condition:
        """Promotions with, for each word of the search, a word of code or name that begins with it."""
        words = words_of(value)
        if not 1 <= len(words) <= MAX_SEARCH_WORDS:
            message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        each = (f"strpos(t.words, {{{number}}}) > 0" for number in range(len(words)))
        return Condition(" AND ".join(each), tuple(f" {word}" for word in words))

    def condition_from(self, value: str) -> Condition:
        """Promotions that end after a moment."""
        return compared("t.ends_at", ">", value)

    def condition_to(self, value: str) -> Condition:
        """Promotions that start before a moment."""
        return until("t.starts_at", value)


# `from` is a word of Python.
PromotionFilters.base_filters["from"] = MomentFilter(
    max_length=40,
    help_text="Promotions that end after an instant, or after a date begins in the time zone of the tenant.",
)
