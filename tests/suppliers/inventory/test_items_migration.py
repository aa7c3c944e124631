"""The migration that gave the stock of earlier releases its items, on rows as those releases left them."""

from importlib import import_module

from django.db import connections, transaction

from tests.suppliers.inventory.test_inventory import adjust, line, place

MIGRATION = import_module("suppliers.migrations.0020_items_of_stock")
_AS_BEFORE = (
    *(f"ALTER TABLE {table} DROP CONSTRAINT {table}_product_id_tenant_fk" for table in MIGRATION.HOLDERS),
    "DELETE FROM suppliers_stockitem WHERE own_product_id IS NOT NULL",
)


def test_stock_that_was_there_gets_its_items(shelf):
    held, kept, where = shelf.product(tracking="lot"), shelf.product(), place(shelf)
    adjust(shelf, line(held, where, lot_number="L1"))
    with transaction.atomic("owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '20s'")
        for statement in (*_AS_BEFORE, *MIGRATION.TURN):
            cursor.execute(statement)
        cursor.execute("SELECT id::text, own_product_id FROM suppliers_stockitem WHERE tenant_id = %s", [shelf.id])
        found = {key: str(own) for key, own in cursor.fetchall()}
        transaction.set_rollback(True, using="owner")
    assert found == {held["id"]: held["id"]}
    assert kept["id"] not in found
