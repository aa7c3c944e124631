"""How PostgreSQL finds products of the market: by the audience's terms where they are few, by the products in order where not."""

import json

import pytest
from django.db import connection, connections, transaction

from bench.seed_products import seed
from core.clock import now
from core.conditions import Condition
from core.db import MARKET, bind_tenant, take_on_call
from core.ids import uuid7
from core.pipeline import run
from suppliers.marketplace import searching
from suppliers.storefront.market.shapes import page_call
from suppliers.storefront.sorts import Sort
from suppliers.storefront.stock.availability import Asked, offers_call
from suppliers.storefront.stock.filters import WITH_GTIN
from tests import factories

BIG = ("suppliers_product", "suppliers_packaging", "suppliers_offer", "suppliers_marketword")
PUBLIC = "00000000-0000-0000-0000-000000000000"
OFFER_ALL = """
INSERT INTO suppliers_offer (id, tenant_id, product_id, packaging_id, title, status, currency, tiers, price_base_quantity, stock_policy,
  stock_display, countries, visibility_mode, audience_id, created_at, updated_at, version)
SELECT gen_random_uuid(), p.tenant_id, p.id, k.id, '', 'published', '', '[]', 1, 'live', 'band', '[]', 'public', %s, now(), now(), 1
FROM suppliers_product p JOIN suppliers_packaging k ON k.tenant_id = p.tenant_id AND k.product_id = p.id AND k.position = 0
WHERE p.tenant_id = ANY(%s) AND p.archived_at IS NULL
"""
STEPS = [
    "UPDATE suppliers_product p SET offered = true WHERE p.tenant_id = ANY(%s) AND p.archived_at IS NULL",
    "UPDATE suppliers_packaging k SET on_market = true WHERE k.tenant_id = ANY(%s)",
    """INSERT INTO suppliers_marketword (tenant_id, audience_id, word, product_id)
       SELECT p.tenant_id, '00000000-0000-0000-0000-000000000000', n.word, p.id FROM suppliers_product p
       CROSS JOIN LATERAL (SELECT '' AS word UNION ALL SELECT w.word FROM suppliers_productword w
                           WHERE w.tenant_id = p.tenant_id AND w.product_id = p.id) n
       WHERE p.on_market AND p.tenant_id = ANY(%s)""",
]


@pytest.fixture(scope="module")
def buyer():
    tenants = list(seed(6_000, 6, slug=f"market-{factories.suffix()}"))
    with connections["owner"].cursor() as cursor:
        cursor.execute(OFFER_ALL, [PUBLIC, tenants])
        for sql in STEPS:
            cursor.execute(sql, [tenants])
        for table in (*BIG, "suppliers_audiencemember"):
            cursor.execute(f"ANALYZE {table}")
    connections["owner"].close()
    return factories.provision("provider")


def nodes(plan):
    return [plan, *(node for child in plan.get("Plans", ()) for node in nodes(child))]


def explained(buyer, call, mode, *, without=None):
    name = f"plan_{uuid7().hex}"
    with transaction.atomic():
        bind_tenant(buyer.id)
        run([take_on_call(MARKET)])
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
            if without:
                cursor.execute(f"SET LOCAL enable_{without} = off")
            cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode().replace('%', '%%')}", [])
            marks = ", ".join(["%s"] * len(call.parameters))
            cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({marks})", list(call.parameters))
            answer = cursor.fetchone()[0]
            cursor.execute(f"DEALLOCATE {name}")
    return nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])


def read_whole(plan):
    """Nodes that read a table of the market whole; how the small tables beside them are read depends on earlier tests."""
    readers = ("Hash", "Sort", "Gather", "Gather Merge", "Materialize")
    scans = [node for node in plan if node["Node Type"] == "Seq Scan"]
    below = [one for node in plan if node["Node Type"] in readers for one in nodes(node)]
    return [one for one in [*scans, *below] if one.get("Relation Name") in BIG and "Index Cond" not in one]


