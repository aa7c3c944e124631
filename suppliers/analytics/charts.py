"""Twelve months laid out as small charts: plain SVG that the template draws, each with the same as a table."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from core.money import Money
from organizations.staff.bars import FOOT, HEIGHT, WIDTH, Part, stacked

from .years import MONTHS, Spent, Year

_MOST_PARTIES: Final = 5
_COLOURS: Final = ("#0ea5e9", "#8b5cf6", "#16a34a", "#f59e0b", "#ef4444", "#94a3b8")
_OTHERS: Final = "All others"


@dataclass(frozen=True, slots=True)
class Card:
    """A chart of one value a month; `member` is that of the year."""

    member: str
    title: str
    told: str
    nothing: str
    colour: str
    is_rate: bool = True


_CARDS: Final = (
    Card("in_time", "On time in full", "Lines that were there whole on their day, of those due in the month.", "No line was due.", "#16a34a"),
    Card("matched", "Match rate", "Invoices without a difference, of those that were matched.", "No invoice was matched.", "#0ea5e9"),
    Card(
        "hours", "Hours to acceptance", "Half of the orders that were accepted in the month took less.", "No order was accepted.",
        "#8b5cf6", is_rate=False,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bar:
    """One month: where it stands, its parts from the bottom up, and what a pointer on it tells."""

    month: date
    x: float
    width: float
    parts: tuple[Part, ...]
    told: str


def context_of(year: Year, asked: str) -> dict[str, Any]:
    """Return what the template shows; `asked` is the currency that was asked for, "" for the usual one."""
    currencies = sorted({one.currency for one in year.spent})
    usual = year.currency if year.currency in currencies or not currencies else currencies[0]
    currency = asked if asked in currencies else usual
    spent = [one for one in year.spent if one.currency == currency]
    return {
        "year": year,
        "currency": currency,
        "currencies": currencies,
        "spent": _spent(year, spent, currency),
        "spent_title": "Ordered by buyer and month" if year.sells else "Spend by supplier and month",
        "charts": [_card(year, one) for one in _CARDS],
        "width": WIDTH,
        "height": HEIGHT + FOOT,
        "floor": HEIGHT,
        "label_y": HEIGHT + FOOT - 4,
    }


def _spent(year: Year, spent: Sequence[Spent], currency: str) -> dict[str, Any]:
    sums = defaultdict[str, Decimal](Decimal)
    for one in spent:
        sums[one.name] += one.amount
    largest = sorted(sums, key=lambda name: (-sums[name], name))[:_MOST_PARTIES]
    names = [*largest, *([_OTHERS] if len(sums) > len(largest) else [])]
    amounts = [dict.fromkeys(names, Decimal(0)) for _ in range(MONTHS)]
    for one in spent:
        amounts[one.place - 1][one.name if one.name in largest else _OTHERS] += one.amount
    most = max((sum(one.values(), Decimal(0)) for one in amounts), default=Decimal(0)) or Decimal(1)
    table = [
        (month, [_money(one[name], currency) for name in names])
        for month, one in zip(year.months, amounts, strict=True)
    ]
    bars = [
        _bar(place, month, [float(one[name] / most) for name in names], _told(one, currency))
        for place, (month, one) in enumerate(zip(year.months, amounts, strict=True))
    ]
    return {
        "is_empty": not spent,
        "bars": bars,
        "legend": [*zip(names, _COLOURS, strict=False)],
        "table": table,
        "most": _money(most, currency),
    }


def _told(amounts: dict[str, Decimal], currency: str) -> str:
    return ", ".join(f"{name} {_money(one, currency)}" for name, one in amounts.items() if one) or "nothing"


def _money(amount: Decimal, currency: str) -> str:
    return f"{Money(amount, currency).rounded().amount:f}"


def _card(year: Year, card: Card) -> dict[str, Any]:
    name = card.member.replace("_", "-")
    return {
        "of": _series(year, getattr(year, card.member), card),
        "title": card.title,
        "told": card.told,
        "nothing": card.nothing,
        "label": f"{card.title} by month; the table says the same",
        "chart_id": f"{name}-chart",
        "table_id": f"{name}-table",
    }


def _series(year: Year, values: Sequence[str | None], card: Card) -> dict[str, Any]:
    """Lay out one value a month, a rate of the whole height, another one by the greatest."""
    known = [Decimal(one) for one in values if one is not None]
    most = Decimal(1) if card.is_rate else max(known, default=Decimal(1)) or Decimal(1)
    told = [_value(one, is_rate=card.is_rate) for one in values]
    bars = [
        _bar(place, month, [float(Decimal(one or 0) / most)], text, (card.colour,))
        for place, (month, one, text) in enumerate(zip(year.months, values, told, strict=True))
    ]
    return {"is_empty": not known, "bars": bars, "table": [*zip(year.months, told, strict=True)]}


def _value(value: str | None, *, is_rate: bool) -> str:
    if value is None:
        return "–"
    return f"{Decimal(value) * 100:.1f} %" if is_rate else f"{Decimal(value):.1f} h"


def _bar(place: int, month: date, shares: Sequence[float], told: str, colours: Sequence[str] = _COLOURS) -> Bar:
    step = WIDTH / MONTHS
    return Bar(month, round(place * step + 4, 1), round(step - 8, 1), stacked(zip(shares, colours, strict=False)), told)
