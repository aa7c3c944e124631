"""The queues of exceptions: counted over all tenants, shown to the roles that see their area."""

import re
from datetime import date, timedelta
from uuid import UUID

import pytest

from core import clock
from core.db import tenant_context
from suppliers.company.models import SupplierProfile
from suppliers.inventory.models import Reservation
from suppliers.orders.models import PurchaseOrder
from tests.admin.people import signed_in
from tests.factories import Client
from tests.procurement.purchasing.orders import Trade, submitted, trade
from tests.suppliers.inventory.recalls import recall, walk
from tests.suppliers.inventory.shelf import Shelf, reserve
from tests.suppliers.notifications.inbox import raised

PAGE = "/admin/suppliers/exceptions/"


@pytest.fixture(name="trade")
def _trade() -> Trade:
    return trade()


def counts(browser: Client) -> dict[str, int]:
    """Return the number beside each queue."""
    page = browser.get(PAGE)
    assert page.status_code == 200, page.content[-2000:]
    found = re.findall(
        r'href="[^"]*(?:queue|type)=(\w+)"[^>]*>[^<]*</a></th>\s*<td class="py-2">(\d+)</td>', page.content.decode()
    )
    return {name: int(number) for name, number in found}


def shown(browser: Client, queue: str) -> str:
    answer = browser.get(f"{PAGE}?queue={queue}")
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def differ(trade: Trade, key: str) -> None:
    with tenant_context(trade.buyer.id):
        PurchaseOrder.objects.filter(tenant_id=trade.buyer.id, pk=key).update(price_differs=True)


def suspend(shelf: Shelf) -> None:
    with tenant_context(shelf.id):
        SupplierProfile.objects.filter(tenant_id=shelf.id).update(qualification_status="suspended")


def test_each_queue_counts_and_shows_what_stands_in_it(trade: Trade) -> None:
    browser = signed_in("supply")
    before = counts(browser)
    order, other = submitted(trade), submitted(trade, (trade.masks, 1))
    differ(trade, order["id"])
    suspend(trade.shelf)
    raised(trade.shelf, "suspect_goods", title="Odd lot", subject=str(UUID(order["id"])))

    after = counts(browser)

    grown = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert grown == {"price_differs": 1, "unqualified_supplier": 2, "suspect_goods": 1}
    page = shown(browser, "price_differs")
    assert order["po_number"] in page
    assert f"/admin/suppliers/purchaseorder/{order['id']}/change/".replace("/", "%2F") in page
    page = shown(browser, "unqualified_supplier")
    for one in (order, other):
        assert f"{one['order_number']}, supplier is suspended" in page
    assert trade.shelf.tenant.name in page


def test_a_broken_reservation_is_there_for_a_week(trade: Trade) -> None:
    browser = signed_in("supply")
    before = counts(browser)["broken_reservation"]
    trade.shelf.settle(reservation_cap_percent=100)
    tracked = trade.shelf.product(tracking="lot")
    trade.shelf.stock(tracked, 10, lot="L1", expiry=date(2030, 1, 1))
    trade.shelf.offer(tracked)
    (held,) = reserve(trade.buyer, trade.shelf, (tracked, 6))
    recall(trade.shelf)
    walk(trade.shelf)

    assert counts(browser)["broken_reservation"] == before + 1
    assert held["id"] in shown(browser, "broken_reservation")
    with tenant_context(trade.shelf.id):
        rows = Reservation.objects.filter(tenant_id=trade.shelf.id)
        rows.update(updated_at=clock.now() - timedelta(days=8))
    assert counts(browser)["broken_reservation"] == before


@pytest.mark.parametrize("query", ["queue=nothing", "queue=suspect_goods", "page=0", "page=x"])
def test_odd_queries_are_refused(query: str) -> None:
    assert signed_in("supply").get(f"{PAGE}?{query}").status_code == 400


def test_roles_see_the_queues_of_their_areas() -> None:
    assert "proof_failed" not in counts(signed_in("supply"))
    assert "proof_failed" in counts(signed_in("security"))
    assert {*counts(signed_in("finance"))} == {
        "match_exception", "dispute", "return_to_inspect", "payment_to_confirm",
    }  # fmt: skip
