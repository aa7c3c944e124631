"""Prices by the statements that read real rows: the golden table, and generated worlds, in all exponents.

Of each world the market's role reads a page of lines of two suppliers, and each supplier, bound, reads its own line.
"""

import pytest
from hypothesis import given, settings

from suppliers.pricing.amounts import line_total
from tests.suppliers.pricing import golden, oracle, rows
from tests.suppliers.pricing.generated import worlds

ROWS = list(golden.rows())


@pytest.fixture(scope="module")
def market(real_commits):
    return rows.market()


def told(resolution, names, world):
    """Return source, unit price, total and who adjusted it, as the oracle and the table give them."""
    price = resolution.price
    if price is None:
        return None
    total = line_total(price.unit_price, world.quantity, price.price_base_quantity, world.currency)
    adjusted = tuple(
        names[one["source_id"]]
        for one in resolution.trace
        if one["matched"] and one["source_type"] in {"rule", "promotion"}
    )
    return names[price.source_id], price.unit_price, str(total), adjusted


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_statements_give_what_the_golden_table_says(market, row):
    world = row.world
    (found,) = rows.priced(market, [world], day=world.on)
    names = market.sides[0].names(world)
    wanted = None if row.source is None else (row.source, row.unit_price, row.total, row.adjusted_by)
    assert [told(one, names, world) for one in (found.market, found.bound, found.whole)] == [wanted] * 3
    for read in (found.market, found.bound, found.whole):
        reasons = {names[one["source_id"]]: one["reason"] for one in read.trace if one["source_id"] in names}
        assert {name: reasons[name] for name in row.passed_over if name in reasons} == {
            name: reason for name, reason in row.passed_over.items() if name in reasons
        }


def test_statements_function_and_oracle_agree(market, long):
    @settings(max_examples=1000 if long else 250)
    @given(worlds(), worlds())
    def agree(one, two):
        found = rows.priced(market, [one, two])
        for side, world, read in zip(market.sides, (one, two), found, strict=True):
            names = side.names(world)
            judged = oracle.judge(world)
            wanted = judged and (judged.source, judged.unit_price, str(judged.total), judged.adjusted_by)
            assert told(read.market, names, world) == wanted
            assert read.bound == read.market
            assert told(read.whole, names, world) == wanted

    agree()
