"""What the roll-ups of a receipt read: its own delivery, whatever else the supplier has delivered."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid5

import pytest
from django.db import connection, connections

from core.db import tenant_context
from suppliers.analytics.rolling import deliveries_calls
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.copies import write
from tests.suppliers.analytics.naive import Arrival, Line, Order

MANY = 200
TABLES = ("suppliers_receiveddelivery", "suppliers_receivedreceipt", "suppliers_receivedorder")


def orders(trade: Trade) -> list[Order]:
    """Return orders of one line that came whole."""
    sent = datetime(2026, 3, 1, tzinfo=UTC)
    found = []
    for number in range(MANY):
        came = [Arrival(sent + timedelta(hours=number), 6, 0)]
        line = Line(UUID(trade.gloves["id"]), "gloves", 6, 0, 6, 6, Decimal("7.25"), None, date(2026, 3, 29), came)
        key = uuid5(trade.shelf.id, f"order {number}")
        found.append(Order(key, trade.buyer.id, trade.ward, "EUR", sent, sent + timedelta(minutes=9), [line]))
    return found


def rows_read(node: dict[str, Any], table: str) -> int:
    """Return how many rows of a table a plan looked at."""
    mine = 0
    if node.get("Relation Name") == table:
        left_out = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        mine = round((node["Actual Rows"] + left_out) * node["Actual Loops"])
    return mine + sum(rows_read(one, table) for one in node.get("Plans", ()))


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_receipt_reads_its_own_delivery(trade: Trade, mode: str) -> None:
    tenant = trade.shelf.id
    with tenant_context(tenant):
        key = write(tenant, orders(trade))[MANY // 2]
    with connections["owner"].cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ANALYZE {table}")
    call = deliveries_calls(tenant, [key])[1]
    values = ", ".join(f"'{one}'" for one in call.parameters)
    with tenant_context(tenant), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
        cursor.execute(f"PREPARE rolled AS {call.statement.sql.decode()}")
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE rolled ({values})")
        (plan,) = cursor.fetchone()
        cursor.execute("DEALLOCATE rolled")
    read = {table: rows_read(plan[0]["Plan"], table) for table in TABLES}
    assert read == {"suppliers_receiveddelivery": 1, "suppliers_receivedreceipt": 1, "suppliers_receivedorder": 1}
