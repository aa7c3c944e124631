"""Filters of the list of price agreements."""

from datetime import datetime
from typing import Any, Final

import django_filters
import orjson

from api.filters import one_of
from api.periods import MomentFilter, PeriodForm, moment_of
from api.two_sides import TwoSidedFilters
from core.conditions import TENANT, Condition
from core.text_folding import folded_sql, words

from .models import PriceAgreement
from .states import STATUSES

_WORDS: Final = folded_sql(
    "t.number || ' ' || (SELECT n.name FROM organizations_tenant n"
    " WHERE n.id = CASE t.side WHEN 'buyer' THEN t.supplier_tenant_id ELSE t.buyer_tenant_id END)"
)
_DAY: Final = (
    f"({{0}}::timestamptz AT TIME ZONE (SELECT n.time_zone FROM organizations_tenant n WHERE n.id = {TENANT}))::date"
)


def _day(value: str) -> Condition:
    """Return the SQL of the day that a plain date or an instant names, by the clock of the asking tenant."""
    moment = moment_of(value)
    return Condition("{0}::date" if not isinstance(moment, datetime) else _DAY, (value,))


class PriceAgreementFilters(TwoSidedFilters):
    """Filters of agreements; `status` takes a comma-separated list. Without it, superseded versions are left out.

    `from` and `to` keep those whose validity has a day in common with the period; `category` those with a line of it.
    """

    status = django_filters.CharFilter(max_length=120)
    supplier_id = django_filters.UUIDFilter(field_name="supplier_tenant_id")
    buyer_id = django_filters.UUIDFilter(field_name="buyer_tenant_id")
    category = django_filters.CharFilter(max_length=64)
    search = django_filters.CharFilter(max_length=120)
    to = MomentFilter(max_length=40)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    otherwise = {"status": "t.status <> 'superseded'"}

    class Meta:
        model = PriceAgreement
        fields: Any = []
        form = PeriodForm

    def condition_status(self, value: str) -> Condition:
        """Versions in one of the given states."""
        return one_of("status", value, STATUSES)

    def condition_category(self, value: str) -> Condition:
        """Versions with a line of this very category."""
        return Condition("t.categories @> {0}::jsonb", (orjson.dumps([value]).decode(),))

    def condition_search(self, value: str) -> Condition:
        """Versions whose number or other party has words that begin with those given."""
        found = tuple(f" {word}" for word in words(value)) or (" ",)
        parts = " AND ".join(f"strpos({_WORDS}, {{{number}}}) > 0" for number in range(len(found)))
        return Condition(parts, found)

    def condition_from(self, value: str) -> Condition:
        """Versions that hold on this day or later."""
        day = _day(value)
        return Condition(f"t.valid_to > {day.sql}", day.parameters)

    def condition_to(self, value: str) -> Condition:
        """Versions that hold before this day."""
        day = _day(value)
        return Condition(f"t.valid_from < {day.sql}", day.parameters)


# `from` is a word of Python.
PriceAgreementFilters.base_filters["from"] = MomentFilter(max_length=40)
