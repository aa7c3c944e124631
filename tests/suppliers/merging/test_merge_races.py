"""A merge beside whoever writes a document of the same managed supplier at that moment, over real connections."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from core.db import tenant_context
from suppliers.merging.refusals import MergeRefused
from suppliers.orders.models import PurchaseOrder
from tests.races import await_waiter, race
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.merging.village import ORDERS, Village, village


@pytest.fixture
def shop(desk: Desk) -> Village:
    made = village(desk)
    made.made["order"] = made.order()
    return made


def order(shop: Village) -> Any:
    """Ask for a new order by a client of its own."""
    line = {"description": "Lamps", "quantity": 1, "unit_price": "2.00"}
    return shop.buyer.client().post(ORDERS, json=shop.desk.dock.trade.body(line, supplier_id=str(shop.id)))


def of_shop(shop: Village) -> int:
    """Return how many orders still name the shop."""
    with tenant_context(shop.buyer.id):
        return PurchaseOrder.objects.filter(tenant_id=shop.buyer.id, supplier_tenant_id=shop.id).count()


def behind(shop: Village, work: Any) -> Any:
    """Let somebody write while the shop is merged, but not committed; return the answer."""

    def run() -> Any:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            shop.merge()
            waiting = pool.submit(run)
            await_waiter()
        return waiting.result()


def test_an_order_that_begins_meanwhile_is_refused(shop: Village) -> None:
    answer = behind(shop, lambda: order(shop))
    problem = refused(answer, 409, "party_closed")
    assert str(shop.real.id) in problem["detail"]
    assert of_shop(shop) == 0


def test_a_receipt_that_comes_meanwhile_is_left_to_the_supplier(shop: Village) -> None:
    answer = behind(shop, lambda: shop.asked_receipt(shop.made["order"], 4))
    refused(answer, 403, "counterparty_only")
    shop.sound()


@pytest.mark.parametrize("_", range(4))
def test_an_order_is_moved_or_refused(shop: Village, _: int) -> None:
    merged, answer = race(shop.merge, lambda: order(shop))

    assert answer.status_code in (201, 409), answer.content
    assert merged.counts["orders"] == (2 if answer.status_code == 201 else 1)
    assert of_shop(shop) == 0
    shop.sound()


@pytest.mark.parametrize("_", range(4))
def test_a_receipt_is_moved_or_refused(shop: Village, _: int) -> None:
    merged, answer = race(shop.merge, lambda: shop.asked_receipt(shop.made["order"], 4))

    assert answer.status_code in (201, 403), answer.content
    assert merged.counts["receipts"] == (1 if answer.status_code == 201 else 0)
    shop.sound()


def test_of_two_merges_one_is_refused(shop: Village) -> None:
    answers = race(shop.merge, shop.merge)
    assert sorted(isinstance(one, MergeRefused) for one in answers) == [False, True]
    (refusal,) = [one for one in answers if isinstance(one, MergeRefused)]
    assert [one.code for one in refusal.errors] == ["already_merged"]
    shop.sound()
