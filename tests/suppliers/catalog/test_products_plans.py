"""How PostgreSQL finds products as the application's role: by the indexes, under row security, with prepared statements."""

import json
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.http import QueryDict

from api.found_rows import FEW
from api.listing import page_call, read_query
from bench.seed_products import seed
from core.db import tenant_context
from core.ids import uuid7
from core.pipeline import run
from suppliers.storefront.views import ProductViewSet
from tests.factories import suffix


@pytest.fixture(scope="module")
def big() -> UUID:
    """Return one supplier of twelve with a thousand products each, so that an index is worth its while."""
    found: UUID = seed(12_000, 12, slug=f"plans-{suffix()}")[1]
    connections["owner"].close()
    return found


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan] + [node for child in plan.get("Plans", ()) for node in _nodes(child)]


def _below(nodes: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the nodes below every node of one kind."""
    return [inner for node in nodes if node["Node Type"] == kind for inner in _nodes(node)]


def plans(tenant_id: UUID, query: str, *, mode: str) -> list[list[dict[str, Any]]]:
    """Explain the page and the total of a query, prepared as the service prepares them."""
    found = []
    for call in [page_call(read_query(ProductViewSet.listing, QueryDict(query), "page"), tenant_id, page=1, limit=20)]:
        name = f"plan_{uuid7().hex}"
        with tenant_context(tenant_id), connection.cursor() as cursor:
            cursor.execute("SELECT current_user")
            assert cursor.fetchone() == ("hp_app",)
            cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
            cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode()}")
            marks = ", ".join(["%s"] * len(call.parameters))
            arguments = [value.decode() if isinstance(value, bytes) else value for value in call.parameters]
            cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({marks})", arguments)
            answer = cursor.fetchone()[0]
            cursor.execute(f"DEALLOCATE {name}")
        found.append(_nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]))
    return found


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "suppliers_product_by_created"),
        ("sort=-updated_at", "suppliers_product_by_updated"),
        ("sort=updated_at", "suppliers_product_by_updated"),
        ("sort=name", "suppliers_product_by_name"),
        ("sort=-supplier_sku", "suppliers_product_sku_taken"),
        ("availability=limited", "suppliers_product_available"),
        ("search=00000420", "suppliers_productword_pkey"),
    ],
)
def test_a_list_is_found_by_its_index(big: UUID, query: str, index: str, mode: str) -> None:
    (page,) = plans(big, query, mode=mode)

    assert index in {node.get("Index Name") for node in page}
    for node in page:
        assert (node["Node Type"], node.get("Relation Name")) != ("Seq Scan", "suppliers_product")
        assert (node["Node Type"], node.get("Relation Name")) != ("Seq Scan", "suppliers_productword")


@pytest.mark.parametrize(
    ("query", "relation"),
    [
        ("", "suppliers_productcounter"),
        ("category=gloves", "suppliers_product"),
        ("availability=limited", "suppliers_product"),
        ("status=active", "suppliers_product"),
    ],
)
def test_a_total_reads_the_counter_or_an_index_alone(big: UUID, query: str, relation: str) -> None:
    (total,) = plans(big, query, mode="force_custom_plan")

    counted = {node["Node Type"] for node in _below(total, "Aggregate") if node.get("Relation Name") == relation}
    counter = {node["Node Type"] for node in total if node.get("Relation Name") == relation}
    assert counted == {"Index Only Scan"} if query else counter <= {"Index Scan", "Seq Scan"}


def test_a_total_of_two_filters_reads_an_index_of_one_of_them_or_both(big: UUID) -> None:
    (total,) = plans(big, "availability=limited&category=gloves", mode="force_custom_plan")

    indexes = {node.get("Index Name") for node in total if node.get("Relation Name") == "suppliers_product"}
    assert indexes <= {"suppliers_product_available", "suppliers_product_category", "suppliers_product_cat_avail"}


@pytest.fixture(scope="module")
def huge() -> UUID:
    """Return a supplier with so many products that a common word is in more of them than are fetched one by one."""
    found: UUID = seed(44_000, 2, slug=f"many-{suffix()}")[1]
    connections["owner"].close()
    return found


@pytest.mark.parametrize("sort", ["-created_at", "name", "-supplier_sku"])
@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize(("search", "has_one_term"), [("latex", True), ("st", False)])
def test_a_common_word_finds_what_a_rare_one_would(
    huge: UUID, search: str, has_one_term: bool, sort: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.found_rows.FEW", few)
    listing = ProductViewSet.listing
    with tenant_context(huge), connection.cursor() as cursor:
        cursor.execute(
            "SELECT array_agg(p.id::text ORDER BY p.created_at DESC, p.id DESC),"
            " array_agg(p.id::text ORDER BY p.name_sort, p.id), array_agg(p.id::text ORDER BY p.supplier_sku DESC, p.id DESC),"
            " (SELECT count(DISTINCT w.word) FROM suppliers_productword w WHERE starts_with(w.word, %(search)s))"
            " FROM suppliers_product p WHERE p.archived_at IS NULL AND EXISTS (SELECT 1 FROM suppliers_productword w"
            " WHERE w.tenant_id = p.tenant_id AND w.product_id = p.id AND starts_with(w.word, %(search)s))",
            {"search": search},
        )
        *found, terms = cursor.fetchone()
        wanted = dict(zip(("-created_at", "name", "-supplier_sku"), found, strict=True))[sort]
        assert (len(wanted) > FEW, terms == 1) == (True, has_one_term)
        for page in (1, 7, len(wanted) // 20 + 1, len(wanted) // 20 + 2):
            query = read_query(listing, QueryDict(f"search={search}&sort={sort}"), "page")
            (found,) = run([page_call(query, huge, page=page, limit=20)])
            seen = [json.loads(found.value(n, 1))["id"] for n in range(len(found)) if found.value(n, 1)]
            assert (seen, int(found.value())) == (wanted[20 * page - 20 : 20 * page], len(wanted))


@pytest.mark.parametrize("search", ["gl", "st"])
def test_a_common_word_fetches_the_rows_of_its_page_alone(huge: UUID, search: str) -> None:
    query = read_query(ProductViewSet.listing, QueryDict(f"search={search}"), "page")
    call = page_call(query, huge, page=1, limit=20)
    with tenant_context(huge), connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE many AS {call.statement.sql.decode()}")
        marks = ", ".join(["%s"] * len(call.parameters))
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE many ({marks})", list(call.parameters))
        answer = cursor.fetchone()[0]
        cursor.execute("DEALLOCATE many")
    nodes = _nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])
    read = [one for one in nodes if one.get("Relation Name") == "suppliers_product" and one["Actual Loops"]]
    fetched = sum((one["Actual Rows"] + one.get("Rows Removed by Filter", 0)) * one["Actual Loops"] for one in read)
    assert 20 < fetched < FEW
