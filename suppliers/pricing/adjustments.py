"""How rules and promotions adjust a unit price. Source: contract, supply-price.md 2 point 5."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from .amounts import HIGHEST, less_percent, line_total, shown
from .candidates import Adjustment, Line, Promotion, Rule, Source

ACTIONS: Final[Mapping[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "percent": less_percent,
    "amount_off": lambda price, value: max(price - value, Decimal(0)),
    "fixed_price": lambda _, value: value,
    "markup": lambda price, value: min(less_percent(price, -value), HIGHEST),
}


class Step(NamedTuple):
    """What became of a rule or a promotion: the unit price behind it, or the reason why it does not apply.

    `discount` is the amount that a promotion takes off the line's net. `entry` is what a trace tells of it, but its number.
    """

    kind: str
    terms: Adjustment
    reason: str | None
    unit_price: Decimal | None
    discount: Decimal | None
    entry: dict[str, Any]

    @classmethod
    def of(
        cls,
        kind: str,
        terms: Adjustment,
        reason: str | None,
        unit_price: Decimal | None = None,
        discount: Decimal | None = None,
    ) -> "Step":
        """Return a step with its entry. What is out for many lines is kept with its entry, and told by a copy of it."""
        entry = {
            "step": 0,
            "source_type": kind,
            "source_id": terms.id,
            "source_version": terms.version,
            "source_name": terms.name,
            "line_no": None,
            "matched": reason is None,
            "reason": reason,
            "unit_price": None if unit_price is None else shown(unit_price),
        }
        return cls(kind, terms, reason, unit_price, discount, entry)


class Adjusted(NamedTuple):
    """A unit price behind rules and promotions, and what became of each."""

    unit_price: Decimal
    steps: list[Step]


class _Priced(NamedTuple):
    """The price that is adjusted: its source, and the number of packs that a unit price is for."""

    source: Source
    base_quantity: int
    line: Line

    def total(self, price: Decimal) -> Decimal:
        return line_total(price, self.line.quantity, self.base_quantity, self.line.currency)


class _Judged(NamedTuple):
    """Rules in their order, each with what speaks against it; promotions that are out, and those that may apply.

    What is out for the line stays so whatever the rules before it make of the price.
    """

    rules: Sequence[tuple[Rule, Step | None]]
    out: Sequence[Step]
    combinable: Sequence[Promotion]
    alone: Sequence[Promotion]


class Adjustments:
    """The rules and promotions of a product, each kind in its order.

    Lines that are alike but in their prices are judged once, unless a condition names an amount.
    """

    __slots__ = ("_by_amount", "_judged", "promotions", "rules")

    def __init__(self, rules: Iterable[Rule] = (), promotions: Iterable[Promotion] = ()) -> None:
        self.rules = sorted(rules, key=lambda one: (-one.terms.priority, one.terms.code))
        self.promotions = sorted(promotions, key=lambda one: one.terms.code)
        terms = [*(one.terms for one in self.rules), *(one.terms for one in self.promotions)]
        self._by_amount = any(one.min_amount is not None for one in terms)
        self._judged: dict[tuple[Any, ...], _Judged] = {}

    def adjusted(self, price: Decimal, source: Source, base_quantity: int, line: Line) -> Adjusted:
        """Adjust a unit price by all rules that match, the higher priority first, then by promotions.

        Rules of one priority go by code; an exclusive one is the last. Of promotions the one that is best for the buyer
        applies, or all combinable ones, by code, if these are; none goes below the highest floor of the rules that applied.
        """
        of = _Priced(source, base_quantity, line)
        judged = self._judge(of, price)
        steps: list[Step] = []
        floor, is_closed = None, False
        for rule, against in judged.rules:
            terms = rule.terms
            if against is not None:
                steps.append(against)
            elif is_closed:
                steps.append(Step.of("rule", terms, "lower_precedence"))
            else:
                price = _applied(terms, price, terms.floor)
                floor, is_closed = _higher(floor, terms.floor), rule.exclusive
                steps.append(Step.of("rule", terms, None, price))
        steps += judged.out
        if not judged.combinable and not judged.alone:
            return Adjusted(price, steps)
        return _promoted(price, floor, of, judged, steps)

    def _judge(self, of: _Priced, price: Decimal) -> _Judged:
        if self._by_amount:
            return _judged(self, of, of.total(price))
        key = (of.source, of.line.currency, of.line.quantity, of.line.on_date)
        found = self._judged.get(key)
        if found is None:
            if len(self._judged) >= _KEPT_LINES:
                self._judged.clear()
            found = self._judged[key] = _judged(self, of, None)
        return found


_KEPT_LINES: Final = 64


def _judged(given: Adjustments, of: _Priced, net: Decimal | None) -> _Judged:
    """Tell what speaks against each rule and promotion; `net` is the line's before rules, for the conditions that name one."""
    source, line = of.source, of.line
    rules: list[tuple[Rule, Step | None]] = []
    for rule in given.rules:
        reason = _against(rule.terms, line, net) or outside(line.on_date, rule.valid_from, rule.valid_to)
        if reason is None and (
            source is Source.CONTRACT or (source is Source.OFFER and not rule.terms.applies_to_offers)
        ):
            reason = "not_applicable"
        rules.append((rule, Step.of("rule", rule.terms, reason) if reason else None))
    out: list[Step] = []
    may: list[Promotion] = []
    for one in given.promotions:
        reason = _against(one.terms, line, net) or _closed(one, line)
        if reason is None and not _adjusts(one, source):
            reason = "not_applicable"
        if reason is None:
            may.append(one)
        else:
            out.append(Step.of("promotion", one.terms, reason))
    alone = sorted((one for one in may if not one.combinable), key=lambda one: (-one.terms.priority, one.terms.code))
    return _Judged(rules, out, [one for one in may if one.combinable], alone)


