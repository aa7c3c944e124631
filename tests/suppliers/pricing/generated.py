"""Generated worlds: few values of each kind, so that ties, edges and gaps are met often. Not one of them is realistic."""

from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from .oracle import EXPONENTS
from .worlds import (
    DISTANCES,
    SCOPES,
    TODAY,
    Conditions,
    Contract,
    ListPrice,
    Offer,
    PriceList,
    Promotion,
    Rule,
    Tier,
    World,
)

# A currency of each exponent, and one that is asked for less often.
CURRENCIES = ("EUR", "JPY", "KWD", "CLF")
STARTS = (date(2026, 1, 1), date(2026, 6, 14), TODAY, date(2026, 6, 16))
ENDS = (TODAY, date(2026, 6, 16), date(2027, 1, 1))
QUANTITIES = st.sampled_from([1, 2, 3, 9, 10, 11, 12, 100, 101, 1_000_000_000])
# From the smallest unit price to one of 13 digits, with halves at every decimal that is rounded.
PRICES = st.one_of(
    st.sampled_from(
        [Decimal(one) for one in ("0", "0.000001", "0.5", "1", "2.345", "2.5", "4.10", "5", "9999999999999.999999")]
    ),
    st.integers(0, 20_000_000).map(lambda micro: Decimal(micro).scaleb(-6)),
)
PERCENTS = st.one_of(
    st.sampled_from([Decimal(one) for one in ("0", "5", "10", "33.333333", "50", "100")]),
    st.integers(0, 100_000_000).map(lambda micro: Decimal(micro).scaleb(-6)),
)
PRIORITIES = st.sampled_from([0, 1, 10])
STEPS = ((1,), (1,), (1, 10), (1, 2, 11), (2,), (10,), (10, 11))
BASES = st.sampled_from([1, 1, 3, 10, 1000])


@st.composite
def tiers(draw: Any, *, discounts: bool = False) -> tuple[Tier, ...]:
    """Return tiers that rise; `discounts`: percentages off the list price may stand in place of prices."""
    least = draw(st.sampled_from(STEPS))
    if discounts:
        return tuple(Tier(one, percent=draw(PERCENTS)) for one in least)
    return tuple(Tier(one, price=draw(PRICES)) for one in least)


# Of a validity that is half-open: most hold today, some are over, some are to come.
PERIODS = st.sampled_from(
    [{"valid_from": start, "valid_to": end} for start in STARTS for end in ENDS if start < end]
    + 2 * [{"valid_from": start, "valid_to": ENDS[-1]} for start in STARTS[:3]]
)


@st.composite
def contracts(draw: Any, name: str, currencies: Any) -> Contract:
    """Return a line of an agreement."""
    of_category = draw(st.sampled_from([None, None, None, "gloves", "goods", "masks"]))
    discounts = of_category is not None or draw(st.booleans())
    cap = draw(st.sampled_from([None, None, 10, 2_000_000_000]))
    return Contract(
        name=name,
        tiers=draw(tiers(discounts=discounts)),
        currency=draw(currencies),
        per=1 if discounts else draw(BASES),
        priority=draw(PRIORITIES),
        audience=draw(st.sampled_from(["buyer", "buyer", "organization", *DISTANCES])),
        category=of_category,
        any_packaging=of_category is not None or (discounts and draw(st.booleans())),
        cap=cap,
        used=draw(st.sampled_from([0, 1, 9, 10])) if cap else 0,
        **draw(PERIODS),
    )


@st.composite
def offers(draw: Any, name: str, currencies: Any) -> Offer:
    """Return an offer with a price."""
    return Offer(
        name=name,
        tiers=draw(tiers()),
        currency=draw(currencies),
        per=draw(BASES),
        visible=draw(st.sampled_from([True, True, False])),
    )


@st.composite
def price_lists(draw: Any, name: str, currencies: Any) -> PriceList:
    """Return a price list; one for everybody is for the buyer, too."""
    scope = draw(st.sampled_from(SCOPES))
    period = draw(st.one_of(PERIODS, st.just({"valid_from": None, "valid_to": None})))
    return PriceList(
        name=name, tiers=draw(tiers()), currency=draw(currencies), per=draw(BASES), priority=draw(PRIORITIES), scope=scope,
        mine=scope == "public" or draw(st.sampled_from([True, True, False])), **period,
    )  # fmt: skip


@st.composite
def list_prices(draw: Any, names: tuple[str, ...], currencies: Any) -> tuple[ListPrice, ...]:
    """Return list prices: of one currency and packaging they do not overlap, as the API demands."""
    found = []
    starts = draw(st.sampled_from([STARTS[:1], STARTS[:1], STARTS[:2], STARTS[1:], STARTS[2:], (), STARTS]))
    currency = draw(currencies)
    for name, start, end in zip(names, starts, [*starts[1:], None], strict=False):
        found.append(ListPrice(name, draw(tiers()), currency, draw(BASES), start, end))
    if draw(st.booleans()):
        other = draw(st.sampled_from([one for one in CURRENCIES if one != currency]))
        found.append(ListPrice(names[-1], draw(tiers()), other, draw(BASES), STARTS[0], None))
    return tuple(found)


