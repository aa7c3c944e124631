"""The rows of `./dev bench price` beside the seeded products: offers, price lists, rules, promotions and agreements.

They are written by the administrator of the server, set by set and without triggers, as the actions would have left them.
Every supplier offers `OFFERED` products to everybody, lists prices of all, assigns a list to the hospital, and has an agreement
with it over half of what is offered. The newest products of the market are one of each supplier.
"""

import time
from typing import Any, Final

import psycopg

from .supply_rows import show

OFFERED: Final = 50  # products of each supplier, the lowest numbers first
RULES: Final = 8
PROMOTIONS: Final = 3
TABLES: Final = (
    "suppliers_product", "suppliers_packaging", "suppliers_offer", "suppliers_listprice", "suppliers_listpricetier",
    "suppliers_pricelist", "suppliers_pricelistentry", "suppliers_pricingrule", "suppliers_promotion",
    "suppliers_receivedagreement", "suppliers_receivedagreementline", "suppliers_agreementaudience",
    "suppliers_audience", "suppliers_audiencemember", "suppliers_marketword",
)  # fmt: skip
_STAGE = """
CREATE UNLOGGED TABLE bench_price AS
SELECT b.*, n <= %(offered)s AS offered FROM (
  SELECT p.tenant_id, p.id, k.id AS packaging_id, t.place, row_number() OVER (PARTITION BY p.tenant_id ORDER BY p.supplier_sku) AS n,
    uuidv7() AS price_id
  FROM unnest(%(tenants)s::uuid[]) WITH ORDINALITY t (id, place)
  JOIN suppliers_product p ON p.tenant_id = t.id
  JOIN suppliers_packaging k ON k.tenant_id = p.tenant_id AND k.product_id = p.id AND k.state = 'current'
  WHERE p.supplier_sku LIKE 'SKU-%%' AND p.archived_at IS NULL AND p.status = 'active') b
"""
_TERMS = "CREATE UNLOGGED TABLE bench_terms AS SELECT t AS tenant_id, uuidv7() AS audience_id, uuidv7() AS list_id, uuidv7() AS agreement_id FROM unnest(%(tenants)s::uuid[]) t"
_COPIES: Final = (
    # The newest of the market: one product of each supplier, then the second of each, and so on.
    """UPDATE suppliers_product p SET created_at = timestamptz '2026-06-01' - b.n * interval '1 hour' - b.place * interval '1 second'
FROM bench_price b WHERE b.offered AND p.tenant_id = b.tenant_id AND p.id = b.id""",
    """INSERT INTO suppliers_offer (id, tenant_id, created_at, updated_at, version, product_id, packaging_id, title, status,
  currency, tiers, price_base_quantity, stock_policy, stock_display, countries, visibility_mode, audience_id)
SELECT uuidv7(), tenant_id, now(), now(), 1, id, packaging_id, '', 'published', '', '[]', 1, 'made_to_order', 'exact', '[]',
  'public', %(everybody)s FROM bench_price WHERE offered""",
    """INSERT INTO suppliers_listprice (id, tenant_id, created_at, updated_at, version, product_id, packaging_id, currency,
  price_base_quantity, valid_from)
SELECT price_id, tenant_id, now(), now(), 1, id, packaging_id, 'EUR', 1, date '2025-01-01' FROM bench_price""",
    """INSERT INTO suppliers_listpricetier (id, tenant_id, created_at, updated_at, version, price_id, min_quantity, unit_price)
SELECT uuidv7(), tenant_id, now(), now(), 1, price_id, q, 12.5 - q / 50.0 FROM bench_price, unnest(array[1, 50]) q""",
    """INSERT INTO suppliers_audience (id, tenant_id, created_at, updated_at, version, digest, tenant_ids, organization_ids, group_codes)
SELECT audience_id, tenant_id, now(), now(), 1, 'bench', jsonb_build_array(%(buyer)s::text), '[]', '[]' FROM bench_terms""",
    """INSERT INTO suppliers_audiencemember (tenant_id, audience_id, member_tenant_id)
SELECT tenant_id, audience_id, %(buyer)s FROM bench_terms""",
    """INSERT INTO suppliers_pricelist (id, tenant_id, created_at, updated_at, version, code, name, currency, status, priority, scope,
  audience_id, entry_count)
SELECT list_id, tenant_id, now(), now(), 1, 'HOSPITALS', 'Hospitals', 'EUR', 'active', 10, 'tenants', audience_id,
  (SELECT count(*) FROM bench_price b WHERE b.tenant_id = t.tenant_id AND b.n %% 2 = 0) FROM bench_terms t""",
    """INSERT INTO suppliers_pricelistentry (id, tenant_id, created_at, updated_at, version, price_list_id, product_id, packaging_id,
  price_base_quantity, tiers)
SELECT uuidv7(), b.tenant_id, now(), now(), 1, t.list_id, b.id, b.packaging_id, 1,
  '[{"min_quantity": 1, "unit_price": "11.40"}, {"min_quantity": 50, "unit_price": "10.90"}]'
FROM bench_price b JOIN bench_terms t USING (tenant_id) WHERE b.n %% 2 = 0""",
    """INSERT INTO suppliers_pricingrule (id, tenant_id, created_at, updated_at, version, code, name, status, priority, conditions,
  audience_id, action_type, action_value, exclusive, applies_to_offers)
SELECT uuidv7(), tenant_id, now(), now(), 1, 'R' || n, 'Rule ' || n, 'active', n, jsonb_build_object('product_ids', '[]'::jsonb,
  'categories', CASE WHEN n %% 2 = 0 THEN '["gloves"]'::jsonb ELSE '[]' END, 'buyer_ids', '[]'::jsonb, 'groups', '[]'::jsonb,
  'countries', '[]'::jsonb, 'currencies', '[]'::jsonb, 'min_quantity', CASE WHEN n %% 4 = 1 THEN 10 END, 'min_amount', NULL),
  %(everybody)s, 'percent', n, false, false FROM bench_terms, generate_series(1, %(rules)s) n""",
    """INSERT INTO suppliers_promotion (id, tenant_id, created_at, updated_at, version, code, name, status, priority, conditions,
  audience_id, action_type, action_value, applies_to_offers, starts_at, ends_at, spent, redemptions, combinable,
  applies_to_contracts, told, words)
SELECT uuidv7(), tenant_id, now(), now(), 1, 'P' || n, 'Promotion ' || n, 'active', n, jsonb_build_object('product_ids', '[]'::jsonb,
  'categories', '[]'::jsonb, 'buyer_ids', '[]'::jsonb, 'groups', '[]'::jsonb, 'countries', '[]'::jsonb,
  'currencies', '["EUR"]'::jsonb, 'min_quantity', NULL, 'min_amount', NULL),
  %(everybody)s, 'percent', n, true, timestamptz '2026-01-01', timestamptz '2036-01-01', 0, 0, n %% 2 = 0, false, 'running', ''
FROM bench_terms, generate_series(1, %(promotions)s) n""",
    """INSERT INTO suppliers_receivedagreement (id, tenant_id, owner_tenant_id, agreement_id, revision, number, status, version,
  representation, received_at, updated_at, currency, priority, valid_from, valid_to, scope, scope_id, group_code)
SELECT agreement_id, tenant_id, %(buyer)s, agreement_id, 1, 'PA-' || left(agreement_id::text, 13), 'active', 1, '{}', now(), now(),
  'EUR', 0, date '2026-01-01', date '2036-01-01', 'tenant', %(buyer)s, '' FROM bench_terms""",
    """INSERT INTO suppliers_agreementaudience (tenant_id, agreement_id, member_tenant_id, distance)
SELECT tenant_id, agreement_id, %(buyer)s, 0 FROM bench_terms""",
    """INSERT INTO suppliers_receivedagreementline (id, tenant_id, document_id, line_no, product_id, packaging_id, price_base_quantity,
  tiers, consumed)
SELECT uuidv7(), b.tenant_id, t.agreement_id, b.n, b.id, b.packaging_id, 1,
  '[{"min_quantity": 1, "unit_price": "9.80"}, {"min_quantity": 100, "unit_price": "9.50"}]', 0
FROM bench_price b JOIN bench_terms t USING (tenant_id) WHERE b.offered AND b.n %% 2 = 1""",
)


