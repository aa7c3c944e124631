"""How PostgreSQL finds suppliers among fifty thousand: by their names in order, as far as a page goes."""

import json

import pytest
from django.db import connections

from core.ids import uuid7
from suppliers.storefront.discovery.filters import SupplierFilters
from suppliers.storefront.discovery.http import SupplierPage
from suppliers.storefront.discovery.shapes import page_call
from suppliers.storefront.sorts import Sort
from tests import factories

MANY = 50_000
TENANTS = """
INSERT INTO organizations_tenant ({columns})
SELECT {values} FROM organizations_tenant t CROSS JOIN generate_series(1, %s) n WHERE t.id = %s
"""
PROFILES = """
INSERT INTO suppliers_supplierprofile (id, tenant_id, created_at, updated_at, version, legal_name, trade_name, country,
  registrations, addresses, contacts, currencies, ships_to, categories, tax_rates, order_settings, bank_account_last4,
  qualification_status)
SELECT uuidv7(), t.id, now(), now(), 1, CASE WHEN right(t.name, 3) = '000' THEN '' ELSE t.name END, '', 'NO', '[]', '[]', '[]',
  '[]', '[]', '[]', '[]', '{}', '', 'qualified'
FROM organizations_tenant t WHERE t.name LIKE 'Many %%'
  AND NOT EXISTS (SELECT 1 FROM suppliers_supplierprofile f WHERE f.tenant_id = t.id)
"""


@pytest.fixture(scope="module")
def crowd():
    """Fifty thousand suppliers in a transaction that is rolled back; every thousandth has no legal name. Yields a cursor."""
    tenant = factories.provision("supplier")
    own = connections["owner"].copy()  # each test closes the usual ones
    with own.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'organizations_tenant'"
            " AND table_schema = 'public' AND is_generated = 'NEVER'"
        )
        new = {"id": "uuidv7()", "slug": "'many-' || n", "name": "'Many ' || lpad(n::text, 6, '0')"}
        columns = [name for (name,) in cursor.fetchall()]
        values = ", ".join(new.get(name, f't."{name}"') for name in columns)
        names = ", ".join(f'"{name}"' for name in columns)
        cursor.execute(TENANTS.format(columns=names, values=values), [MANY, tenant.id])
        cursor.execute(PROFILES)
        for table in ("organizations_tenant", "suppliers_supplierprofile"):
            cursor.execute(f"ANALYZE {table}")
        cursor.execute("SET LOCAL enable_seqscan = off")  # as the service plans
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        yield cursor
        cursor.execute("ROLLBACK")
    own.close()


def read(cursor, query, *, sort="name", down=False, after=None, mode):
    """Explain and run a page; return the indexes by which profiles were read, how many, and what the page holds."""
    conditions = [getattr(SupplierFilters(), f"condition_{name}")(value) for name, value in query.items()]
    call = page_call(uuid7(), Sort(*SupplierPage.sorts[sort], down=down), conditions, after=after, limit=50)
    name, marks = f"plan_{uuid7().hex}", ", ".join(["%s"] * len(call.parameters))
    cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
    cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode().replace('%', '%%')}", [])
    cursor.execute(f"EXECUTE {name} ({marks})", list(call.parameters))
    page = [
        json.loads(row[0])["legal_name"] if isinstance(row[0], str) else row[0]["legal_name"]
        for row in cursor.fetchall()
    ]
    cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE {name} ({marks})", list(call.parameters))
    answer = cursor.fetchone()[0]
    cursor.execute(f"DEALLOCATE {name}")

    def nodes(plan):
        return [plan, *(node for child in plan.get("Plans", ()) for node in nodes(child))]

    plan = nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])
    scans = [one for one in plan if one.get("Relation Name") == "suppliers_supplierprofile" and one["Actual Loops"]]
    rows = sum((one["Actual Rows"] + one.get("Rows Removed by Filter", 0)) * one["Actual Loops"] for one in scans)
    return {one.get("Index Name") for one in scans}, rows, page


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("down", [False, True])
def test_page_by_name_reads_what_it_shows(crowd, mode, down):
    indexes, rows, page = read(crowd, {}, down=down, mode=mode)
    assert indexes == {"suppliers_profile_by_name", "suppliers_profile_unnamed"}
    assert rows <= 51 + 2 * MANY / 1_000 + 200  # the page, those without a name, and what other tests left
    assert len(page) == 51
    assert page == sorted(page, key=str.lower, reverse=down)


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_pages_meet_named_and_unnamed_in_one_order(crowd, mode):
    indexes, rows, page = read(crowd, {}, after=("many 024970", str(uuid7())), mode=mode)
    assert page == [f"Many {number:06}" for number in range(24_971, 25_022)]  # 25,000 has its tenant's name
    assert indexes == {"suppliers_profile_by_name", "suppliers_profile_unnamed"}
    assert rows <= 51 + 2 * MANY / 1_000 + 200


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_search_walks_the_names_in_order(crowd, mode):
    indexes, _, page = read(crowd, {"search": "many 02499"}, mode=mode)
    assert page == [f"Many {number:06}" for number in range(24_990, 25_000)]
    assert indexes == {"suppliers_profile_by_name", "suppliers_profile_unnamed"}
    common = read(crowd, {"search": "many"}, mode=mode)
    assert (len(common[2]), common[1] < 1_000) == (51, True)


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_page_by_age_reads_what_it_shows(crowd, mode):
    indexes, rows, page = read(crowd, {}, sort="created_at", down=True, mode=mode)
    assert "suppliers_profile_by_created" in indexes
    assert len(page) == 51
    assert rows <= MANY / 10
