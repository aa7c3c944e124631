"""How rules and promotions adjust a unit price. Source: contract, supply-price.md 2 point 5."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from .amounts import less_percent, line_total
from .candidates import Adjustment, Line, Promotion, Rule, Source

ACTIONS: Final[Mapping[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "percent": less_percent,
    "amount_off": lambda price, value: max(price - value, Decimal(0)),
    "fixed_price": lambda _, value: value,
    "markup": lambda price, value: less_percent(price, -value),
}


class Step(NamedTuple):
    """What became of a rule or a promotion: the unit price behind it, or the reason why it does not apply.

    `discount` is the amount that a promotion takes off the line's net.
    """

    kind: str
    terms: Adjustment
    reason: str | None
    unit_price: Decimal | None = None
    discount: Decimal | None = None


class Adjusted(NamedTuple):
    """A unit price behind rules or promotions, and what became of each."""

    unit_price: Decimal
    steps: list[Step]
    floor: Decimal | None = None


class _Priced(NamedTuple):
    """The price that is adjusted: its source, and the number of packs that a unit price is for."""

    source: Source
    base_quantity: int
    line: Line

    def total(self, price: Decimal) -> Decimal:
        return line_total(price, self.line.quantity, self.base_quantity, self.line.currency)


def with_rules(price: Decimal, source: Source, base_quantity: int, line: Line, rules: Sequence[Rule]) -> Adjusted:
    """Adjust a unit price by all rules that match, the higher priority first, then by code; an exclusive one is the last.

    `floor` is the highest floor of the rules that applied: no promotion goes below it.
    """
    of = _Priced(source, base_quantity, line)
    net = of.total(price) if any(one.terms.min_amount is not None for one in rules) else None
    steps: list[Step] = []
    floors: list[Decimal] = []
    closed = False
    for rule in sorted(rules, key=lambda one: (-one.terms.priority, one.terms.code)):
        terms = rule.terms
        reason = _against(terms, of, net) or outside(line.on_date, rule.valid_from, rule.valid_to)
        if reason is None and (source is Source.CONTRACT or (source is Source.OFFER and not terms.applies_to_offers)):
            reason = "not_applicable"
        if reason is None and closed:
            reason = "lower_precedence"
        if reason is None:
            price = _applied(terms, price, terms.floor)
            floors += [terms.floor] if terms.floor is not None else []
            closed = rule.exclusive
        steps.append(Step("rule", terms, reason, None if reason else price))
    return Adjusted(price, steps, max(floors, default=None))


def with_promotions(
    before: Adjusted, source: Source, base_quantity: int, line: Line, promotions: Sequence[Promotion], net: Decimal
) -> Adjusted:
    """Adjust a unit price by the promotion that is best for the buyer, or by all combinable ones, by code, if these are.

    Of equally good ones the combinable ones go first, then the higher priority, then the code. `net` is the line's before
    rules, which `min_amount` is compared with.
    """
    of = _Priced(source, base_quantity, line)
    steps: list[Step] = []
    may: list[Promotion] = []
    for one in sorted(promotions, key=lambda promotion: promotion.terms.code):
        reason = _against(one.terms, of, net) or _closed(one, line)
        if reason is None and not _adjusts(one, source):
            reason = "not_applicable"
        if reason is None:
            may.append(one)
        else:
            steps.append(Step("promotion", one.terms, reason))
    ways = [[*_walk(before, of, [one for one in may if one.combinable])]]
    alone = sorted((one for one in may if not one.combinable), key=lambda one: (-one.terms.priority, one.terms.code))
    ways += [[*_walk(before, of, [one])] for one in alone]
    best = min(ways, key=lambda way: _result(way, before.unit_price))
    for way in ways:
        for step in way:
            passed_over = step if step.reason else Step("promotion", step.terms, "lower_precedence")
            steps.append(step if way is best else passed_over)
    return Adjusted(_result(best, before.unit_price), steps)


def outside(on_date: str, valid_from: str, valid_to: str) -> str | None:
    """Tell why a validity does not hold a day; None if it does."""
    if valid_from and on_date < valid_from:
        return "not_yet_valid"
    return "expired" if valid_to and on_date >= valid_to else None


def _walk(before: Adjusted, of: _Priced, promotions: Sequence[Promotion]) -> Iterator[Step]:
    """Apply promotions one after another; one that takes nothing off, or more than is left to it, is passed over."""
    price = before.unit_price
    for one in promotions:
        floors = [floor for floor in (before.floor, one.terms.floor) if floor is not None]
        after = _applied(one.terms, price, max(floors, default=None))
        discount = of.total(price) - of.total(after)
        if after >= price:
            yield Step("promotion", one.terms, "no_advantage")
        elif one.budget_left is not None and discount > one.budget_left:
            yield Step("promotion", one.terms, "cap_exceeded")
        else:
            price = after
            yield Step("promotion", one.terms, None, price, discount)


def _result(way: Sequence[Step], before: Decimal) -> Decimal:
    return next((step.unit_price for step in reversed(way) if step.unit_price is not None), before)


def _applied(terms: Adjustment, price: Decimal, floor: Decimal | None) -> Decimal:
    """Return the adjusted price; a floor holds it up, and never lifts a price that was below it."""
    after = ACTIONS[terms.action](price, terms.value)
    return after if floor is None else max(after, min(price, floor))


def _against(terms: Adjustment, of: _Priced, net: Decimal | None) -> str | None:
    """Tell which condition is not met; None if all are."""
    if terms.refusal:
        return terms.refusal
    if terms.currencies and of.line.currency not in terms.currencies:
        return "other_currency"
    if terms.min_quantity is not None and of.line.quantity < terms.min_quantity:
        return "below_min_quantity"
    if terms.min_amount is not None and net is not None and net < terms.min_amount:
        return "below_min_amount"
    return None


def _closed(promotion: Promotion, line: Line) -> str | None:
    if promotion.budget_left is not None and promotion.budget_currency != line.currency:
        return "other_currency"  # nothing is converted: what the line takes off cannot be counted against the budget
    reason = {"scheduled": "not_yet_valid", "ended": "expired", "exhausted": "cap_exceeded"}.get(promotion.state)
    left = [one for one in (promotion.budget_left, promotion.redemptions_left) if one is not None]
    return reason or ("cap_exceeded" if any(one <= 0 for one in left) else None)


def _adjusts(promotion: Promotion, source: Source) -> bool:
    if source is Source.CONTRACT:
        return promotion.applies_to_contracts
    return source is not Source.OFFER or promotion.terms.applies_to_offers
