"""The keys of tenant tables: a database of an earlier version gets them with its rows, and a trigger holds rows to their tenant."""

import pytest
from django.db import DatabaseError, connection, connections

from core import row_security, table_keys
from core.db import tenant_context
from core.isolation import find_faults
from organizations.models import Location
from tests.factories import provision

TABLE = "organizations_location"
# As the version before left the table: a key of `id` alone, and a second index for what refers to it.
FORMER = f"""
ALTER TABLE suppliers_stocklevel DROP CONSTRAINT suppliers_stocklevel_location_id_tenant_fk;
ALTER TABLE suppliers_stockplace DROP CONSTRAINT suppliers_stockplace_location_id_tenant_fk;
ALTER TABLE suppliers_reservation DROP CONSTRAINT suppliers_reservation_location_id_tenant_fk;
ALTER TABLE suppliers_purchaseorder DROP CONSTRAINT suppliers_purchaseorder_delivery_locati_tenant_fk;
ALTER TABLE suppliers_delivery DROP CONSTRAINT suppliers_delivery_delivery_locati_tenant_fk;
ALTER TABLE suppliers_invoice DROP CONSTRAINT suppliers_invoice_delivery_locati_tenant_fk;
ALTER TABLE suppliers_return DROP CONSTRAINT suppliers_return_delivery_locati_tenant_fk;
ALTER TABLE suppliers_receipt DROP CONSTRAINT suppliers_receipt_location_id_tenant_fk;
ALTER TABLE suppliers_shipmentdraft DROP CONSTRAINT suppliers_shipmentdraft_from_location_i_tenant_fk;
ALTER TABLE suppliers_shipmentprivate DROP CONSTRAINT suppliers_shipmentprivate_from_location_i_tenant_fk;
ALTER TABLE appointments_appointment DROP CONSTRAINT appointments_appointment_location_id_tenant_fk;
ALTER TABLE organizations_locationword DROP CONSTRAINT organizations_locationword_location_id_tenant_fk;
ALTER TABLE {TABLE} DROP CONSTRAINT organizations_location_parent_id_tenant_fk;
ALTER TABLE {TABLE} DROP CONSTRAINT {TABLE}_pkey;
ALTER TABLE {TABLE} ADD CONSTRAINT {TABLE}_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX {TABLE}_tenant_key ON {TABLE} (tenant_id, id);
ALTER TABLE {TABLE} ADD CONSTRAINT organizations_location_parent_id_tenant_fk
  FOREIGN KEY (tenant_id, parent_id) REFERENCES {TABLE} (tenant_id, id) DEFERRABLE
"""


def on_owner(sql):
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else None


def keys():
    return on_owner(
        f"SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = '{TABLE}'::regclass ORDER BY 1"
    )


def test_table_of_the_version_before_gets_its_keys_and_keeps_its_rows():
    tenant = provision()
    with tenant_context(tenant.id):
        parent = Location.objects.create(tenant=tenant, name="Above", type="ward")
        Location.objects.create(tenant=tenant, name="Below", type="ward", parent=parent)
        rows = sorted(Location.objects.values_list("id", "parent_id"))
    before = keys()
    on_owner(FORMER)
    assert keys() != before

    table_keys.build(connections["owner"])

    assert keys() == before
    assert find_faults(connections["default"]) == []
    with tenant_context(tenant.id):
        assert sorted(Location.objects.values_list("id", "parent_id")) == rows


def test_built_keys_are_left_alone():
    def indexes():
        return on_owner("SELECT indexrelid, indexrelid::regclass::text FROM pg_index ORDER BY 1")

    before = indexes()
    table_keys.build(connections["owner"])

    assert indexes() == before


@pytest.mark.parametrize("change", ["INSERT", "UPDATE"])
def test_trigger_holds_rows_to_the_bound_tenant_where_no_policy_is_checked(change):
    mine, theirs = provision(), provision()
    with tenant_context(theirs.id):
        row = Location.objects.create(tenant=theirs, name="Ward", type="ward")
    on_owner(f"ALTER TABLE {TABLE} DISABLE ROW LEVEL SECURITY")
    try:
        with pytest.raises(DatabaseError, match="tenant that is not bound"), tenant_context(mine.id):
            if change == "INSERT":
                Location.objects.create(tenant=theirs, name="Another", type="ward")
            else:
                with connection.cursor() as cursor:
                    cursor.execute(f"UPDATE {TABLE} SET name = 'Mine' WHERE id = %s", [row.id])
    finally:
        row_security.build(connections["owner"])


def test_primary_keys_of_the_three_kinds_of_tables():
    from ledger.models import Pending
    from webhooks.models import Attempt

    assert table_keys.key_columns(Location) == ("tenant_id", "id")
    assert table_keys.key_columns(Pending) == ("id", "tenant_id")
    assert table_keys.key_columns(Attempt) == ("created_at", "id", "tenant_id")
