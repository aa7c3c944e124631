"""Fill the catalog with many products of many suppliers, by SQL as the owner, the way the actions would have left it.

    python -m bench.seed_products --products 1000000 --tenants 1000

The first tenant holds a tenth of all rows, the others share the rest. Run again, it finds its tenants filled and stops.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TABLES = ("suppliers_product", "suppliers_packaging", "suppliers_productword")

_GTIN_BODY = "'40' || lpad(g::text, 10, '0')"
_WEIGHTED = " + ".join(
    f"substr({_GTIN_BODY}, {place}, 1)::int * {3 if place % 2 == 0 else 1}" for place in range(1, 13)
)
_GTIN = f"'0' || {_GTIN_BODY} || ((10 - ({_WEIGHTED}) %% 10) %% 10)::text"
_HASH = "(hashint4(g + {0})::bigint + 2147483648)"
_GONE = f"{_HASH.format(23)} %% 100 = 1"

_TENANTS = "CREATE TEMPORARY TABLE seeded (n int PRIMARY KEY, tenant_id uuid NOT NULL)"
_NUMBERED = f"""
CREATE TEMPORARY TABLE numbered AS
SELECT g, uuidv7() AS id, seeded.tenant_id
FROM generate_series(1, %s) g JOIN seeded ON seeded.n = CASE WHEN g %% 10 = 0 THEN 1 ELSE 1 + {_HASH.format(5)} %% %s END
"""
_PRODUCTS = f"""
INSERT INTO suppliers_product (id, tenant_id, created_at, updated_at, version, supplier_sku, name, description, category, kind,
 status, brand, manufacturer_name, manufacturer_part_number, base_unit, national_codes, classifications, tracking,
 expiry_required, prescription_only, substitutes, tax_category, country_of_origin, lead_time_days, attributes, availability,
 archived_at)
SELECT id, tenant_id, timestamptz '2025-01-01' + g * interval '1 second',
 timestamptz '2026-01-01' + {_HASH.format(17)} %% 15000000 * interval '1 second', 1,
 'SKU-' || lpad(g::text, 8, '0'),
 (array['Sterile','Disposable','Surgical','Medical','Pediatric','Reusable','Latex free','Nitrile','Elastic','Digital'])
  [1 + {_HASH.format(1)} %% 10] || ' ' ||
 (array['glove','syringe','catheter','bandage','mask','gown','thermometer','needle','suture','scalpel','stent','monitor',
  'cannula','swab','tube'])[1 + {_HASH.format(7)} %% 15] || ' ' ||
 (array['S','M','L','XL','10ml','20ml','5cm','10cm'])[1 + {_HASH.format(3)} %% 8] || ' ' || g,
 'Box of ' || 10 + g %% 90 || ' units, CE certified, for clinical use.',
 (array['gloves','syringes','needles','dressings','sutures','protective-apparel','infusion-supplies','implants','disinfectants',
  'patient-monitoring','surgical-instruments','in-vitro-diagnostics','laboratory-supplies','urology-supplies','dental-supplies',
  'respiratory-supplies','dialysis-supplies','blood-management','endotherapy-devices','clinical-nutrition'])
  [1 + {_HASH.format(11)} %% 20],
 'consumable', state.status, 'Brand ' || g %% 40, '', '', 'EA', '[]', '{{"unspsc": "42132200"}}', 'none',
 false, false, '[]', 'S', 'DE', g %% 14, '[]',
 (array['available','available','available','available','available','limited','backorder','unavailable'])
  [1 + {_HASH.format(13)} %% 8],
 CASE WHEN state.status = 'archived' THEN timestamptz '2026-07-01' END
FROM numbered CROSS JOIN LATERAL (SELECT CASE WHEN {_GONE} THEN 'archived' WHEN {_HASH.format(19)} %% 20 = 2 THEN 'draft'
 WHEN {_HASH.format(19)} %% 25 = 3 THEN 'discontinued' ELSE 'active' END AS status) state
"""
_PACKAGINGS = f"""
INSERT INTO suppliers_packaging (id, tenant_id, created_at, updated_at, version, product_id, position, level, name,
 units_per_pack, gtin, orderable, min_order_quantity, order_increment, state)
SELECT uuidv7(), tenant_id, timestamptz '2025-01-01', timestamptz '2025-01-01', 1, id, 0, 'inner', 'Box', 10 + g %% 90,
 {_GTIN}, true, 1, 1, CASE WHEN {_GONE} THEN 'archived' ELSE 'current' END
