"""Filters of the list of promotions."""

from datetime import UTC, datetime
from typing import Any, Final

import django_filters

from api.filters import Filters, one_of
from core.conditions import TENANT, Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import MAX_SEARCH_WORDS, words_of
from suppliers.terms.states import TermStatus

from .models import Promotion
from .representations import STATE
from .states import PromotionState

_DAY: Final = len("2026-03-02")
_START_OF_DAY: Final = (
    f"({{0}}::date::timestamp AT TIME ZONE (SELECT n.time_zone FROM organizations_tenant n WHERE n.id = {TENANT}))"
)


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
    to = django_filters.IsoDateTimeFilter(
        field_name="starts_at",
        help_text="Promotions that start before an instant, or before a date begins in the time zone of the tenant.",
    )
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    class Meta:
        model = Promotion
        fields: Any = []

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

    def condition_from(self, value: datetime) -> Condition:
        """Promotions that end after a moment."""
        return Condition(f"t.ends_at > {self._moment('from')}", (self._text("from", value),))

    def condition_to(self, value: datetime) -> Condition:
        """Promotions that start before a moment."""
        begin = self.form.cleaned_data.get("from")
        if begin is not None and begin > value:
            raise InvalidFields(errors=[FieldError("to", "min_value", "Must not be before from.")])
        return Condition(f"t.starts_at < {self._moment('to')}", (self._text("to", value),))

    def _is_day(self, name: str) -> bool:
        return len(self.data[name].strip()) == _DAY

    def _moment(self, name: str) -> str:
        return _START_OF_DAY if self._is_day(name) else "{0}::timestamptz"

    def _text(self, name: str, value: datetime) -> str:
        if self._is_day(name):
            return value.date().isoformat()
        try:
            return value.astimezone(UTC).isoformat()
        except OverflowError:
            raise InvalidFields(errors=[FieldError(name, "invalid", "Lies beyond the calendar.")]) from None


# `from` is a word of Python.
PromotionFilters.base_filters["from"] = django_filters.IsoDateTimeFilter(
    field_name="ends_at",
    help_text="Promotions that end after an instant, or after a date begins in the time zone of the tenant.",
)
