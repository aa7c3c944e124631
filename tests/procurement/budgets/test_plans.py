"""How PostgreSQL finds budgets as the application's role: lists in the order of an index, each step by keys alone."""

import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.http import QueryDict

from api.listing import cursor_call, read_query
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from core.pipeline import Call
from procurement.budgets.commitments import (
    Choice,
    Hold,
    budget_call,
    commit_call,
    give_back_call,
    lock_call,
    spend_call,
)
from procurement.budgets.views import BudgetViewSet
from tests.factories import provision

_BUDGETS = (
    "INSERT INTO procurement_budget (id, tenant_id, created_at, updated_at, version, code, name, amount, currency, valid_from,"
    " valid_to, cost_centers, threshold_percent, enforcement, active, committed, spent, words)"
    " SELECT uuidv7(), %s, now() - n * interval '1 minute', now(), 1, 'b-' || n, 'Budget ' || n, 1000, 'EUR', '2020-01-01',"
    " '2999-01-01', '{}', 80, 'hard', true, 0, 0, '{}' FROM generate_series(1, 2000) n"
)
_ENTRIES = (
    "INSERT INTO procurement_budgetentry (id, tenant_id, created_at, updated_at, version, budget_id, document_id, cost_center,"
    " committed, spent) SELECT uuidv7(), b.tenant_id, now(), now(), 1, b.id, uuidv7(), '', 0, 0"
    " FROM procurement_budget b, generate_series(1, 10) WHERE b.tenant_id = %s"
)
PLANS = ["force_custom_plan", "force_generic_plan"]


@pytest.fixture(scope="module")
def big() -> UUID:
    """Return a buyer with two thousand budgets and twenty thousand documents, beside another one."""
    tenants = [provision("provider"), provision("provider")]
    owner = connections["owner"]
    with owner.cursor() as cursor:
        for tenant in tenants:
            cursor.execute(_BUDGETS, [tenant.id])
            cursor.execute(_ENTRIES, [tenant.id])
        cursor.execute("ANALYZE procurement_budget, procurement_budgetentry")
    owner.close()
    return tenants[0].id


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan] + [node for child in plan.get("Plans", ()) for node in _nodes(child)]


def plan_of(tenant_id: UUID, call: Call, mode: str) -> list[dict[str, Any]]:
    """Explain a call, prepared as the service prepares it."""
    name = f"plan_{uuid7().hex}"
    with tenant_context(tenant_id), connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("hp_app",)
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
        cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode()}")
        marks = ", ".join(["%s"] * len(call.parameters))
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({marks})", list(call.parameters))
        answer = cursor.fetchone()[0]
        cursor.execute(f"DEALLOCATE {name}")
    return _nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])


@pytest.mark.parametrize("mode", PLANS)
@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("", "procurement_budget_by_created"),
        ("active_on=today", "procurement_budget_by_created"),
        ("sort=updated_at", "procurement_budget_by_updated"),
        ("sort=-code", "procurement_budget_code_taken"),
        ("code=b-7", "procurement_budget_code_taken"),
    ],
)
def test_list_is_found_by_its_index(big: UUID, query: str, index: str, mode: str) -> None:
    call = cursor_call(read_query(BudgetViewSet.listing, QueryDict(query), "cursor"), big, after=None, limit=50)

    nodes = plan_of(big, call, mode)

    assert index in {node.get("Index Name") for node in nodes}
    assert not [node for node in nodes if node["Node Type"] == "Seq Scan"]
    if not query.startswith("code="):
        assert not [node for node in nodes if node["Node Type"] == "Sort" and node["Plan Rows"] > 60]


@pytest.mark.parametrize("mode", PLANS)
@pytest.mark.parametrize("which", range(6))
def test_step_reads_its_budget_and_its_document_alone(big: UUID, which: int, mode: str) -> None:
    hold = Hold(big, uuid7(), uuid7())
    calls = [
        lock_call(big, [hold.budget_id]),
        commit_call(hold, Decimal(1), now()),
        spend_call(hold, Decimal(1), now()),
        give_back_call(hold, now()),
        budget_call(big, Choice("b-7"), now()),
        budget_call(big, Choice("b-7"), now(), lock=True),
    ]

    nodes = plan_of(big, calls[which], mode)

    reads = [
        node
        for node in nodes
        if node.get("Relation Name", "").startswith("procurement_") and "Scan" in node["Node Type"]
    ]
    assert reads
    for node in reads:
        assert node["Node Type"].startswith("Index"), node
        assert node["Index Cond"].count("=") >= 2, node
        assert node["Plan Rows"] <= 2, node
