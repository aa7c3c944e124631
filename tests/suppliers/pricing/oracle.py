"""The price by the text of the contract: slow, naive, in fractions, and without a line of the code that it judges.

Source: contract, supply-price.md 2. Each paragraph of the code quotes the sentence that it follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import floor

from .worlds import (
    CATEGORIES,
    COUNTRY,
    DISTANCES,
    SCOPES,
    Conditions,
    Contract,
    ListPrice,
    Offer,
    PriceList,
    Promotion,
    Rule,
    Source,
    World,
)

# ISO 4217 table A.1, written down from it.
EXPONENTS = {"JPY": 0, "EUR": 2, "NOK": 2, "USD": 2, "KWD": 3, "CLF": 4, "UYW": 4}


@dataclass(frozen=True)
class Judgement:
    """What must come out: the source, its price for `per` packs, the line's total, and who changed the price."""

    source: str
    unit_price: Decimal
    per: int
    total: Decimal
    adjusted_by: tuple[str, ...]


def judge(world: World) -> Judgement | None:
    """Return the price of the line; None where nothing is found."""
    fitting = [one for one in world.sources if price_of(world, one) is not None]
    winner = None
    for one in fitting:
        if all(other is one or goes_before(world, one, other) for other in fitting):
            winner = one
    if winner is None:
        assert not fitting, "the order must be total"
        return None
    price, adjusted = adjust(world, winner)
    per = base_of(world, winner)
    total = half_up(price * world.quantity / per, EXPONENTS[world.currency])
    return Judgement(winner.name, decimal(price, 6), per, decimal(total, EXPONENTS[world.currency]), adjusted)


def price_of(world: World, one: Source) -> Fraction | None:
    """Return the price that a source gives this line; None where it gives none."""
    if not is_for_this_line(world, one):
        return None
    # The contract says "tier with the largest min_quantity <= quantity"
    met = [tier for tier in one.tiers if tier.least <= world.quantity]
    if not met:
        return None
    tier = max(met, key=lambda tier: tier.least)
    if tier.percent is None:
        assert tier.price is not None
        return Fraction(tier.price)
    # The contract says "discount_percent, taken off the product list price (step 4)"
    list_price = listed(world)
    if list_price is None:
        return None
    return half_up(Fraction(price_of(world, list_price) or 0) * (100 - Fraction(tier.percent)) / 100, 6)


def is_for_this_line(world: World, one: Source) -> bool:
    """Tell whether a source is one for this buyer, product, currency, day and quantity; its tiers are not looked at."""
    # The contract says "currency equal, valid_from <= on_date < valid_to"
    if one.currency != world.currency or not holds_on(world.on, one.valid_from, one.valid_to):
        return False
    if isinstance(one, Contract):
        # The contract says "Specificity: buyer tenant, then buyer's organization, then each parent upwards"
        if DISTANCES[one.audience] is None or (one.category is not None and one.category not in CATEGORIES):
            return False
        # The contract says "remaining cap >= quantity", and "max_quantity is in base units"
        return one.cap is None or one.cap - one.used >= world.quantity * world.units
    # The contract says "when the buyer can see it", and "assigned to the buyer tenant, ..."
    return (not isinstance(one, Offer) or one.visible) and (not isinstance(one, PriceList) or one.mine)


def listed(world: World) -> ListPrice | None:
    """Return the product list price that holds."""
    fitting = [one for one in world.prices if price_of(world, one) is not None]
    return next((one for one in fitting if all(o is one or goes_before(world, one, o) for o in fitting)), None)


def base_of(world: World, one: Source) -> int:
    """Return for how many packs the price of a source is."""
    if any(tier.percent is not None for tier in one.tiers):
        found = listed(world)
        assert found is not None
        return found.per
    return one.per


