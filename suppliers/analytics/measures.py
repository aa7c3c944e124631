"""The metrics as a table: what each needs, and how its two numbers become a value. Source: contract, supply-invoice.md 6."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from core.money import Money

Number = Decimal | None
Value = int | str | dict[str, str] | None
_PLACES: Final = Decimal("0.0001")
GROUPS: Final = ("product", "category", "buyer", "location")
INTERVALS: Final = ("day", "week", "month", "quarter")


def _count(above: Number, _below: Number, _currency: str) -> Value:
    return int(above or 0)


def _money(above: Number, _below: Number, currency: str) -> Value:
    return Money(above or Decimal(0), currency).rounded().as_json()


def rate_of(above: Number, below: Number) -> Decimal | None:
    """Return a rate with 4 places; None where there is nothing to divide by."""
    if above is None or not below:
        return None
    return (above / below).quantize(_PLACES, rounding=ROUND_HALF_UP)


def _rate(above: Number, below: Number, _currency: str) -> Value:
    rate = rate_of(above, below)
    return None if rate is None else f"{rate:f}"


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric: the groups that it may have, whether it is about one currency, and how its value is written.

    `is_at_end`: the value is that of the end of a bucket, not of all that happened in it.
    """

    groups: tuple[str, ...]
    write: Callable[[Number, Number, str], Value]
    needs_currency: bool = False
    is_at_end: bool = False


_TRADE: Final = ("product", "category", "buyer")
_STOCK: Final = ("product", "category", "location")
MEASURES: Final[dict[str, Measure]] = {
    "orders_count": Measure(_TRADE, _count),
    "orders_value": Measure(_TRADE, _money, needs_currency=True),
    "fill_rate": Measure(_TRADE, _rate),
    "on_time_in_full": Measure(_TRADE, _rate),
    "acceptance_hours": Measure(_TRADE, _rate),
    "cancel_rate": Measure(_TRADE, _rate),
    "return_rate": Measure((*_TRADE, "location"), _rate),
    "stock_value": Measure(_STOCK, _money, needs_currency=True, is_at_end=True),
    "days_of_cover": Measure(_STOCK, _rate, is_at_end=True),
    "expiring_value": Measure(_STOCK, _money, needs_currency=True, is_at_end=True),
    "price_vs_list": Measure(_TRADE, _rate, needs_currency=True),
    "active_offers": Measure(("product", "category"), _count, is_at_end=True),
}


def empty(measure: Measure, currency: str) -> Any:
    """Return the value of a bucket in which nothing was: 0 for counts and values, null for rates."""
    return measure.write(None, None, currency)
