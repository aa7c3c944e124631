"""Which price holds: candidates in their order of precedence, the first that fits, what adjusts it, and why the rest does not.

One function for quotes, orders and the buyer's catalogue. Source: contract, supply-price.md 2.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from .adjustments import Adjusted, Step, outside, with_promotions, with_rules
from .amounts import less_percent, line_total, shown
from .candidates import Candidate, Line, Promotion, Rule, Source, Tier

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


def resolve_price(
    candidates: Sequence[Candidate], line: Line, rules: Sequence[Rule] = (), promotions: Sequence[Promotion] = ()
) -> Resolution:
    """Return the price of a line with its trace, in whatever order the candidates, rules and promotions come.

    A candidate that does not fit is passed over, and the next one tried; a named agreement whose cap is used up is not.
    """
    looked = sorted(_looked_at(candidates, line), key=lambda one: _place(one, line))
    trace: list[dict[str, Any]] = []
    exhausted = _is_exhausted(looked, line)
    taken: _Looked | None = None
    for one in looked:
        reason = one.reason or ("lower_precedence" if taken or exhausted else None)
        if reason is None:
            taken = one
        trace.append(_entry(len(trace) + 1, one, reason))
    if taken is None or taken.unit_price is None:
        return Resolution(None, trace, exhausted)
    adjusted, redeemed = _adjusted(taken, taken.unit_price, line, rules, promotions, trace)
    price = Price(adjusted, line.currency, taken.base_quantity, taken.candidate, redeemed, trace)
    return Resolution(price, trace)


def list_price_of(candidates: Sequence[Candidate], line: Line) -> tuple[Decimal, int] | None:
    """Return the product's list price of a line, and the number of packs that it is for; None where there is none."""
    looked = [one for one in _own_prices(candidates, line) if one.reason is None]
    found = min(looked, key=lambda one: _place(one, line), default=None)
    return None if found is None or found.unit_price is None else (found.unit_price, found.base_quantity)


def currencies_of(candidates: Sequence[Candidate], preferred: str) -> Iterator[str]:
    """Yield the currencies that there are prices in: the preferred one first, the others in the order of precedence."""
    if any(one.currency == preferred for one in candidates):
        yield preferred
    in_order = sorted(candidates, key=lambda one: (one.source, one.rank, _later_first(one), one.currency))
    yield from dict.fromkeys(one.currency for one in in_order if one.currency != preferred)


def _looked_at(candidates: Sequence[Candidate], line: Line) -> Iterator[_Looked]:
    own: tuple[Decimal, int] | None = None
    if any(tier.discount_percent is not None for one in candidates for tier in one.tiers):
        own = list_price_of(candidates, line)
    for one in candidates:
        yield _look(one, line, own)


def _own_prices(candidates: Sequence[Candidate], line: Line) -> Iterator[_Looked]:
    return (_look(one, line, None) for one in candidates if one.source is Source.LIST_PRICE)


def _look(candidate: Candidate, line: Line, own: tuple[Decimal, int] | None) -> _Looked:
    """Look at one candidate; `own` is the product's list price, which a discount is taken off."""
    tier = next((one for one in reversed(candidate.tiers) if one.min_quantity <= line.quantity), None)
    price, base_quantity = None if tier is None else tier.unit_price, candidate.price_base_quantity
    reason = _reason(candidate, line, tier)
    if tier is not None and tier.discount_percent is not None:
        if own is None:
            reason = reason or "no_list_price"
        elif candidate.currency == line.currency:
            price, base_quantity = less_percent(own[0], tier.discount_percent), own[1]
    return _Looked(candidate, price, base_quantity, reason)


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
    cost = (price is None, 0 if price is None else price / looked.base_quantity)
    return (not named, one.source, one.rank, _later_first(one), *cost, one.id, one.line_no or 0)


def _later_first(candidate: Candidate) -> int:
    return -int(candidate.valid_from.replace("-", "") or 0)


def _is_exhausted(looked: Sequence[_Looked], line: Line) -> bool:
    named = [one for one in looked if one.candidate.id == line.agreement_id] if line.agreement_id else []
    return bool(named) and all(one.reason for one in named) and any(one.reason == "cap_exceeded" for one in named)


def _adjusted(
    taken: _Looked,
    price: Decimal,
    line: Line,
    rules: Sequence[Rule],
    promotions: Sequence[Promotion],
    trace: list[dict[str, Any]],
) -> tuple[Decimal, tuple[tuple[str, Decimal], ...]]:
    """Adjust a price, go on with its trace, and return it with the promotions that apply."""
    if not rules and not promotions:
        return price, ()
    source = taken.candidate.source
    found: Adjusted = with_rules(price, source, taken.base_quantity, line, rules)
    steps: list[Step] = found.steps
    if promotions:
        net = line_total(price, line.quantity, taken.base_quantity, line.currency)
        found = with_promotions(found, source, taken.base_quantity, line, promotions, net)
        steps = steps + found.steps
    for step in steps:
        trace.append(_adjustment_entry(len(trace) + 1, step))
    redeemed = ((step.terms.id, step.discount) for step in found.steps if step.discount is not None)
    return found.unit_price, tuple(redeemed) if promotions else ()


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


def _adjustment_entry(number: int, step: Step) -> dict[str, Any]:
    return {
        "step": number,
        "source_type": step.kind,
        "source_id": step.terms.id,
        "source_version": step.terms.version,
        "source_name": step.terms.name,
        "line_no": None,
        "matched": step.reason is None,
        "reason": step.reason,
        "unit_price": None if step.unit_price is None else shown(step.unit_price),
    }