def goes_before(world: World, one: Source, other: Source) -> bool:
    """Tell whether one of two fitting sources is taken."""
    # The contract says "1. Contract", "2. Offer", "3. Price list", "4. Product list price"
    steps = (Contract, Offer, PriceList, ListPrice)
    if type(one) is not type(other):
        return steps.index(type(one)) < steps.index(type(other))
    if isinstance(one, Contract) and isinstance(other, Contract):
        # The contract says "buyer tenant, then buyer's organization, then each parent upwards"
        near, far = DISTANCES[one.audience], DISTANCES[other.audience]
        assert near is not None
        assert far is not None
        if near != far:
            return near < far
        # The contract says "product line before category line"; of categories the nearer one goes first (decision 99)
        mine, its = nearness(one), nearness(other)
        if mine != its:
            return mine > its
    if isinstance(one, PriceList) and isinstance(other, PriceList) and one.scope != other.scope:
        # The contract says "assigned to the buyer tenant, then to one of his organizations, then to one of his groups, then the public list"
        return SCOPES.index(one.scope) < SCOPES.index(other.scope)
    # The contract says "then agreement priority (higher first)"; offers and list prices have none
    if one.priority != other.priority:
        return one.priority > other.priority
    # The contract says "then later valid_from"; one without is older than all
    if one.valid_from != other.valid_from:
        return other.valid_from is None or (one.valid_from is not None and one.valid_from > other.valid_from)
    # The contract says "then lower unit price": of one pack, at this quantity
    cost, others = (Fraction(price_of(world, that) or 0) / base_of(world, that) for that in (one, other))
    # The contract says "then id"
    return cost < others if cost != others else one.id < other.id


def nearness(line: Contract) -> int:
    """Return how near the subject of a line is to the product, the product itself being the nearest."""
    return len(CATEGORIES) if line.category is None else CATEGORIES.index(line.category)


def adjust(world: World, winner: Source) -> tuple[Fraction, tuple[str, ...]]:
    """Return the price after rules and promotions, and who changed it."""
    price = Fraction(price_of(world, winner) or 0)
    net = half_up(price * world.quantity / base_of(world, winner), EXPONENTS[world.currency])
    floors: list[Decimal | None] = []
    applied: list[str] = []
    # The contract says "all matching rules in (priority desc, code) order"
    rules = [one for one in world.rules if holds_on(world.on, one.valid_from, one.valid_to)]
    for rule in sorted(sorted(rules, key=lambda one: one.name), key=lambda one: one.priority, reverse=True):
        # The contract says "adjust 3 and 4 (never 1, never 2 unless the rule says applies_to_offers)"
        if isinstance(winner, Contract) or (isinstance(winner, Offer) and not rule.on_offers):
            continue
        if not meets(world, rule.conditions, net):
            continue
        price = held(price, stepped(price, rule), [rule.floor])
        floors.append(rule.floor)
        applied.append(rule.name)
        # The contract says "exclusive=true stops"
        if rule.exclusive:
            break
    return promoted(world, winner, net, price, floors, applied)


def promoted(
    world: World, winner: Source, net: Fraction, price: Fraction, floors: list[Decimal | None], applied: list[str]
) -> tuple[Fraction, tuple[str, ...]]:
    """Return the price after promotions, and who changed it."""
    fitting = [one for one in world.promotions if may_apply(world, winner, net, one)]
    # The contract says "the one best for the buyer, unless marked combinable (all combinable ones, by code)"; of equals the higher priority
    together = sorted((one for one in fitting if one.combinable), key=lambda one: one.name)
    alone = sorted((one for one in fitting if not one.combinable), key=lambda one: (-one.priority, one.name))
    best, by = price, []
    for choice in [together, *([one] for one in alone)]:
        reached, names = price, []
        for one in choice:
            # The contract says "never below a rule's floor_price"
            after = held(reached, stepped(reached, one), [*floors, one.floor])
            # nothing for the buyer, or more than its budget has left
            if after >= reached or (one.budget is not None and discount(world, winner, reached, after) > left_of(one)):
                continue
            reached, names = after, [*names, one.name]
        if reached < best:
            best, by = reached, names
    return best, (*applied, *by)


