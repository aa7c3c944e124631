"""What a receipt costs in trips to the database, in which order it locks, and that its last trip is all or nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections

from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from ledger.models import Pending
from suppliers.catalog.models import Product
from suppliers.inventory.items.models import StockItem
from suppliers.orders import backorders
from tests.suppliers.deliveries.receiving.arrivals import PATH, Dock
from tests.suppliers.invoices import bills

MOST_STATEMENTS = 58  # of a line that comes to a level that is there; each is processor time of PostgreSQL and ours
LEAST = 4  # proof, locks with goods, change with the answer, then copies, facts, key and COMMIT
KEYED = pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "receipt"}], ids=["without key", "with key"])


def test_a_receipt_of_a_billed_order_takes_no_trip_more_and_locks_invoices_before_stock() -> None:
    desk = bills.desk()
    order = desk.ordered()
    first, second, third = (desk.ship(order, 20) for _ in range(3))
    desk.receive(first, 20)
    desk.receive(second, 5)  # what is asked for the first time is not counted
    desk.issue(order, 60)

    given = desk.dock.body(third, {"accepted_quantity": 20})
    with recording() as made:
        answer = desk.dock.clerk.post(f"{PATH}/{third}/receipts", json=given, headers={"Idempotency-Key": str(third)})

    assert (answer.status_code, len(made)) == (201, LEAST + 1), "\n".join(made.texts())
    asked = [call.statement.sql.decode() for trip in made.trips for call in trip.calls]
    (invoices,) = [
        number for number, sql in enumerate(asked) if "FROM suppliers_invoice v" in sql and "FOR UPDATE" in sql
    ]
    stock = [
        number for number, sql in enumerate(asked)
        if "UPDATE" in sql and any(f"FROM suppliers_{one} " in sql for one in ("lot", "stocklevel"))
    ]  # fmt: skip
    assert stock
    assert invoices < min(stock)
    assert desk.stored() == [("invoice", "mismatched")]


@KEYED
@pytest.mark.parametrize(
    ("line", "trips"),
    [
        ({"accepted_quantity": 20}, LEAST + 1),  # between its steps the places are locked and read
        ({"rejected_quantity": 20, "rejection_reason": "damaged"}, LEAST),
        ({"short_quantity": 20}, LEAST),
    ],
    ids=["accepted", "rejected", "short"],
)
def test_a_receipt_is_answered_before_its_last_trip(
    dock: Dock, key: dict[str, str], line: dict[str, Any], trips: int
) -> None:
    dock.receive(dock.ship(dock.order(), {"units": 20, "lot": "L1"}), {"accepted_quantity": 20})
    delivery = dock.ship(dock.order(), {"units": 20, "lot": "L1"})
    body = dock.body(delivery, line)

    with recording() as made:
        answer = dock.clerk.post(f"{PATH}/{delivery}/receipts", json=body, headers=key)

    assert (answer.status_code, len(made)) == (201, trips), "\n".join(made.texts())
    assert made.trips[-1].calls[-1].statement.sql == b"COMMIT"
    received = answer.json()["data"]
    assert [str(one.id) for one in dock.copies()][-1] == received["id"]
    assert dock.clerk.get(f"{PATH}/{delivery}").json()["data"]["receipts"] == [received]
    assert [one.type for one in dock.facts(dock.buyer)][-2:] == ["delivery.received", "delivery.completed"]
    assert sum(dock.counted(delivery)[0]) == 20  # `counted` proves the copies, too


def test_a_receipt_writes_nothing_that_is_there_or_asks_for_nobody(dock: Dock) -> None:
    def received() -> list[str]:
        delivery = dock.ship(dock.order(), {"units": 20, "lot": "L1"})
        body = dock.body(delivery, {"accepted_quantity": 20})
        with recording() as made:
            answer = dock.clerk.post(f"{PATH}/{delivery}/receipts", json=body)
        assert answer.status_code == 201, answer.content
        return [call.statement.sql.decode() for trip in made.trips for call in trip.calls]

    def items(sent: list[str]) -> int:
        return sum("INSERT INTO suppliers_stockitem" in one for one in sent)

    first, second = received(), received()
    with tenant_context(dock.shelf.id):
        product = Product.objects.get(tenant_id=dock.shelf.id, pk=dock.vials["id"])
        product.name = "Vials, sterile"
        product.save_version("name", at=now())
    third = received()

    assert [items(sent) for sent in (first, second, third)] == [1, 0, 1]
    assert len(second) <= MOST_STATEMENTS, "\n".join(second)
    with tenant_context(dock.buyer.id):
        assert StockItem.objects.get(tenant_id=dock.buyer.id, id=dock.vials["id"]).name == "Vials, sterile"
        assert not Pending.objects.filter(tenant_id=dock.buyer.id, subscriber=backorders.SUBSCRIBER).exists()


@contextmanager
def _no_copies() -> Iterator[None]:
    """Let every copy of a receipt fail inside the block, as on a full disk; this worker's database is its own."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION no_copies() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = 'disk_full'; END $$;"
            "CREATE TRIGGER no_copies BEFORE INSERT ON suppliers_receivedreceipt FOR EACH ROW EXECUTE FUNCTION no_copies()"
        )
        try:
            yield
        finally:
            cursor.execute("DROP FUNCTION no_copies CASCADE")


@KEYED
def test_a_receipt_of_which_the_last_trip_fails_leaves_nothing(dock: Dock, key: dict[str, str]) -> None:
    delivery = dock.ship(dock.order(), {"units": 20, "lot": "L1"})
    body, path = dock.body(delivery, {"accepted_quantity": 20}), f"{PATH}/{delivery}/receipts"
    facts = len(dock.facts(dock.buyer))

    with _no_copies():
        answer = dock.clerk.post(path, json=body, headers=key)

    assert answer.status_code == 503, answer.content
    assert (dock.counted(delivery), dock.on_hand(), dock.copies()) == ([(0, 0, 0)], [], [])
    assert len(dock.facts(dock.buyer)) == facts
    again = dock.clerk.post(path, json=body, headers=key)
    assert (again.status_code, again.headers.get("Idempotency-Replayed")) == (201, None)
    assert (dock.counted(delivery), dock.on_hand()) == ([(20, 0, 0)], [("L1", 20)])
