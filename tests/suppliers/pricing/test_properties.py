"""What holds of the price of every line, in generated worlds of all exponents."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from suppliers.pricing.amounts import less_percent, line_total, shown, tax_of
from suppliers.pricing.candidates import Source
from tests.suppliers.pricing import adapter, oracle
from tests.suppliers.pricing.generated import PERCENTS, PRICES, QUANTITIES, worlds
from tests.suppliers.pricing.worlds import World

pytestmark = pytest.mark.untraced

ADJUSTING = ("rule", "promotion")


def shuffled(world: World, turned: st.DataObject) -> World:
    """Return the same world, entered in another order."""
    kinds = ("contracts", "offers", "lists", "prices", "rules", "promotions")
    return replace(world, **{kind: tuple(turned.draw(st.permutations(getattr(world, kind)))) for kind in kinds})


@settings(max_examples=300)
@given(worlds())
def test_function_and_oracle_agree(world):
    found, wanted = adapter.resolve(world).price, oracle.judge(world)
    event(f"from {found.source.text if found else 'nothing'}")
    event(f"adjusted by {len(wanted.adjusted_by) if wanted else 0}")
    if found is None or wanted is None:
        assert found is wanted
        return
    names = world.names
    total = line_total(found.unit_price, world.quantity, found.price_base_quantity, world.currency)
    by = tuple(names[one["source_id"]] for one in found.trace if one["matched"] and one["source_type"] in ADJUSTING)
    assert (names[found.source_id], found.unit_price, found.price_base_quantity, total, by) == (
        wanted.source,
        wanted.unit_price,
        wanted.per,
        wanted.total,
        wanted.adjusted_by,
    )


@given(worlds(), st.data())
def test_order_of_entering_changes_nothing(world, data):
    assert adapter.resolve(shuffled(world, data)) == adapter.resolve(world)


@given(worlds())
def test_trace_names_every_candidate_once_and_the_winner_is_its_first_match(world):
    found = adapter.resolve(world)
    sources = [one for one in found.trace if one["source_type"] not in ADJUSTING]
    adjusting = [one for one in found.trace if one["source_type"] in ADJUSTING]
    told = [one["source_id"] for one in found.trace]
    assert len(told) == len(set(told))
    assert [one["step"] for one in found.trace] == [*range(1, len(told) + 1)]
    assert all(one["matched"] == (one["reason"] is None) for one in found.trace)
    known = {str(one.id) for one in world.sources if getattr(one, "category", None) != "masks"}
    assert {one["source_id"] for one in sources} == known
    matched = [one["source_id"] for one in sources if one["matched"]]
    if found.price is None:
        assert (matched, adjusting) == ([], [])
        return
    assert matched == [found.price.source_id]
    behind = [one["reason"] for one in sources[[one["matched"] for one in sources].index(True) + 1 :]]
    assert None not in behind
    met = [one for one in (*world.rules, *world.promotions) if adapter.is_met(one.conditions)]
    assert {one["source_id"] for one in adjusting} == {str(one.id) for one in met}
    last = [one["unit_price"] for one in found.trace if one["matched"]][-1]
    assert last == shown(found.price.unit_price)


@given(worlds())
def test_no_price_is_negative_and_no_floor_is_pierced(world):
    found = adapter.resolve(world).price
    if found is None:
        return
    floors = {str(one.id): one.floor for one in (*world.rules, *world.promotions) if one.floor is not None}
    steps = [one for one in found.trace if one["matched"]]
    price, held = Decimal(steps[0]["unit_price"]), []
    for step in steps[1:]:
        after = Decimal(step["unit_price"])
        own = floors.get(step["source_id"])
        binding = ([own] if own is not None else []) + (held if step["source_type"] == "promotion" else [])
        assert after >= 0
        assert all(after >= min(price, floor) for floor in binding)
        if step["source_type"] == "promotion":
            assert after < price
        elif own is not None:
            held.append(own)
        price = after
    assert price == found.unit_price >= 0


@given(worlds())
def test_unit_price_has_at_most_six_decimals_and_the_total_those_of_its_currency(world):
    found = adapter.resolve(world).price
    if found is None:
        return
    places = oracle.EXPONENTS[world.currency]
    total = line_total(found.unit_price, world.quantity, found.price_base_quantity, world.currency)
    assert found.unit_price == round(found.unit_price, 6)
    assert -total.as_tuple().exponent == places
    exact = Fraction(found.unit_price) * world.quantity / found.price_base_quantity
    assert -Fraction(1, 2) < (exact - Fraction(total)) * 10**places < Fraction(1, 2) or (
        Fraction(total) - exact
    ) * 10**places == Fraction(1, 2)


@given(worlds())
def test_what_a_promotion_takes_is_within_its_budget(world):
    found = adapter.resolve(world).price
    if found is None:
        return
    left = {str(one.id): one.budget - one.spent for one in world.promotions if one.budget is not None}
    assert all(amount <= left.get(key, amount) for key, amount in found.redeemed)
    adjusted = [one["source_id"] for one in found.trace if one["matched"] and one["source_type"] == "promotion"]
    assert [key for key, _ in found.redeemed] == adjusted


@given(worlds())
def test_agreed_prices_are_adjusted_by_no_rule(world):
    found = adapter.resolve(world).price
    if found is not None and found.source is Source.CONTRACT:
        assert not [one for one in found.trace if one["source_type"] == "rule" and one["matched"]]


@given(PRICES, PERCENTS, QUANTITIES, st.sampled_from([1, 3, 7, 1000]), st.sampled_from(list(oracle.EXPONENTS)))
def test_arithmetic_is_that_of_fractions(price, percent, quantity, base, currency):
    places = oracle.EXPONENTS[currency]
    fraction = Fraction(price)
    assert Fraction(less_percent(price, percent)) == oracle.half_up(fraction * (100 - Fraction(percent)) / 100, 6)
    assert Fraction(less_percent(price, -percent)) == oracle.half_up(fraction * (100 + Fraction(percent)) / 100, 6)
    assert Fraction(line_total(price, quantity, base, currency)) == oracle.half_up(fraction * quantity / base, places)
    assert Fraction(tax_of(price, percent, currency)) == oracle.half_up(fraction * Fraction(percent) / 100, places)