def _promoted(price: Decimal, floor: Decimal | None, of: _Priced, judged: _Judged, steps: list[Step]) -> Adjusted:
    """Adjust a unit price by the way of applying promotions that is best for the buyer; what became of each follows `steps`.

    Of equally good ones the combinable ones go first, then the higher priority, then the code.
    """
    total = of.total(price)
    ways = [
        [*_walk(price, total, floor, of, together)]
        for together in (judged.combinable, *([one] for one in judged.alone))
    ]
    results = [next((step.unit_price for step in reversed(way) if step.unit_price is not None), price) for way in ways]
    best = min(range(len(ways)), key=results.__getitem__)
    for number, way in enumerate(ways):
        for step in way:
            is_over = number != best and step.reason is None
            steps.append(Step.of("promotion", step.terms, "lower_precedence") if is_over else step)
    return Adjusted(results[best], steps)


def outside(on_date: str, valid_from: str, valid_to: str) -> str | None:
    """Tell why a validity does not hold a day; None if it does."""
    if valid_from and on_date < valid_from:
        return "not_yet_valid"
    return "expired" if valid_to and on_date >= valid_to else None


def _walk(
    price: Decimal, total: Decimal, floor: Decimal | None, of: _Priced, promotions: Sequence[Promotion]
) -> Iterator[Step]:
    """Apply promotions one after another to a price and the line's net by it.

    One that takes nothing off, or more than is left to it, is passed over.
    """
    for one in promotions:
        after = _applied(one.terms, price, _higher(floor, one.terms.floor))
        if after >= price:
            yield Step.of("promotion", one.terms, "no_advantage")
            continue
        rest = of.total(after)
        if one.budget_left is not None and total - rest > one.budget_left:
            yield Step.of("promotion", one.terms, "cap_exceeded")
        else:
            yield Step.of("promotion", one.terms, None, after, total - rest)
            price, total = after, rest


def _higher(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return other if one is None else one if other is None else max(one, other)


def _applied(terms: Adjustment, price: Decimal, floor: Decimal | None) -> Decimal:
    """Return the adjusted price; a floor holds it up, and never lifts a price that was below it."""
    after = ACTIONS[terms.action](price, terms.value)
    return after if floor is None else max(after, min(price, floor))


def _against(terms: Adjustment, line: Line, net: Decimal | None) -> str | None:
    """Tell which condition is not met; None if all are."""
    if terms.refusal:
        return terms.refusal
    if terms.currencies and line.currency not in terms.currencies:
        return "other_currency"
    if terms.min_quantity is not None and line.quantity < terms.min_quantity:
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