def fill(connection: "psycopg.Connection[Any]", tenants: list[str], buyer: str) -> float:
    """Give these suppliers prices and terms for the buyer; return the seconds it took, 0 if they have them already."""
    from suppliers.marketplace.states import EVERYBODY

    started = time.monotonic()
    given = {
        "tenants": tenants, "buyer": buyer, "everybody": EVERYBODY, "offered": OFFERED, "rules": RULES,
        "promotions": PROMOTIONS,
    }  # fmt: skip
    if connection.execute(
        "SELECT 1 FROM suppliers_pricingrule WHERE tenant_id = ANY(%(tenants)s) LIMIT 1", given
    ).fetchone():
        return 0.0
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("SET LOCAL work_mem = '256MB'")
        connection.execute("DROP TABLE IF EXISTS bench_price, bench_terms")
        for sql in (_STAGE, _TERMS, *_COPIES):
            connection.execute(sql, given)
        connection.execute("DROP TABLE bench_price, bench_terms")
    for table in TABLES:
        connection.execute(f"VACUUM (ANALYZE) {table}")
    show(connection, tenants)
    return time.monotonic() - started


def offered(connection: "psycopg.Connection[Any]", tenants: list[str]) -> dict[str, list[str]]:
    """The ids of the products that each supplier offers, the newest of the market first."""
    sql = (
        "SELECT o.tenant_id::text, array_agg(o.product_id::text ORDER BY p.created_at DESC) FROM suppliers_offer o"
        " JOIN suppliers_product p ON p.tenant_id = o.tenant_id AND p.id = o.product_id"
        " WHERE o.tenant_id = ANY(%s::uuid[]) AND o.on_market AND p.on_market GROUP BY 1"
    )
    return dict(connection.execute(sql, [tenants]).fetchall())


def skus(connection: "psycopg.Connection[Any]", tenant: str, count: int) -> list[str]:
    """SKUs of as many products of a supplier."""
    sql = (
        "SELECT supplier_sku FROM suppliers_product WHERE tenant_id = %s AND archived_at IS NULL AND supplier_sku LIKE 'SKU-%%'"
        " ORDER BY supplier_sku LIMIT %s"
    )
    return [row[0] for row in connection.execute(sql, [tenant, count]).fetchall()]
