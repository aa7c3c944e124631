"""Makes an item of each product that a tenant has stock of, and lets lots, levels and serials refer to it.

Safe: it locks three tables for as long as it takes to write one row for each stocked product and to check the new keys.
A process of the former release that puts a product on a shelf for the first time is refused by the keys until it is replaced;
all other movements go on.
"""

from django.db import migrations

HOLDERS = ("suppliers_lot", "suppliers_serial", "suppliers_stocklevel")
_FILL = """
INSERT INTO suppliers_stockitem (id, tenant_id, created_at, updated_at, version, product_tenant_id, own_product_id, supplier_sku,
  name, category, kind, base_unit, tracking, expiry_required, gtins, codes, packagings)
SELECT p.id, p.tenant_id, now(), now(), 1, p.tenant_id, p.id, '', '', '', '', '', '', false, '{}', '{}', '[]'
FROM suppliers_product p
WHERE EXISTS (SELECT 1 FROM suppliers_lot h WHERE h.tenant_id = p.tenant_id AND h.product_id = p.id)
   OR EXISTS (SELECT 1 FROM suppliers_serial h WHERE h.tenant_id = p.tenant_id AND h.product_id = p.id)
   OR EXISTS (SELECT 1 FROM suppliers_stocklevel h WHERE h.tenant_id = p.tenant_id AND h.product_id = p.id)
"""
TURN = [
    f"LOCK TABLE {', '.join(HOLDERS)} IN SHARE ROW EXCLUSIVE MODE",
    "ALTER TABLE suppliers_stockitem DROP CONSTRAINT suppliers_stockitem_pkey",
    "ALTER TABLE suppliers_stockitem ADD CONSTRAINT suppliers_stockitem_pkey PRIMARY KEY (tenant_id, id)",
    _FILL,
    "SET CONSTRAINTS ALL IMMEDIATE",
    *(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_product_id_tenant_fk" for table in HOLDERS),
    *(
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_product_id_tenant_fk FOREIGN KEY (tenant_id, product_id)"
        " REFERENCES suppliers_stockitem (tenant_id, id) DEFERRABLE INITIALLY IMMEDIATE"
        for table in HOLDERS
    ),
]


class Migration(migrations.Migration):
    """Rows and keys; backward there is nothing to do."""

    dependencies = [("suppliers", "0019_stock_items")]

    operations = [migrations.RunSQL(TURN, migrations.RunSQL.noop)]
