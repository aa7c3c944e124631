"""Planted faults: each is found by `prove_invariants` or refused by the database."""

import pytest
from django.db import IntegrityError, connections, transaction

from core.db import tenant_context
from suppliers.inventory.models import Reservation, StockLevel
from tests.suppliers.inventory.recalls import list_concerned, recall
from tests.suppliers.inventory.shelf import broken, reserve
from tests.suppliers.inventory.test_inventory import adjust, line, place

FAULTS = {
    "a counter that drifted": "UPDATE suppliers_stocklevel SET reserved = reserved + 1 WHERE tenant_id = %(shelf)s",
    "stock that nothing moved": "UPDATE suppliers_stocklevel SET on_hand = on_hand + 1 WHERE tenant_id = %(shelf)s",
    "an allocation that is gone": "DELETE FROM suppliers_allocation WHERE tenant_id = %(shelf)s",
    "an allocation that ended alone": "UPDATE suppliers_allocation SET status = 'released' WHERE tenant_id = %(shelf)s",
    "a copy that was not rewritten": "UPDATE suppliers_reservation SET extensions = 2, version = version + 1 WHERE tenant_id = %(shelf)s",
    "a copy that is gone": "DELETE FROM suppliers_receivedreservation WHERE tenant_id = %(buyer)s",
    "a copy that was edited": "UPDATE suppliers_receivedreservation SET status = 'released' WHERE tenant_id = %(buyer)s",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found(shelf, buyer, fault):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    assert broken(shelf, buyer) == []
    with connections["owner"].cursor() as cursor:
        cursor.execute(FAULTS[fault], {"shelf": shelf.id, "buyer": buyer.id})
        assert cursor.rowcount == 1
    assert broken(shelf, buyer) != []


RECALL_FAULTS = {
    "a recalled lot without a recall": "UPDATE suppliers_recall SET withdrawn_at = now() WHERE tenant_id = %(shelf)s",
    "a recall of a lot that is sold": "UPDATE suppliers_lot SET status = 'quarantined' WHERE tenant_id = %(shelf)s",
    "a buyer who was passed by": "UPDATE suppliers_recall SET is_walked = true WHERE tenant_id = %(shelf)s",
    "an answer that the copy lacks": "UPDATE suppliers_recallnotice SET note = 'x', told_at = now() WHERE tenant_id = %(shelf)s",
}


@pytest.mark.parametrize("fault", RECALL_FAULTS)
def test_planted_fault_of_a_recall_is_found(shelf, buyer, fault):
    product = shelf.product(tracking="lot")
    shelf.stock(product, 10, lot="L1")
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    recall(shelf)
    list_concerned(shelf)
    assert broken(shelf, buyer) == []
    with connections["owner"].cursor() as cursor:
        cursor.execute(RECALL_FAULTS[fault], {"shelf": shelf.id})
        assert cursor.rowcount == 1
    assert broken(shelf, buyer) != []


def test_goods_promised_of_a_walked_recall_are_found(shelf, buyer):
    product = shelf.product(tracking="lot")
    level = shelf.stock(product, 10, lot="L1")
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    recall(shelf)
    list_concerned(shelf)
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE suppliers_recall SET is_walked = true WHERE tenant_id = %s", [shelf.id])
        cursor.execute("DELETE FROM suppliers_recallnotice WHERE tenant_id = %s", [shelf.id])
    (found,) = broken(shelf, buyer)
    assert (found.table, found.row_id) == ("suppliers_allocation", shelf.allocations()[0].id)
    assert shelf.level(level).reserved == 2


@pytest.mark.parametrize(
    "fault",
    [
        "DELETE FROM suppliers_serial WHERE tenant_id = %s",
        "UPDATE suppliers_serial SET status = 'disposed', level_id = NULL WHERE tenant_id = %s",
    ],
)
def test_unit_without_its_number_is_found(shelf, fault):
    pump, hall = shelf.product(tracking="serial"), place(shelf)
    adjust(shelf, line(pump, hall, 1, serial_numbers=["A"]))
    assert broken(shelf) == []
    with connections["owner"].cursor() as cursor:
        cursor.execute(fault, [shelf.id])
        assert cursor.rowcount == 1
    assert [one.table for one in broken(shelf)] == ["suppliers_stocklevel"]


@pytest.mark.parametrize(
    ("sql", "constraint"),
    [
        ("suppliers_recallnotice SET quantity_found = 1, quantity_disposed = 2", "suppliers_recallnotice_disposed"),
        ("suppliers_recallnotice SET buyer_tenant_id = tenant_id", "suppliers_recallnotice_two_parties"),
        ("suppliers_recallnotice SET status = 'told'", "suppliers_recallnotice_told"),
        ("suppliers_recall SET recall_class = 'IV'", "suppliers_recall_class_known"),
    ],
)
def test_database_refuses_of_recalls(shelf, buyer, sql, constraint):
    product = shelf.product(tracking="lot")
    shelf.stock(product, 10, lot="L1")
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    recall(shelf)
    list_concerned(shelf)
    with pytest.raises(IntegrityError, match=constraint), connections["owner"].cursor() as cursor:
        cursor.execute(f"UPDATE {sql} WHERE tenant_id = %s", [shelf.id])


@pytest.mark.parametrize(
    ("sql", "constraint"),
    [
        ("UPDATE suppliers_stocklevel SET reserved = on_hand + 1", "suppliers_stocklevel_reserved"),
        ("UPDATE suppliers_reservation SET buyer_tenant_id = tenant_id", "suppliers_reservation_two_parties"),
        ("UPDATE suppliers_reservation SET expires_at = NULL", "suppliers_reservation_soft_expires"),
    ],
)
def test_database_refuses(shelf, buyer, sql, constraint):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    with pytest.raises(IntegrityError, match=constraint), connections["owner"].cursor() as cursor:
        cursor.execute(f"{sql} WHERE tenant_id = %s", [shelf.id])


def test_ended_reservation_does_not_come_back(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 2))
    buyer.api.delete(f"/v1/stock/reservations/{made['id']}")
    with pytest.raises(IntegrityError, match="may not go from released to active"), transaction.atomic(using="owner"):
        Reservation.objects.using("owner").filter(tenant_id=shelf.id).update(status="active")


def test_buyer_sees_no_row_of_the_supplier(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    with tenant_context(buyer.id):
        assert not Reservation.objects.filter(tenant_id=shelf.id).exists()
        assert not StockLevel.objects.filter(tenant_id=shelf.id).exists()
