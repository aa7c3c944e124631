"""The price in the buyer's catalogue, whose page is read by a statement of its own, is the oracle's for one pack."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings

from core.arrays import array_literal
from core.clock import now
from core.conditions import Condition
from core.db import bind_tenant
from core.pipeline import run
from suppliers.marketplace.queries import as_market
from suppliers.pricing.amounts import shown
from suppliers.storefront.market.shapes import one_call, page_call, seen_of, shared_by_supplier, written
from suppliers.storefront.sorts import Sort
from tests.suppliers.pricing import golden, oracle, rows
from tests.suppliers.pricing.generated import worlds
from tests.suppliers.pricing.worlds import TODAY

pytestmark = pytest.mark.untraced

ROWS = [one for one in golden.rows() if one.world.quantity == 1 and one.world.on == TODAY]


@pytest.fixture(scope="module")
def market(real_commits):
    return rows.market()


def catalog(market, given_worlds):
    """Return the products that are asked for, as a page of the catalogue and as each product's own address show them."""
    wanted = [str(side.product(world)) for side, world in zip(market.sides, given_worlds, strict=False)]
    suppliers = array_literal(side.shelf.id for side in market.sides)
    condition = Condition("t.supplier_id = ANY({0}::uuid[])", (suppliers,))
    page = page_call(market.buyer.id, Sort("created_at", "timestamptz", down=True), [condition], after=None, limit=50)
    single = [one_call(market.buyer.id, product) for product in wanted]
    with rows.written(market, given_worlds, today=now().date()):
        bind_tenant(market.buyer.id)
        found = [seen_of(one) for one in run(as_market([page, *single]))[1:]]
    shown_products = [{one["id"]: one for one in _written(seen)} for seen in found]
    return [(shown_products[0][key], alone[key]) for key, alone in zip(wanted, shown_products[1:], strict=True)]


def _written(seen):
    shared = shared_by_supplier(seen)
    return [orjson.loads(written(one, shared[one.supplier_id], {})) for one in seen]


def check(side, world, product):
    """Hold a product's price to the oracle: in the buyer's currency where it has one, else in another one."""
    if product["packaging"]["id"] != str(side.packaging(world)):
        assert not all(one.visible for one in world.offers)
        assert product["price"] is None
        return
    one_pack = replace(world, quantity=1)
    judged = {
        code: oracle.judge(replace(one_pack, currency=code))
        for code in ("EUR", "JPY", "KWD", "CLF", "UYW", "NOK", "USD")
    }
    price = product["price"]
    if price is None:
        assert not any(judged.values())
        return
    wanted = judged[price["currency"]]
    assert wanted is not None
    assert price["currency"] == "EUR" or judged["EUR"] is None
    names = side.names(world)
    found = names[price["source_id"]], price["unit_price"], price["price_base_quantity"]
    assert found == (wanted.source, shown(wanted.unit_price), wanted.per)
    adjusted = [one for one in price["trace"] if one["matched"] and one["source_type"] in {"rule", "promotion"}]
    assert tuple(names[one["source_id"]] for one in adjusted) == wanted.adjusted_by


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_catalog_shows_what_the_golden_table_says(market, row):
    ((of_page, alone),) = catalog(market, [row.world])
    check(market.sides[0], row.world, of_page)
    assert alone == of_page
    price = of_page["price"]
    if row.source is not None and price is not None and price["currency"] == row.world.currency:
        assert price["unit_price"] == shown(row.unit_price)


def test_page_of_two_suppliers_shows_what_the_oracle_says(market, long):
    @settings(max_examples=1000 if long else 100)
    @given(worlds(), worlds())
    def agree(one, two):
        found = catalog(market, [one, two])
        for side, world, (of_page, alone) in zip(market.sides, (one, two), found, strict=True):
            check(side, world, of_page)
            assert alone == of_page

    agree()
