"""Which price holds: candidates in their order of precedence, the first that fits, and why the others do not.

Candidates are given as data, so that whoever knows a source (offers, list prices) reads it in its own statement.
Source: contract, supply-price.md 2.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from enum import IntEnum
from itertools import count
from typing import Any, NamedTuple

from core.canonical import decimal_text


class Source(IntEnum):
    """Where a price comes from; the smaller goes first."""

    OFFER = 2
    LIST_PRICE = 4

    @property
    def text(self) -> str:
        """The name that clients read."""
        return _TEXTS[self]


_TEXTS = {source: source.name.lower() for source in Source}


class Candidate(NamedTuple):
    """A price that may hold: in force today and seen by the buyer; `tiers` are (least packs, unit price), rising."""

    source: Source
    id: str
    version: int
    currency: str
    price_base_quantity: int
    tiers: Sequence[tuple[int, Decimal]]
    valid_from: str = ""

    @property
    def rank(self) -> tuple[Any, ...]:
        """The place among candidates of one source: later `valid_from`, lower price, id."""
        lowest = min((price for _, price in self.tiers), default=Decimal(0))
        return (-int(self.valid_from.replace("-", "") or 0), lowest, self.id)


class Price(NamedTuple):
    """The price that holds, for `price_base_quantity` packs, with its trace."""

    unit_price: Decimal
    currency: str
    price_base_quantity: int
    source: Source
    source_id: str
    trace: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Return the price as clients read it."""
        return {
            "unit_price": shown(self.unit_price),
            "currency": self.currency,
            "price_base_quantity": self.price_base_quantity,
            "source": self.source.text,
            "source_id": self.source_id,
            "trace": self.trace,
        }


def resolve_price(candidates: Sequence[Candidate], quantity: int, currency: str) -> Price | None:
    """Return the price of so many packs in a currency; None where no candidate fits.

    A candidate whose least quantity is not met is passed over, and the next one tried.
    """
    found: Price | None = None
    trace: list[dict[str, Any]] = []
    numbers = count(1)
    for one in in_order(candidates):
        unit_price = _unit_price(one, quantity)
        reason = _reason(one, currency, unit_price, is_taken=found is not None)
        if reason is None and unit_price is not None:
            found = Price(unit_price, currency, one.price_base_quantity, one.source, one.id, trace)
        trace.append(
            {
                "step": next(numbers),
                "source_type": one.source.text,
                "source_id": one.id,
                "source_version": one.version,
                "matched": reason is None,
                "reason": reason,
                "unit_price": None if unit_price is None else shown(unit_price),
            }
        )
    return found


def currencies_of(candidates: Sequence[Candidate], preferred: str) -> Iterator[str]:
    """Yield the currencies that there are prices in: the preferred one first, the others in the order of precedence."""
    if any(one.currency == preferred for one in candidates):
        yield preferred
    yield from dict.fromkeys(one.currency for one in in_order(candidates) if one.currency != preferred)


def in_order(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return candidates in their order: by source, and by rank where one source has several."""
    if len(candidates) > len({one.source for one in candidates}):
        candidates = sorted(candidates, key=lambda one: one.rank)
    return sorted(candidates, key=lambda one: one.source)


def shown(amount: Decimal) -> str:
    """Write a unit price with as many decimals as needed, at least two."""
    text = decimal_text(amount)
    point = text.find(".")
    return text if 0 <= point < len(text) - 2 else f"{amount:.2f}"


def _unit_price(candidate: Candidate, quantity: int) -> Decimal | None:
    return next((price for least, price in reversed(candidate.tiers) if least <= quantity), None)


def _reason(candidate: Candidate, currency: str, unit_price: Decimal | None, *, is_taken: bool) -> str | None:
    if candidate.currency != currency:
        return "other_currency"
    if unit_price is None:
        return "below_min_quantity"
    return "lower_precedence" if is_taken else None
