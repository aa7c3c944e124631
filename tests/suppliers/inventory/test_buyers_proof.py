"""Planted faults in what a buyer holds: each is found by `prove_invariants` or refused by the database."""

import pytest
from django.db import IntegrityError, connections

from tests import factories
from tests.suppliers.inventory import recalls
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import broken
from tests.suppliers.inventory.test_inventory import adjust, line, place

HELD = {
    "a counter that drifted": (
        "suppliers_stocklevel",
        "UPDATE suppliers_stocklevel SET on_hand = on_hand + 1 WHERE tenant_id = %s",
    ),
    "a lot that does not follow its origin": (
        "suppliers_lot",
        "UPDATE suppliers_lot SET status = 'quarantined' WHERE tenant_id = %s",
    ),
    "a recall that nobody issued": (
        "suppliers_lot",
        "UPDATE suppliers_lot SET origin_tenant_id = NULL, origin_lot_id = NULL WHERE tenant_id = %s",
    ),
    "a recall of another lot": (
        "suppliers_lot",
        "UPDATE suppliers_lot SET origin_lot_id = gen_random_uuid() WHERE tenant_id = %s",
    ),
}


@pytest.fixture
def keeper(shelf):
    """A hospital that holds goods of a lot which its supplier has recalled."""
    tenant = factories.provision("provider")
    held = shelves.Buyer(tenant, factories.as_member(tenant, ["receiving_clerk"]))
    product = shelf.product(tracking="lot")
    shelf.offer(product)
    shelf.stock(product, 9, lot="L1")
    adjust(held, line(product, place(held), 5, lot_number="L1"))
    recalls.recall(shelf)
    recalls.walk(shelf)
    assert broken(shelf, held) == []
    return held


@pytest.mark.parametrize("fault", HELD)
def test_planted_fault_in_what_a_buyer_holds_is_found(shelf, keeper, fault):
    table, sql = HELD[fault]
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql, [keeper.id])
        assert cursor.rowcount == 1
    assert {one.table for one in broken(keeper)} == {table}
    assert broken(shelf) == []


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("own_product_id = id", "suppliers_stockitem_whose"), ("product_tenant_id = tenant_id", "suppliers_stockitem_whose"),
        ("supplier_sku = ''", "suppliers_stockitem_snapshot"), ("tracking = ''", "suppliers_stockitem_snapshot"),
    ],
)  # fmt: skip
def test_item_is_the_tenants_own_product_or_a_snapshot(keeper, change, constraint):
    with connections["owner"].cursor() as cursor, pytest.raises(IntegrityError, match=constraint):
        cursor.execute(f"UPDATE suppliers_stockitem SET {change} WHERE tenant_id = %s", [keeper.id])


def test_origin_is_another_tenants_lot(keeper):
    fault = "UPDATE suppliers_lot SET origin_tenant_id = tenant_id WHERE tenant_id = %s"
    with connections["owner"].cursor() as cursor, pytest.raises(IntegrityError, match="origin_is_anothers"):
        cursor.execute(fault, [keeper.id])
