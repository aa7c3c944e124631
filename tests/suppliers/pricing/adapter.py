"""Worlds as the function of prices takes them."""

from collections.abc import Iterator
from datetime import date

from suppliers.pricing import candidates as given
from suppliers.pricing.adjustments import Adjustments
from suppliers.pricing.resolution import Resolution, resolve_price

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

_KINDS = {
    Contract: given.Source.CONTRACT,
    Offer: given.Source.OFFER,
    PriceList: given.Source.PRICE_LIST,
    ListPrice: given.Source.LIST_PRICE,
}


def resolve(world: World, *, turn: int = 1) -> Resolution:
    """Price the line of a world by the function; `turn` -1 gives all in the opposite order."""
    sources = [_candidate(one) for one in world.sources if _is_for_the_product(one)]
    rules = [_rule(one) for one in world.rules if is_met(one.conditions)]
    promotions = [_promotion(one) for one in world.promotions if is_met(one.conditions)]
    return resolve_price(sources[::turn], line(world), Adjustments(rules[::turn], promotions[::turn]))


def line(world: World) -> given.Line:
    """Return what is asked for."""
    return given.Line(world.quantity, world.currency, world.on.isoformat(), world.units)


def _is_for_the_product(one: Source) -> bool:
    return not isinstance(one, Contract) or one.category is None or one.category in CATEGORIES


def is_met(conditions: Conditions) -> bool:
    """Tell whether product, category and country are met: of others the function is told nothing."""
    return (
        conditions.product is not False
        and (conditions.category is None or conditions.category in CATEGORIES)
        and conditions.country in {None, COUNTRY}
    )


def _candidate(one: Source) -> given.Candidate:
    tiers = [given.Tier(tier.least, tier.price, tier.percent) for tier in one.tiers]
    rank, refusal, left = (), None, None
    if isinstance(one, Contract):
        distance = DISTANCES[one.audience]
        refusal = "not_assigned" if distance is None else None
        subject = len(CATEGORIES) - CATEGORIES.index(one.category) if one.category else 0
        rank = (distance or 0, subject, -one.priority)
        left = None if one.cap is None else one.cap - one.used
    elif isinstance(one, PriceList):
        refusal = None if one.mine else "not_assigned"
        rank = (SCOPES.index(one.scope), -one.priority)
    elif isinstance(one, Offer):
        refusal = None if one.visible else "not_visible"
    dates = _text(one.valid_from), _text(one.valid_to)
    return given.Candidate(_KINDS[type(one)], str(one.id), 1, one.currency, one.per, tiers, *dates, rank, refusal, left)


def _text(day: date | None) -> str:
    return "" if day is None else day.isoformat()


def _terms(one: Rule | Promotion) -> given.Adjustment:
    asked = one.conditions
    return given.Adjustment(
        str(one.id), one.name, 1, one.name, one.priority, one.action, one.value, one.floor,
        [asked.currency] if asked.currency else [], asked.least_quantity, asked.least_amount, one.on_offers,
        "not_assigned" if asked.buyer is False else None,
    )  # fmt: skip


def _rule(one: Rule) -> given.Rule:
    return given.Rule(_terms(one), _text(one.valid_from), _text(one.valid_to), one.exclusive)


def _promotion(one: Promotion) -> given.Promotion:
    state = "running" if one.running else "ended"
    left = [*_left(one.most, one.redeemed), *_left(one.most_per_buyer, one.redeemed_by_buyer)]
    budget = None if one.budget is None else one.budget - one.spent
    return given.Promotion(
        _terms(one), state, one.combinable, one.on_contracts, budget, one.budget_currency, min(left, default=None)
    )


def _left(most: int | None, taken: int) -> Iterator[int]:
    if most is not None:
        yield most - taken