FROM numbered
"""
# Names, SKUs and brands of the seed are plain ASCII, so lower-casing and splitting agree with `core.search_terms`.
_WORDS = """
INSERT INTO suppliers_productword (tenant_id, word, product_id)
SELECT p.tenant_id, word COLLATE "C", p.id
FROM numbered JOIN suppliers_product p USING (id) JOIN suppliers_packaging k ON k.tenant_id = p.tenant_id AND k.product_id = p.id
CROSS JOIN LATERAL (SELECT DISTINCT word FROM string_to_table(
 translate(lower(p.supplier_sku), '-', ' ') || ' ' || k.gtin || ' ' || substr(k.gtin, 2) || ' ' || lower(p.brand || ' ' || p.name),
 ' ') word) words
"""
_COUNTERS = """
INSERT INTO suppliers_productcounter (tenant_id, draft, active, discontinued, archived)
SELECT tenant_id, count(*) FILTER (WHERE status = 'draft'), count(*) FILTER (WHERE status = 'active'),
 count(*) FILTER (WHERE status = 'discontinued'), count(*) FILTER (WHERE status = 'archived')
FROM suppliers_product JOIN seeded USING (tenant_id) GROUP BY tenant_id
"""
# Indexes that nothing refers to are built afterwards, in one go each.
_INDEXES = """
SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid), c.conname, pg_get_constraintdef(c.oid), i.indrelid::regclass::text
FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u') AND c.conrelid = i.indrelid
WHERE i.indrelid = ANY(%s::regclass[])
 AND NOT EXISTS (SELECT FROM pg_constraint f WHERE f.conindid = i.indexrelid AND f.contype = 'f')
"""


@contextmanager
def _without_indexes(cursor: Any) -> Iterator[None]:
    cursor.execute(_INDEXES, [list(TABLES)])
    found = cursor.fetchall()
    for index, _, constraint, _, table in found:
        cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{constraint}"' if constraint else f"DROP INDEX {index}")
    yield
    cursor.execute("SET LOCAL maintenance_work_mem = '512MB'")
    for _, definition, constraint, constraint_definition, table in found:
        cursor.execute(
            f'ALTER TABLE {table} ADD CONSTRAINT "{constraint}" {constraint_definition}' if constraint else definition
        )


def _tenants(wanted: int, slug: str) -> list[Any]:
    """The seed's tenants, made where they are missing."""
    from organizations.models import Organization, Tenant

    organization, _ = Organization.objects.using("owner").get_or_create(
        slug="bench-suppliers", defaults={"name": "Bench suppliers", "type": "supplier"}
    )
    rows = Tenant.objects.using("owner")
    present = set(rows.filter(slug__startswith=f"{slug}-").values_list("slug", flat=True))
    slugs = [f"{slug}-{n:05d}" for n in range(1, wanted + 1)]
    rows.bulk_create(
        Tenant(organization=organization, kinds=["supplier"], name=one, slug=one, status="active")
        for one in slugs
        if one not in present
    )
    return list(rows.filter(slug__in=slugs).order_by("slug").values_list("id", flat=True))


def seed(products: int, tenants: int, *, slug: str = "bench-supplier") -> list[Any]:
    """Make the rows in one transaction and return the tenants' ids, the big one first."""
    from django.db import connections, transaction

    ids = _tenants(tenants, slug)
    owner = connections["owner"]
    with owner.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM suppliers_productcounter WHERE tenant_id = ANY(%s))", [ids])
        if cursor.fetchone()[0]:
            return ids
    with transaction.atomic(using="owner"), owner.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # an index cannot be built while checks are pending
        cursor.execute("SET LOCAL work_mem = '256MB'")
        cursor.execute(_TENANTS)
        cursor.executemany("INSERT INTO seeded VALUES (%s, %s)", list(enumerate(ids, start=1)))
        cursor.execute(_NUMBERED, [products, len(ids)])
        cursor.execute("ANALYZE numbered, organizations_tenant")
        with _without_indexes(cursor):
            cursor.execute(_PRODUCTS, [])
            cursor.execute("ANALYZE suppliers_product")  # else each check of a reference is planned for an empty table
            cursor.execute(_PACKAGINGS, [])
            cursor.execute("ANALYZE suppliers_packaging")
            cursor.execute(_WORDS)
        cursor.execute(_COUNTERS)
    with owner.cursor() as cursor:
        for table in (*TABLES, "suppliers_productcounter", "organizations_tenant"):
            cursor.execute(f"VACUUM (ANALYZE) {table}")
    return ids


def main() -> None:
    """Seed from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--products", type=int, default=1_000_000)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument(
        "--slug", default="bench-supplier", help="beginning of the tenants' slugs: another one, another set"
    )
    wanted = parser.parse_args()
    if not os.environ.get("DATABASE_URL"):
        from devtools.attachment import join_servers

        join_servers(["seed_products"])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    started = time.monotonic()
    ids = seed(wanted.products, wanted.tenants, slug=wanted.slug)
    print(json.dumps({"seconds": round(time.monotonic() - started, 1), "tenants": [str(one) for one in ids[:10]]}))


if __name__ == "__main__":
    main()
