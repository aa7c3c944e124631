"""How PostgreSQL writes the band of some products anew: from those products alone, however it joins."""

import json
from typing import Any

import pytest
from django.db import connection

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from suppliers.catalog.availability import refresh_calls
from tests import factories


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan] + [node for child in plan.get("Plans", ()) for node in _nodes(child)]


@pytest.mark.parametrize("nested", ["on", "off"])
def test_the_band_is_worked_out_for_the_named_products_alone(nested: str) -> None:
    """A plan made while the table was small joined by hash, and worked out the band of each product of the supplier."""
    tenant = factories.provision("supplier")
    _, refresh = refresh_calls(tenant.id, [uuid7()], now())
    name = f"plan_{uuid7().hex}"
    with tenant_context(tenant.id), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_nestloop = {nested}")
        cursor.execute(f"PREPARE {name} AS {refresh.statement.sql.decode()}")
        marks = ", ".join(["%s"] * len(refresh.parameters))
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE {name} ({marks})", list(refresh.parameters))
        answer = cursor.fetchone()[0]
        cursor.execute(f"DEALLOCATE {name}")
    nodes = _nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"])
    read = [node for node in nodes if node.get("Relation Name") == "suppliers_product" and "Scan" in node["Node Type"]]
    assert {node["Alias"] for node in read} == {"p", "q"}
    for node in read:
        assert "ANY ($2)" in f"{node.get('Index Cond')} {node.get('Recheck Cond')} {node.get('Filter')}", node
