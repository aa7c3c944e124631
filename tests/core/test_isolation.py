"""The check of the walls between tenants: silent when they stand, and it names each hole that is made."""

import pytest
from django.db import connections

from core import row_security, table_keys
from core.faults import Fault
from core.isolation import find_faults
from organizations.models import Location

TABLE = "organizations_location"
HOLES = {
    "row security is off": f"ALTER TABLE {TABLE} DISABLE ROW LEVEL SECURITY",
    "row security is not forced": f"ALTER TABLE {TABLE} NO FORCE ROW LEVEL SECURITY",
    "no policy for hp_app": f"DROP POLICY hp_own ON {TABLE}",
    "the policy of hp_app does not limit rows to the bound tenant": f"ALTER POLICY hp_own ON {TABLE} USING (true)",
    "an undeclared policy for public": f"CREATE POLICY anybody ON {TABLE} USING (true)",
    "the trigger that holds rows to the bound tenant is missing": f"DROP TRIGGER hp_hold_tenant ON {TABLE}",
    "the trigger hp_hold_tenant does not hold rows to the bound tenant": f"""
      CREATE OR REPLACE TRIGGER hp_hold_tenant BEFORE INSERT OR UPDATE ON {TABLE} FOR EACH ROW WHEN (false)
      EXECUTE FUNCTION hp_refuse_tenant()""",
    "the policy of hp_app holds a sub-select": f"""
      ALTER POLICY hp_own ON {TABLE} USING (tenant_id = (SELECT NULLIF(current_setting('app.tenant_id', true), '')::uuid))""",
    f"the foreign key (parent_id, tenant_id) to {TABLE} does not hold the tenant": f"""
      ALTER TABLE {TABLE} ADD CONSTRAINT stray FOREIGN KEY (parent_id, tenant_id) REFERENCES {TABLE} (tenant_id, id) NOT VALID""",
    "the unique key stray does not hold tenant_id": f"CREATE UNIQUE INDEX stray ON {TABLE} (id, name)",
    "the unique key stray repeats the primary key": f"CREATE UNIQUE INDEX stray ON {TABLE} (id, tenant_id)",
    f"the name {'x' * 56} has more than 55 letters": f"CREATE INDEX {'x' * 56} ON {TABLE} (name)",
}


def on_owner(sql):
    with connections["owner"].cursor() as cursor:
        cursor.execute(sql)


@pytest.fixture
def mended():
    yield
    on_owner(f"DROP POLICY IF EXISTS anybody ON {TABLE}")
    on_owner(f"ALTER TABLE {TABLE} DROP CONSTRAINT IF EXISTS stray")
    on_owner(f"DROP INDEX IF EXISTS stray, {'x' * 56}")
    row_security.build(connections["owner"])
    table_keys.build(connections["owner"])


def test_walls_as_built_have_no_fault():
    assert find_faults(connections["default"]) == []


@pytest.mark.parametrize("what", HOLES)
def test_hole_in_the_wall_is_named(what, mended):
    on_owner(HOLES[what])

    assert Fault(TABLE, what) in find_faults(connections["default"])


def test_missing_composite_key_is_named(mended):
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f' AND confrelid = conrelid",
            [TABLE],
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f'ALTER TABLE {TABLE} DROP CONSTRAINT "{name}"')

    faults = find_faults(connections["default"])

    assert Fault(TABLE, f"no composite key (tenant_id, parent_id) to {Location._meta.db_table}") in faults


def test_table_with_a_tenant_that_declares_nothing_is_named():
    on_owner("CREATE TABLE stray_rows (id int, tenant_id uuid)")
    try:
        assert Fault("stray_rows", "has tenant_id but declares no security") in find_faults(connections["default"])
    finally:
        on_owner("DROP TABLE stray_rows")


def test_foreign_key_from_a_global_table_to_a_tenants_is_named():
    on_owner(f"CREATE TABLE stray_rows (id int, place uuid, owner uuid, FOREIGN KEY (owner, place) REFERENCES {TABLE})")
    try:
        assert Fault("stray_rows", f"a foreign key leads from this global table to {TABLE}") in find_faults(
            connections["default"]
        )
    finally:
        on_owner("DROP TABLE stray_rows")
