"""What a metric is asked for: the parameters, held against the table of metrics. Source: contract, supply-invoice.md 6."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.http import QueryDict

from api.filters import check_names
from api.periods import moment_of
from core.arrays import moments
from core.errors import FieldError, InvalidFields
from core.money import is_currency
from core.time_zones import time_zones

from .buckets import Period, local_length, quarter_of, start_of
from .cuts import Parameters, parameters_of
from .measures import GROUPS, INTERVALS, MEASURES, Measure

MOST_DAYS: Final = 400
MOST_VALUES: Final = 50_000
FIRST_YEAR: Final = 1970  # a span, the span before it and 28 days before that have to be in the calendar
NAMES: Final = ("metric", "from", "to", "interval", "group_by", "timezone", "currency", "compare")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question for a metric; `zone` is "" for the tenant's own, and `begin` and `end` are as they were given."""

    metric: str
    begin: date | datetime
    end: date | datetime
    interval: str
    group: str
    zone: str
    currency: str
    compare: bool

    @property
    def measure(self) -> Measure:
        """The metric in the table."""
        return MEASURES[self.metric]

    def period(self, zone_name: str) -> Period:
        """Return the span in its zone.

        :raises InvalidFields: it ends before it begins, or is too long.
        """
        zone = ZoneInfo(self.zone or zone_name)
        begin, end = (_instant(one, zone) for one in (self.begin, self.end))
        found = Period(begin, end, self.interval, zone)
        if begin >= end:
            raise InvalidFields(errors=[FieldError("to", "min_value", "Must be after from.")])
        if local_length(found) > timedelta(days=MOST_DAYS):
            raise InvalidFields(errors=[FieldError("to", "max_value", f"At most {MOST_DAYS} days after from.")])
        return found

    def values(self, period: Period, at: datetime) -> dict[str, Callable[[], str]]:
        """Return what writes each parameter that a statement may have; `at` is the present, as which an end to come counts."""
        return {
            **{name: partial(self._of_sums, period, name) for name in Parameters._fields},
            "ends": lambda: moments(period.ends),
            "seen": lambda: moments(min(one, at) for one in period.ends),
            "since": lambda: moments(period.since(at)),
            "last_days": lambda: moments(period.last_days_at(at)),
            "begin": period.begin.isoformat,
            "end": period.end.isoformat,
            "currency": lambda: self.currency,
        }

    def _of_sums(self, period: Period, name: str) -> str:
        found: str = getattr(parameters_of(period, grouped=bool(self.group)), name)
        return found


def asked_metric(query: QueryDict) -> Asked:
    """Read the parameters.

    :raises UnknownParameter, DuplicateParameter: as for any list.
    :raises InvalidFields: names each parameter that is missing or wrong.
    """
    check_names(query, NAMES)
    given = {name: str(query.get(name, "")) for name in NAMES}
    errors = [*_errors(given)]
    if errors:
        raise InvalidFields("A query parameter is invalid.", errors=errors)
    begin, end = (moment_of(given[name]) for name in ("from", "to"))
    assert begin is not None
    assert end is not None
    return Asked(
        metric=given["metric"], begin=begin, end=end, interval=given["interval"] or "day", group=given["group_by"],
        zone=given["timezone"], currency=given["currency"], compare=given["compare"] == "previous",
    )  # fmt: skip


def _errors(given: dict[str, str]) -> Iterable[FieldError]:
    yield from _choice(given, "metric", tuple(MEASURES), required=True)
    for name in ("from", "to"):
        if not given[name]:
            yield FieldError(name, "required", "This parameter is required.")
        elif (moment := moment_of(given[name])) is None:
            yield FieldError(name, "invalid", "Give a date as 2026-01-31, or an instant with its offset.")
        elif moment.year < FIRST_YEAR:
            yield FieldError(name, "min_value", f"Must not be before {FIRST_YEAR}.")
    yield from _choice(given, "interval", INTERVALS)
    yield from _choice(given, "compare", ("previous",))
    measure = MEASURES.get(given["metric"])
    yield from _choice(given, "group_by", measure.groups if measure else GROUPS)
    if given["timezone"] and given["timezone"] not in time_zones():
        yield FieldError("timezone", "invalid_choice", "This is no time zone of the IANA database.")
    if given["currency"] and not is_currency(given["currency"]):
        yield FieldError("currency", "unknown_currency", "This is no active code of ISO 4217.")
    if measure and measure.needs_currency and not given["currency"]:
        yield FieldError("currency", "required", "This metric needs a currency.")


def _choice(given: dict[str, Any], name: str, known: Sequence[str], *, required: bool = False) -> Iterable[FieldError]:
    if not given[name]:
        if required:
            yield FieldError(name, "required", "This parameter is required.")
    elif given[name] not in known:
        yield FieldError(name, "invalid_choice", f"Choose among {', '.join(known)}.")


def _instant(given: date | datetime, zone: ZoneInfo) -> datetime:
    if isinstance(given, datetime):
        return quarter_of(given.astimezone(UTC))
    return quarter_of(start_of(given, zone))
