"""Receipts of a buyer against recalls, first receipts at once, and how often a buyer's adjustment goes to PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from bench.statements import recording
from core.db import tenant_context
from suppliers.inventory.items.models import StockItem
from suppliers.inventory.models import Lot
from tests import factories
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.recalls import LOTS, SAID, lot_of, walk
from tests.suppliers.inventory.shelf import broken
from tests.suppliers.inventory.test_inventory import ADJUST, LEVELS, line, listed, place

ROUNDS = 6


@pytest.fixture
def ward():
    tenant = factories.provision("provider")
    return shelves.Buyer(tenant, factories.as_member(tenant, ["receiving_clerk"]))


def at_once(*works):
    barrier = Barrier(len(works))

    def run(work):
        barrier.wait()
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def test_no_receipt_slips_past_a_recall(shelf, ward):
    """Either the recall finds the new holder, or the receipt finds the recall."""
    where = place(ward)
    for round in range(ROUNDS):
        product, number = shelf.product(tracking="lot"), f"L{round}"
        shelf.offer(product)
        shelf.stock(product, 9, lot=number)
        lot = lot_of(shelf, number)
        body = {"lines": [line(product, where, 5, lot_number=number)]}
        recall = {"status": "recalled", "reason": "Hub may come loose", "recall": SAID}
        clerk, boss = ward.client(), factories.Api()
        boss.headers = shelf.api.headers
        got, said = at_once(
            lambda clerk=clerk, body=body: clerk.post(ADJUST, json=body),
            lambda boss=boss, lot=lot, recall=recall: boss.patch(f"{LOTS}/{lot.id}", json=recall),
        )
        assert said.status_code == 200, said.content
        assert got.status_code in (201, 409), got.content
        told = said.json()["data"]["recall"]["progress"]["buyers_total"]
        assert told == (1 if got.status_code == 201 else 0)
        walk(shelf)
        if got.status_code == 201:
            assert lot_of(ward, number).status == "recalled"
    assert broken(shelf, ward) == []


def test_first_receipts_at_once_make_one_item_and_one_lot(shelf, ward):
    product, where = shelf.product(tracking="lot"), place(ward)
    shelf.offer(product)
    body = {"lines": [line(product, where, 5, lot_number="L1")]}
    clients = [ward.client() for _ in range(4)]
    answers = at_once(*(lambda one=one: one.post(ADJUST, json=body) for one in clients))
    assert [one.status_code for one in answers] == [201] * 4
    assert [one["on_hand"] for one in listed(ward, LEVELS)] == [20]
    with tenant_context(ward.id):
        assert StockItem.objects.filter(tenant_id=ward.id).count() == Lot.objects.filter(tenant_id=ward.id).count() == 1
    assert broken(shelf, ward) == []


def trips(api, product, where, **more):
    with recording() as record:
        answer = api.post(ADJUST, json={"lines": [line(product, where, 5, **more)]})
    assert answer.status_code == 201, answer.content
    return len(record)


def test_trips_of_an_adjustment(shelf, ward):
    """A supplier's takes five; a buyer's one more to its suppliers, and its first of a product asks the market before."""
    product, hall, where = shelf.product(tracking="lot"), place(shelf), place(ward)
    shelf.offer(product)
    own = trips(shelf.api, product, hall, lot_number="L1")
    assert own == trips(shelf.api, product, hall, lot_number="L1")
    first = trips(ward.api, product, where, lot_number="L1")
    again = trips(ward.api, product, where, lot_number="L1")
    named = trips(ward.api, product, where, lot_number="L2", supplier_id=str(shelf.id))
    assert (own, again, named, first) == (5, 6, 6, 10)
