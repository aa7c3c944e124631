"""Which price holds: candidates in their order of precedence, the first that fits, what adjusts it, and why the rest does not.

One function for quotes, orders and the buyer's catalogue. Source: contract, supply-price.md 2.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

from .adjustments import Adjustments, outside
from .amounts import less_percent, shown
from .candidates import Candidate, Line, Source, Tier

# Why something does not hold. The first eight are the contract's; the others say more than `lower_precedence` would.
REASONS: Final = (
    "below_min_quantity", "cap_exceeded", "not_yet_valid", "expired", "other_currency", "not_visible", "not_assigned",
    "lower_precedence", "below_min_amount", "no_list_price", "not_applicable", "no_advantage",
)  # fmt: skip
SOURCE_TYPES: Final = (*(source.text for source in Source), "rule", "promotion")


class Price(NamedTuple):
    """The price that holds, for `price_base_quantity` packs; `redeemed` are promotions with what each takes off the line."""

    unit_price: Decimal
    currency: str
    price_base_quantity: int
    candidate: Candidate
    redeemed: tuple[tuple[str, Decimal], ...]
    trace: list[dict[str, Any]]

    @property
    def source(self) -> Source:
        """Where the price comes from."""
        return self.candidate.source

    @property
    def source_id(self) -> str:
        """The id of the agreement, offer, price list or list price."""
        return self.candidate.id

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


class Resolution(NamedTuple):
    """The price of a line, if there is one, and the trace of all that was looked at.

    `exhausted`: the agreement that the line names has a price, and too little is left of its cap.
    """

    price: Price | None
    trace: list[dict[str, Any]]
    exhausted: bool = False


class _Looked(NamedTuple):
    """A candidate with its price of the line, and what speaks against it."""

    candidate: Candidate
    unit_price: Decimal | None
    base_quantity: int
    reason: str | None


_UNADJUSTED: Final = Adjustments()


def resolve_price(candidates: Sequence[Candidate], line: Line, adjustments: Adjustments = _UNADJUSTED) -> Resolution:
    """Return the price of a line with its trace, in whatever order the candidates come.

    A candidate that does not fit is passed over, and the next one tried; a named agreement whose cap is used up is not.
    """
    looked = [_look(one, line, candidates) for one in candidates]
    looked.sort(key=lambda one: _place(one, line))
    exhausted = _is_exhausted(looked, line)
    trace: list[dict[str, Any]] = []
    taken: _Looked | None = None
    for number, one in enumerate(looked, 1):
        reason = one.reason or ("lower_precedence" if taken or exhausted else None)
        if reason is None:
            taken = one
        trace.append(_entry(number, one, reason))
    if taken is None or taken.unit_price is None:
        return Resolution(None, trace, exhausted)
    unit_price, steps = adjustments.adjusted(taken.unit_price, taken.candidate.source, taken.base_quantity, line)
    trace += [{**step.entry, "step": number} for number, step in enumerate(steps, len(trace) + 1)]
    redeemed = tuple((step.terms.id, step.discount) for step in steps if step.discount is not None)
    return Resolution(Price(unit_price, line.currency, taken.base_quantity, taken.candidate, redeemed, trace), trace)


def list_price_of(candidates: Sequence[Candidate], line: Line) -> tuple[Decimal, int] | None:
    """Return the product's list price of a line, and the number of packs that it is for; None where there is none."""
    looked = [one for one in _own_prices(candidates, line) if one.reason is None]
    found = min(looked, key=lambda one: _place(one, line), default=None)
    return None if found is None or found.unit_price is None else (found.unit_price, found.base_quantity)


def currencies_of(candidates: Sequence[Candidate], preferred: str) -> Iterator[str]:
    """Yield the currencies that there are prices in: the preferred one first, the others in the order of precedence."""
    if any(one.currency == preferred for one in candidates):
        yield preferred
    in_order = sorted(candidates, key=lambda one: (one.source, one.rank, _later_first(one.valid_from), one.currency))
    yield from dict.fromkeys(one.currency for one in in_order if one.currency != preferred)


def _own_prices(candidates: Sequence[Candidate], line: Line) -> Iterator[_Looked]:
    return (_look(one, line, ()) for one in candidates if one.source is Source.LIST_PRICE)


def _look(candidate: Candidate, line: Line, candidates: Sequence[Candidate]) -> _Looked:
    """Look at one of the candidates, among which is the product's list price, which a discount is taken off."""
    tier = None
    for one in candidate.tiers:  # they rise
        if one.min_quantity > line.quantity:
            break
        tier = one
    reason = _reason(candidate, line, tier)
    if tier is None or tier.discount_percent is None:
        return _Looked(candidate, tier and tier.unit_price, candidate.price_base_quantity, reason)
    own = list_price_of(candidates, line)
    if own is None:
        return _Looked(candidate, tier.unit_price, candidate.price_base_quantity, reason or "no_list_price")
    if candidate.currency != line.currency:
        return _Looked(candidate, tier.unit_price, candidate.price_base_quantity, reason)
    return _Looked(candidate, less_percent(own[0], tier.discount_percent), own[1], reason)


def _reason(candidate: Candidate, line: Line, tier: Tier | None) -> str | None:
    if candidate.currency != line.currency:
        return "other_currency"
    if candidate.refusal:
        return candidate.refusal
    if reason := outside(line.on_date, candidate.valid_from, candidate.valid_to):
        return reason
    if tier is None:
        return "below_min_quantity"
    if candidate.left is not None and candidate.left < line.quantity * line.base_units:
        return "cap_exceeded"
    return None


def _place(looked: _Looked, line: Line) -> tuple[Any, ...]:
    """The place in the total order: source, rank, later `valid_from`, lower price of one pack, id."""
    one = looked.candidate
    named = one.source is Source.CONTRACT and one.id == line.agreement_id
    price = looked.unit_price
    cost = (True, 0) if price is None else (False, price if looked.base_quantity == 1 else price / looked.base_quantity)
    return (not named, one.source, one.rank, _later_first(one.valid_from), *cost, one.id, one.line_no or 0)


@lru_cache(maxsize=1024)
def _later_first(valid_from: str) -> int:
    return -int(valid_from.replace("-", "") or 0)


def _is_exhausted(looked: Sequence[_Looked], line: Line) -> bool:
    named = [one for one in looked if one.candidate.id == line.agreement_id] if line.agreement_id else []
    return bool(named) and all(one.reason for one in named) and any(one.reason == "cap_exceeded" for one in named)


def _entry(number: int, looked: _Looked, reason: str | None) -> dict[str, Any]:
    one, price = looked.candidate, looked.unit_price
    return {
        "step": number,
        "source_type": one.source.text,
        "source_id": one.id,
        "source_version": one.version,
        "source_name": one.name,
        "line_no": one.line_no,
        "matched": reason is None,
        "reason": reason,
        "unit_price": None if price is None else shown(price),
    }