@st.composite
def conditions(draw: Any, *, of_currency: str | None) -> Conditions:
    """Return conditions, most of them empty; with a currency where an amount needs one."""
    currency = of_currency or draw(st.sampled_from([None, None, None, "EUR"]))
    least = None
    if currency is not None and draw(st.booleans()):
        least = draw(st.sampled_from([Decimal(0), Decimal(1), Decimal(41), Decimal(50)]))
    return Conditions(
        product=draw(st.sampled_from([None, None, None, None, True, False])),
        category=draw(st.sampled_from([None, None, None, None, "gloves", "goods", "masks"])),
        buyer=draw(st.sampled_from([None, None, None, None, True, False])),
        country=draw(st.sampled_from([None, None, None, None, "DE", "AT"])),
        least_quantity=draw(st.sampled_from([None, None, None, 2, 10])),
        least_amount=least,
        currency=currency,
    )


def _terms(draw: Any, currencies: Any) -> dict[str, Any]:
    action = draw(st.sampled_from(["percent", "percent", "amount_off", "fixed_price", "markup"]))
    floor = draw(st.one_of(st.none(), st.none(), PRICES))
    in_money = action in {"amount_off", "fixed_price"} or floor is not None
    return {
        "action": action,
        "value": draw(PRICES if action in {"amount_off", "fixed_price"} else PERCENTS),
        "priority": draw(PRIORITIES),
        "floor": floor,
        "on_offers": draw(st.booleans()),
        "conditions": draw(conditions(of_currency=draw(currencies) if in_money else None)),
    }


@st.composite
def rules(draw: Any, name: str, currencies: Any) -> Rule:
    """Return a rule."""
    period = draw(st.one_of(st.just({}), st.just({}), PERIODS))
    return Rule(name=name, exclusive=draw(st.sampled_from([False, False, True])), **_terms(draw, currencies), **period)


@st.composite
def promotions(draw: Any, name: str, currencies: Any) -> Promotion:
    """Return a promotion; its limits are within themselves, as constraints demand."""
    terms = _terms(draw, currencies)
    budget = draw(st.sampled_from([None, None, Decimal(10), Decimal(1_000_000)]))
    most, per_buyer = draw(st.sampled_from([None, None, 2])), draw(st.sampled_from([None, None, 1]))
    return Promotion(
        name=name,
        on_contracts=draw(st.booleans()),
        combinable=draw(st.booleans()),
        running=draw(st.sampled_from([True, True, True, False])),
        budget=budget,
        spent=draw(st.sampled_from([Decimal(0), Decimal(9), Decimal(10)])) if budget else Decimal(0),
        budget_currency=(terms["conditions"].currency or draw(currencies)) if budget else None,
        most=most,
        redeemed=draw(st.integers(0, most)) if most else 0,
        most_per_buyer=per_buyer,
        redeemed_by_buyer=draw(st.integers(0, per_buyer)) if per_buyer else 0,
        **terms,
    )


def several(made: Any, letter: str, least: int, most: int, currencies: Any) -> st.SearchStrategy[tuple[Any, ...]]:
    """Return some of one kind, named by a letter and a number."""
    counted = st.integers(least, most)
    return counted.flatmap(lambda n: st.tuples(*(made(f"{letter}{number}", currencies) for number in range(n))))


# How many contracts, offers and lists, and the fewest rules and promotions: without them contracts would win most worlds.
THEMES = (
    ((2, 3), (0, 1), (0, 2), 0),
    ((1, 3), (0, 0), (0, 2), 1),
    ((0, 0), (0, 1), (1, 3), 1),
    ((0, 0), (0, 0), (1, 3), 2),
    ((0, 0), (0, 1), (0, 0), 1),
)


@st.composite
def worlds(draw: Any) -> World:
    """Return a world in a currency of any exponent; few of its sources are in another one."""
    asked = draw(st.sampled_from(CURRENCIES))
    assert asked in EXPONENTS
    currencies = st.sampled_from([asked, asked, asked, asked, asked, *CURRENCIES[:1]])
    agreed, offered, listed, adjusting = draw(st.sampled_from(THEMES))
    return World(
        quantity=draw(QUANTITIES),
        currency=asked,
        units=draw(st.sampled_from([1, 10])),
        contracts=draw(several(contracts, "C", *agreed, currencies)),
        offers=draw(several(offers, "O", *offered, currencies)),
        lists=draw(several(price_lists, "L", *listed, currencies)),
        prices=draw(list_prices(("P0", "P1", "P2", "P3", "P4"), currencies)),
        rules=draw(several(rules, "R", adjusting, 3, currencies)),
        promotions=draw(several(promotions, "X", adjusting, 3, currencies)),
    )
