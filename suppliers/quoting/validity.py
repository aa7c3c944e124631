"""Until when a quoted price holds: the first moment at which one of its sources ends, or another that was looked at begins."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from functools import lru_cache
from zoneinfo import ZoneInfo

from suppliers.pricing.candidates import Candidate, Source
from suppliers.pricing.resolution import Price

from .candidates import Good

_WAITS = "not_yet_valid"
_FOR_GOOD = "9999-12-31"  # no clock shows a later day


def valid_until(good: Good, price: Price) -> datetime | None:
    """Return the moment; None where nothing is known that would change the price. A day begins at midnight at the supplier."""
    applied, waiting = _named(price, None), _named(price, _WAITS)
    days = {day for day in _days(good, price, applied, waiting) if good.row.today < day < _FOR_GOOD}
    moments = [_midnight(day, good.row.time_zone) for day in days]
    return min([*moments, *_instants(good, applied, waiting)], default=None)


@lru_cache(maxsize=1024)
def _midnight(day: str, time_zone: str) -> datetime:
    return datetime.combine(date.fromisoformat(day), time.min, ZoneInfo(time_zone)).astimezone(UTC)


def _days(good: Good, price: Price, applied: set[str], waiting: set[str]) -> Iterator[str]:
    yield price.candidate.valid_to
    if any(tier.discount_percent is not None for tier in price.candidate.tiers):  # taken off the list price
        yield from (one.valid_to for one in good.candidates if _is_list_price(one, price.currency))
    if good.row.offer is not None:
        yield good.row.offer[-1] or ""
    yield from (one.valid_from for one in good.candidates if one.id in waiting and one.currency == price.currency)
    for rule in good.adjustments.rules:
        if rule.terms.id in applied:
            yield rule.valid_to
        if rule.terms.id in waiting:
            yield rule.valid_from


def _is_list_price(one: Candidate, currency: str) -> bool:
    return one.source is Source.LIST_PRICE and one.currency == currency


def _instants(good: Good, applied: set[str], waiting: set[str]) -> Iterator[datetime]:
    for promotion in good.adjustments.promotions:
        begins, ends = good.windows[promotion.terms.id]
        if promotion.terms.id in applied:
            yield ends
        if promotion.terms.id in waiting:
            yield begins


def _named(price: Price, reason: str | None) -> set[str]:
    """Return the sources of the trace that have a reason; those that apply have none."""
    return {entry["source_id"] for entry in price.trace if entry["reason"] == reason}
