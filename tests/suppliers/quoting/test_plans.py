"""How PostgreSQL finds what a quote is priced by: every table by an index that begins with its supplier, or with the buyer."""

import json

import pytest
from django.db import connection, connections, transaction

from bench.seed_products import seed
from core.clock import now
from core.db import MARKET, bind_tenant, take_on_call
from core.ids import uuid7
from core.pipeline import run
from suppliers.quoting.candidates import Asked, market_call, supplier_call
from suppliers.storefront.market.shapes import one_call
from tests import factories
from tests.suppliers.market.test_plans import OFFER_ALL, PUBLIC, STEPS, nodes

SMALL = {"organizations_tenant", "organizations_organization", "suppliers_platformcategory"}
PRICES = """
INSERT INTO suppliers_listprice (id, tenant_id, created_at, updated_at, version, product_id, packaging_id, currency,
  price_base_quantity, valid_from)
SELECT gen_random_uuid(), k.tenant_id, now(), now(), 1, k.product_id, k.id, 'EUR', 1, date '2026-01-01'
FROM suppliers_packaging k WHERE k.tenant_id = ANY(%s)
"""
LISTS = """
INSERT INTO suppliers_pricelist (id, tenant_id, created_at, updated_at, version, code, name, currency, status, priority, scope,
  audience_id, entry_count)
SELECT gen_random_uuid(), t, now(), now(), 1, 'L' || n, 'List', 'EUR', 'active', 0, 'public', %s, 0
FROM unnest(%s) t, generate_series(1, 40) n
"""
RULES = """
INSERT INTO suppliers_pricingrule (id, tenant_id, created_at, updated_at, version, code, name, status, priority, conditions,
  audience_id, action_type, action_value, exclusive, applies_to_offers)
SELECT gen_random_uuid(), t, now(), now(), 1, 'R' || n, 'Rule', 'active', 0, '{}', %s, 'percent', 1, false, false
FROM unnest(%s) t, generate_series(1, 60) n
"""
# Small agreements, so that to read one whole seems cheap; another one may have ten thousand lines. Every second line is for
# a category.
LINES = """
INSERT INTO suppliers_receivedagreementline (id, tenant_id, document_id, line_no, product_id, category, price_base_quantity, tiers,
  consumed)
SELECT gen_random_uuid(), p.tenant_id, md5(p.tenant_id::text || p.n / 25)::uuid, p.n,
  CASE WHEN p.n %% 2 = 0 THEN p.id END, CASE WHEN p.n %% 2 = 1 THEN 'c' || p.n END, 1, '[]', 0
FROM (SELECT tenant_id, id, row_number() OVER (PARTITION BY tenant_id) AS n FROM suppliers_product WHERE tenant_id = ANY(%s)) p
"""
ANALYZED = (
    "product", "packaging", "offer", "listprice", "pricelist", "pricelistentry", "pricingrule", "promotion", "audiencemember",
    "receivedagreement", "receivedagreementline", "agreementaudience",
)  # fmt: skip


@pytest.fixture(scope="module")
def world():
    tenants = list(seed(6_000, 20, slug=f"quotes-{factories.suffix()}"))
    with connections["owner"].cursor() as cursor:
        cursor.execute(OFFER_ALL, [PUBLIC, tenants])
        for sql in (*STEPS, PRICES, LINES):
            cursor.execute(sql, [tenants])
        for sql in (LISTS, RULES):
            cursor.execute(sql, [PUBLIC, tenants])
        for table in ANALYZED:
            cursor.execute(f"ANALYZE suppliers_{table}")
    connections["owner"].close()
    return tenants, factories.provision("provider")


def explained(tenant_id, call, mode, *, as_market):
    name = f"plan_{uuid7().hex}"
    with transaction.atomic():
        bind_tenant(tenant_id)
        if as_market:
            run([take_on_call(MARKET)])
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
            cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode().replace('%', '%%')}", [])
            marks = ", ".join(["%s"] * len(call.parameters))
            cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({marks})", list(call.parameters))
            answer = cursor.fetchone()[0]
            cursor.execute(f"DEALLOCATE {name}")
    return nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])


def whole(plan):
    """Tables that a plan reads without a condition on an index, though they grow."""
    read = [node for node in plan if node.get("Relation Name")]
    return {node["Relation Name"] for node in read if "Index Cond" not in node and node["Relation Name"] not in SMALL}


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_every_table_of_a_quote_is_read_by_an_index(world, mode):
    tenants, buyer = world
    lines = [Asked(product_id=uuid7()) for _ in range(50)]
    of_market = explained(buyer.id, market_call(buyer.id, lines, now()), mode, as_market=True)
    of_supplier = supplier_call(tenants[0], buyer.id, lines, now(), whole=True)
    for plan in (of_market, explained(tenants[0], of_supplier, mode, as_market=False)):
        assert whole(plan) == set()
        assert {"suppliers_product_pkey", "suppliers_listprice_one_a_day"} <= {node.get("Index Name") for node in plan}


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_lines_of_agreements_are_found_by_the_product(world, mode):
    tenants, buyer = world
    lines = [Asked(product_id=uuid7()) for _ in range(50)]
    calls = (market_call(buyer.id, lines, now()), one_call(buyer.id, uuid7()))
    plans = [explained(buyer.id, one, mode, as_market=True) for one in calls]
    plans.append(explained(tenants[0], supplier_call(tenants[0], buyer.id, lines, now()), mode, as_market=False))
    for plan in plans:
        read = [one for one in plan if one.get("Relation Name") == "suppliers_receivedagreementline"]
        assert len(read) == 2
        assert all("product_id" in one["Index Cond"] or "category" in one["Index Cond"] for one in read)


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_one_product_of_the_catalog_is_found_by_its_offer(world, mode):
    _, buyer = world
    plan = explained(buyer.id, one_call(buyer.id, uuid7()), mode, as_market=True)
    assert whole(plan) == set()
    assert "suppliers_market_offers" in {node.get("Index Name") for node in plan}