NEWEST, BY_NAME = Sort("created_at", "timestamptz", True), Sort("name_sort", "text", False)


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    ("words", "few", "sort", "index"),
    [
        ((), False, NEWEST, "suppliers_market_by_created"),
        ((), False, BY_NAME, "suppliers_market_by_name"),
        (("nitrile",), False, NEWEST, "suppliers_market_by_created"),
        (("00000420",), True, NEWEST, "suppliers_marketword_pkey"),
        (("nitrile", "00000420"), True, NEWEST, "suppliers_marketword_pkey"),
    ],
)
def test_page_is_found_by_its_index(buyer, words, few, sort, index, mode):
    begin = searching.few_products(words) if few else None
    where = [] if few else searching.with_words(words)
    call = page_call(buyer.id, sort, where, few=begin, after=None, limit=50)
    plan = explained(buyer, call, mode)
    assert index in {node.get("Index Name") for node in plan}
    products = [node for node in plan if node.get("Relation Name") == "suppliers_product"]
    (looked_up,) = (node for node in products if node["Alias"] == "t")  # each of the page, by all of a key
    assert "id = " in looked_up["Index Cond"]
    assert "created_at = " in looked_up["Index Cond"] or looked_up["Index Name"] == "suppliers_product_pkey"
    walked = {node.get("Index Name") for node in plan if node is not looked_up}
    assert not few or "suppliers_market_by_created" not in walked
    scanned = {node.get("Relation Name") for node in plan if node["Node Type"] == "Seq Scan"}
    assert not scanned & {"suppliers_product", "suppliers_marketword", "suppliers_offer"}


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(("few", "index"), [(False, "suppliers_market_offers"), (True, "suppliers_marketword_pkey")])
def test_page_of_stock_is_found_by_its_index(buyer, few, index, mode):
    begin = searching.few_products(()) if few else None
    plan = explained(buyer, offers_call(buyer.id, Asked(now()), [], few=begin, after=None, limit=50), mode)
    assert index in {node.get("Index Name") for node in plan}
    assert not read_whole(plan)


def test_plan_that_reads_the_market_whole_is_found(buyer):
    call = offers_call(buyer.id, Asked(now()), [], few=None, after=None, limit=50)
    assert not read_whole(explained(buyer, call, "force_custom_plan"))
    assert read_whole(explained(buyer, call, "force_custom_plan", without="nestloop"))


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_products_of_one_supplier_are_found_by_its_index(buyer, mode):
    where = Condition("t.supplier_id = {0}::uuid", (str(uuid7()),))
    plan = explained(buyer, page_call(buyer.id, NEWEST, [where], after=None, limit=50), mode)
    assert "suppliers_market_of_supplier" in {node.get("Index Name") for node in plan}


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_count_stops_early_and_gtin_has_an_index(buyer, mode):
    plan = explained(buyer, searching.few_call(buyer.id, ()), mode)
    assert "suppliers_marketword_pkey" in {node.get("Index Name") for node in plan}
    assert "Limit" in {node["Node Type"] for node in plan}
    where = Condition(WITH_GTIN, ("{04012345678901}",))
    plan = explained(buyer, page_call(buyer.id, NEWEST, [where], after=None, limit=50), mode)
    (found,) = [one for one in plan if str(one.get("Index Name")).endswith("by_gtin")]
    assert (found["Node Type"], found["Index Name"]) == ("Index Scan", "suppliers_packaging_by_gtin")
    assert "ANY" in found["Index Cond"]


def test_form_is_chosen_by_how_many_there_are(buyer):
    def are_few(*words):
        with transaction.atomic():
            bind_tenant(buyer.id)
            return searching.are_few(run([take_on_call(MARKET), searching.few_call(buyer.id, words)])[-1])

    assert not are_few()
    assert are_few("00000420")
