"""What the buyers of a recall are found by: the levels and promises of the lot alone, however many others there are."""

from copy import copy
from datetime import date
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections, transaction

from core.db import tenant_context
from core.ids import uuid7
from core.pipeline import Call, Statement
from suppliers.deliveries import recalled
from suppliers.inventory.models import Allocation, Lot, Reservation, StockLevel
from suppliers.inventory.recalls import buyers
from tests.suppliers.inventory.shelf import Buyer, Shelf, reserve

MANY = 400
TABLES = ("lot", "stocklevel", "reservation", "allocation")


def _copies(row: Any, **values: Any) -> Any:
    made = copy(row)
    made.pk = uuid7()
    made._state = copy(row._state)
    made._state.adding = True
    for name, value in values.items():
        setattr(made, name, value)
    return made


def _fill(shelf: Shelf) -> None:
    """Let further lots of the product lie there, each with a promise of its own."""
    with tenant_context(shelf.id), transaction.atomic():
        mine = {"tenant_id": shelf.id}
        lot, level, held = (model.objects.filter(**mine)[0] for model in (Lot, StockLevel, Reservation))
        promise = Allocation.objects.get(**mine)
        lots = [_copies(lot, lot_number=f"M{number}") for number in range(MANY)]
        levels = [_copies(level, lot_id=one.pk) for one in lots]
        promises = [_copies(held, group_id=uuid7()) for _ in range(MANY)]
        Lot.objects.bulk_create(lots)
        StockLevel.objects.bulk_create(levels)
        Reservation.objects.bulk_create(promises)
        Allocation.objects.bulk_create(
            _copies(promise, level_id=one.pk, reservation_id=of.pk) for one, of in zip(levels, promises, strict=True)
        )


def _analyze() -> None:
    """Let the planner know the tables as they are now: where a supplier begins, it knows few rows."""
    with connections["owner"].cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ANALYZE suppliers_{table}")
    connections["owner"].close()


def _rows_read(node: dict[str, Any]) -> int:
    """Return how many rows the scans of a plan looked at, over all their loops."""
    mine = 0
    if "Relation Name" in node:
        left_out = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        mine = round((node["Actual Rows"] + left_out) * node["Actual Loops"])
    return mine + sum(map(_rows_read, node.get("Plans", ())))


def _read(tenant_id: UUID, call: Call, mode: str) -> int:
    name = f"plan_{uuid7().hex}"
    values = ", ".join(f"'{one}'" for one in call.parameters)
    with tenant_context(tenant_id), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}; SET LOCAL enable_seqscan = off")
        cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode()}")
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE {name} ({values})")
        (plan,) = cursor.fetchone()
        cursor.execute(f"DEALLOCATE {name}")
    return _rows_read(plan[0]["Plan"])


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("statement", [buyers._PROMISED, buyers._HOLDING, recalled._BUYERS])
def test_buyers_are_found_by_the_lot_alone(shelf: Shelf, buyer: Buyer, mode: str, statement: Statement) -> None:
    product = shelf.product(tracking="lot")
    shelf.stock(product, 10, lot="L1", expiry=date(2031, 1, 1))
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    with tenant_context(shelf.id):
        lot = Lot.objects.get(tenant_id=shelf.id)
    _analyze()
    _fill(shelf)

    read = _read(shelf.id, Call(statement, [str(shelf.id), str(lot.id)]), mode)

    assert read <= 2 * MANY  # the levels of the product once, never again for each promise
