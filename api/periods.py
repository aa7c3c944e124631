"""Filters `from` and `to`: an instant, or a plain date, which is its start in the asking tenant's time zone.

Source: contract, supply.md 4 "from, to".
"""

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.utils.dateparse import parse_datetime

from core import clock
from core.conditions import TENANT, Condition

_START: Final = (
    f"({{0}}::date::timestamp AT TIME ZONE (SELECT n.time_zone FROM organizations_tenant n WHERE n.id = {TENANT}))"
)


def moment_of(text: str) -> date | datetime | None:
    """Read a plain date, or an instant with its offset, of the years 2 to 9998; None for anything else."""
    try:
        found: date | datetime | None = clock.day_of(text) or parse_datetime(text)
    except ValueError:
        return None
    if found is None or not 1 < found.year < 9999:
        return None
    return None if isinstance(found, datetime) and found.tzinfo is None else found


class _MomentField(forms.CharField):
    """A plain date, or an instant."""

    def validate(self, value: Any) -> None:
        """Refuse anything else.

        :raises ValidationError: with the code `invalid`.
        """
        super().validate(value)
        if value and moment_of(value) is None:
            raise ValidationError("Give a date as 2026-01-31, or an instant with its offset.", code="invalid")


class MomentFilter(django_filters.CharFilter):  # type: ignore[misc]  # the library has no types
    """A filter by a plain date or an instant."""

    field_class = _MomentField


class _DateField(forms.DateField):
    """A day as YYYY-MM-DD."""

    def to_python(self, value: Any) -> date | None:
        """Refuse the other forms of days that Django reads.

        :raises ValidationError: with the code `invalid`.
        """
        if isinstance(value, str) and value and clock.day_of(value) is None:
            raise ValidationError("Give a date as 2026-01-31.", code="invalid")
        return super().to_python(value)


class DateFilter(django_filters.DateFilter):  # type: ignore[misc]  # the library has no types
    """A filter by a day."""

    field_class = _DateField


class PeriodForm(forms.Form):
    """Holds `from` and `to` to one another."""

    def clean(self) -> dict[str, Any]:
        """Refuse a period that ends before it begins."""
        found: dict[str, Any] = super().clean() or {}
        begin, end = found.get("from"), found.get("to")
        if begin and end and is_reversed(moment_of(begin), moment_of(end)):
            self.add_error("to", ValidationError("Must not be before from.", code="min_value"))
        return found


def is_reversed(begin: date | datetime | None, end: date | datetime | None) -> bool:
    """Tell whether a period ends before it begins; of a date beside an instant only where it does so in every time zone."""
    if begin is None or end is None:
        return False
    if not isinstance(begin, datetime) and not isinstance(end, datetime):
        return begin > end
    return _starts(begin)[0] > _starts(end)[1]


def _starts(moment: date | datetime) -> tuple[datetime, datetime]:
    """Return the first and the last instant that a moment may be: a day begins at UTC+14 first, at UTC-12 last."""
    if isinstance(moment, datetime):
        return moment, moment
    midnight = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return midnight - timedelta(hours=14), midnight + timedelta(hours=12)


def since(column: str, value: str) -> Condition:
    """Return the condition that an instant of the row, given as SQL, is not before a moment."""
    return compared(column, ">=", value)


def until(column: str, value: str) -> Condition:
    """Return the condition that an instant of the row, given as SQL, is before a moment."""
    return compared(column, "<", value)


def compared(column: str, sign: str, value: str) -> Condition:
    """Return the condition that an instant of the row, given as SQL, stands so to a moment; `sign` is `<`, `>` or `>=`."""
    found = moment_of(value)
    moment = "{0}::timestamptz" if isinstance(found, datetime) else f"(SELECT {_START})"
    return Condition(f"{column} {sign} {moment}", (found.isoformat() if found else value,))
