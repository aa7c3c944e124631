"""What the market's role reads of promotions, and how PostgreSQL finds them among thousands."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections, transaction
from django.http import QueryDict

from api.listing import page_call, read_query
from core import clock
from core.db import MARKET, bind_tenant, take_on_call, tenant_context
from core.ids import uuid7
from core.pipeline import run
from organizations.models import Tenant
from suppliers.terms.promotions.models import Promotion
from suppliers.terms.promotions.views import PromotionViewSet
from tests.factories import Api, provision
from tests.suppliers.terms.test_promotions import put
from tests.suppliers.terms.test_redeeming import promotion, take

MANY = 10_000


def seen(buyer: Tenant, table: str, supplier: Tenant, column: str) -> list[Any]:
    """Return what the market's role sees of a supplier, without any condition of ours."""
    with transaction.atomic():
        bind_tenant(buyer.id)
        run([take_on_call(MARKET)])
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT {column} FROM "{table}" WHERE tenant_id = %s ORDER BY 1', [supplier.id])
            return [one for (one,) in cursor.fetchall()]


def test_the_market_reads_active_promotions_and_the_counts_of_the_bound_buyer(api: Api, supplier: Tenant) -> None:
    one, two = provision("provider"), provision("provider")
    running = promotion(api, "running", max_per_buyer=5)
    for code in ("draft", "archived"):
        put(api, code, status=code)
    for buyer, times in ((one, 2), (two, 1)):
        for _ in range(times):
            take(supplier, uuid7(), (running, "1"), buyer=buyer.id)

    assert seen(one, "suppliers_promotion", supplier, "code") == ["running"]
    assert seen(one, "suppliers_promotionbuyer", supplier, "redemptions") == [2]
    assert seen(two, "suppliers_promotionbuyer", supplier, "redemptions") == [1]
    assert seen(provision("provider"), "suppliers_promotionbuyer", supplier, "redemptions") == []


@pytest.fixture(scope="module")
def thousands() -> UUID:
    """Return a supplier with ten thousand promotions, beside others with as many."""
    at = clock.now()
    found = [provision("supplier") for _ in range(3)]
    for tenant in found:
        rows = [
            Promotion(
                tenant_id=tenant.id,
                code=f"P{number:05}",
                name=f"Promotion {number}",
                words=f" p{number:05} promotion {number}",
                status=("draft", "active", "active", "archived")[number % 4],
                action_type="percent",
                action_value=5,
                starts_at=at + timedelta(hours=number - 5_000),
                ends_at=at + timedelta(hours=number),
                created_at=at - timedelta(minutes=number * 7 % MANY),
                updated_at=at - timedelta(minutes=number * 11 % MANY),
            )
            for number in range(MANY)
        ]
        with tenant_context(tenant.id):
            Promotion.objects.bulk_create(rows, batch_size=2_000)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE suppliers_promotion")
    connections["owner"].close()
    return found[1].id


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan] + [node for child in plan.get("Plans", ()) for node in _nodes(child)]


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "suppliers_promotion_created"),
        ("sort=-updated_at", "suppliers_promotion_updated"),
        ("sort=code", "suppliers_promotion_code_taken"),
        ("status=active", "suppliers_promotion_created"),
        ("state=running", "suppliers_promotion_created"),
    ],
)
def test_a_list_is_found_by_its_index(thousands: UUID, query: str, index: str, mode: str) -> None:
    call = page_call(read_query(PromotionViewSet.listing, QueryDict(query), "page"), thousands, page=1, limit=20)
    name = f"plan_{uuid7().hex}"
    with tenant_context(thousands), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
        cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode()}")
        marks = ", ".join(["%s"] * len(call.parameters))
        arguments = [value.decode() if isinstance(value, bytes) else value for value in call.parameters]
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({marks})", arguments)
        answer = cursor.fetchone()[0]
        cursor.execute(f"DEALLOCATE {name}")
    nodes = _nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])

    assert index in {node.get("Index Name") for node in nodes}
    assert ("Seq Scan", "suppliers_promotion") not in {(one["Node Type"], one.get("Relation Name")) for one in nodes}