def held(before: Fraction, after: Fraction, floors: Sequence[Decimal | None]) -> Fraction:
    """Return a price that floors hold up; what was below a floor before is not lifted."""
    for one in floors:
        if one is not None:
            after = max(after, min(before, Fraction(one)))
    return after


def discount(world: World, winner: Source, before: Fraction, after: Fraction) -> Fraction:
    """Return what a promotion takes off the line's net."""
    places, packs = EXPONENTS[world.currency], Fraction(world.quantity, base_of(world, winner))
    return half_up(before * packs, places) - half_up(after * packs, places)


def left_of(one: Promotion) -> Fraction:
    """Return what is left of a promotion's budget."""
    return Fraction(one.budget or 0) - Fraction(one.spent)


def may_apply(world: World, winner: Source, net: Fraction, one: Promotion) -> bool:
    """Tell whether a promotion is for this line, and has something left."""
    # The contract says "contracts are excluded unless applies_to_contracts"
    if isinstance(winner, Contract) and not one.on_contracts:
        return False
    if isinstance(winner, Offer) and not one.on_offers:
        return False
    spent = one.budget is not None and (one.spent >= one.budget or one.budget_currency != world.currency)
    taken = one.most is not None and one.redeemed >= one.most
    taken_by_buyer = one.most_per_buyer is not None and one.redeemed_by_buyer >= one.most_per_buyer
    return one.running and not (spent or taken or taken_by_buyer) and meets(world, one.conditions, net)


def meets(world: World, conditions: Conditions, net: Fraction) -> bool:
    """Tell whether all that is given holds."""
    return (
        conditions.product in {None, True}
        and conditions.buyer in {None, True}
        and (conditions.category is None or conditions.category in CATEGORIES)
        and conditions.country in {None, COUNTRY}
        and conditions.currency in {None, world.currency}
        and (conditions.least_quantity is None or conditions.least_quantity <= world.quantity)
        and (conditions.least_amount is None or Fraction(conditions.least_amount) <= net)
    )


def stepped(price: Fraction, one: Rule | Promotion) -> Fraction:
    """Return the price after one action, never below zero or above what can be kept, rounded half up at six decimals."""
    value = Fraction(one.value)
    reached = {
        "percent": price * (100 - value) / 100,
        "amount_off": price - value,
        "fixed_price": value,
        "markup": price * (100 + value) / 100,
    }[one.action]
    # The contract says "unit prices up to 6 decimals, NUMERIC(19,6)"
    return min(max(Fraction(0), half_up(reached, 6)), Fraction(10**19 - 1, 10**6))


def holds_on(day: date, start: date | None, end: date | None) -> bool:
    """Tell whether a day is within a half-open period."""
    return (start is None or start <= day) and (end is None or day < end)


def half_up(amount: Fraction, places: int) -> Fraction:
    """Round a half away from zero; amounts are not negative."""
    step = Fraction(1, 10**places)
    return floor(amount / step + Fraction(1, 2)) * step if amount >= 0 else -half_up(-amount, places)


def decimal(amount: Fraction, places: int) -> Decimal:
    """Write a fraction that has no more decimals."""
    whole = amount * 10**places
    assert whole.denominator == 1
    return (
        Decimal(whole.numerator).scaleb(-places)
        if whole.numerator < 10**27
        else Decimal(f"{whole.numerator}E-{places}")
    )


def vat(groups: Sequence[tuple[Decimal, Decimal]], currency: str) -> tuple[Decimal, Decimal, Decimal]:
    """Return net, tax and gross of groups of (sum of line nets, rate). Source: EN 16931 BR-CO-10, 14, 15, 17."""
    places = EXPONENTS[currency]
    net = sum((Fraction(amount) for amount, _ in groups), Fraction(0))
    tax = sum((half_up(Fraction(amount) * Fraction(rate) / 100, places) for amount, rate in groups), Fraction(0))
    return decimal(net, places), decimal(tax, places), decimal(net + tax, places)
