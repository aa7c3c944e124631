"""The golden table of precedence and rounding: the function, and the oracle of the other tests, give what each row says."""

from collections import Counter

import pytest

from suppliers.pricing.amounts import line_total
from tests.suppliers.pricing import adapter, golden, oracle

ROWS = list(golden.rows())


@pytest.mark.parametrize("turn", [1, -1], ids=["as written", "backwards"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_function_gives_what_the_table_says(row, turn):
    world = row.world
    found = adapter.resolve(world, turn=turn)
    names = world.names
    reasons = {names[one["source_id"]]: one["reason"] for one in found.trace if not one["matched"]}
    assert {name: reasons.get(name) for name in row.passed_over} == row.passed_over
    price = found.price
    if price is None:
        assert row.source is None
        return
    total = line_total(price.unit_price, world.quantity, price.price_base_quantity, world.currency)
    adjusted = tuple(
        names[one["source_id"]] for one in found.trace if one["matched"] and one["source_type"] in {"rule", "promotion"}
    )
    assert (names[price.source_id], price.unit_price, str(total), adjusted) == (
        row.source,
        row.unit_price,
        row.total,
        row.adjusted_by,
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_oracle_gives_what_the_table_says(row):
    found = oracle.judge(row.world)
    if found is None:
        assert row.source is None
        return
    assert (found.source, found.unit_price, str(found.total), found.adjusted_by) == (
        row.source,
        row.unit_price,
        row.total,
        row.adjusted_by,
    )


def test_table_is_whole():
    assert len(ROWS) >= 120
    assert all(row.rule for row in ROWS)
    assert {row.world.currency for row in ROWS} >= {"JPY", "EUR", "KWD", "CLF", "UYW"}
    told = Counter(reason for row in ROWS for reason in row.passed_over.values())
    assert set(told) >= {
        "below_min_quantity", "cap_exceeded", "not_yet_valid", "expired", "other_currency", "not_visible", "not_assigned",
        "lower_precedence",
    }  # fmt: skip
