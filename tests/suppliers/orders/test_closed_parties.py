"""A party whose tenant is closed stops neither the jobs nor the others at a supplier's stock: only acts on its own documents."""

import io
from datetime import datetime, timedelta
from uuid import UUID

from django.core.management import call_command

from core.clock import now
from core.db import tenant_context
from core.errors import Busy
from core.rounds import Rounds, ever
from ledger.public import Event
from organizations.models import Tenant
from suppliers.inventory.models import Allocation, Reservation
from suppliers.inventory.sweeping import expire_reservations
from suppliers.orders.backorders import allocate_backorders
from suppliers.rounds import by_rounds
from tests.procurement.purchasing.orders import Trade, submitted, ward
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import PATH, Shelf, body, broken, reserve
from tests.suppliers.orders.answers import accepted, counters, held
from tests.suppliers.orders.test_stock_of_orders import counted


def close(tenant: Tenant) -> None:
    """Close a tenant, with all of its rows."""
    given = {"tenant": str(tenant.id), "confirm": tenant.slug, "retention_days": 0}
    call_command("close_tenant", **given, stdout=io.StringIO())


def statuses(shelf: Shelf) -> list[str]:
    return [row.status for row in shelf.reservations()]


def heard(tenant_id: UUID, kind: str) -> int:
    """Return how often a tenant was told of something."""
    with tenant_context(tenant_id):
        return Event.objects.filter(tenant_id=tenant_id, type=kind).count()


def lapse(shelf: Shelf) -> None:
    """Let the time of all reservations at a supplier be over."""
    with tenant_context(shelf.id):
        over = now() - timedelta(seconds=1)
        Reservation.objects.filter(tenant_id=shelf.id).update(expires_at=over)
        Allocation.objects.filter(tenant_id=shelf.id).update(expires_at=over)


def second(trade: Trade) -> Trade:
    """Return the same supplier with another buyer."""
    buyer = shelves.buyer()
    return Trade(trade.shelf, buyer, ward(buyer), trade.gloves, trade.masks)


def test_reservations_of_closed_buyers_end_with_all_others(trade: Trade) -> None:
    further = shelves.shelf()
    product = further.product()
    further.stock(product, 5)
    further.offer(product)
    other = shelves.buyer()
    trade.shelf.stock(trade.masks, 10)
    for one in (trade.buyer, other):
        reserve(one, trade.shelf, (trade.masks, 2))
        reserve(one, further, (product, 1))
    close(trade.buyer.tenant)
    for shelf in (trade.shelf, further):
        lapse(shelf)

    expire_reservations(at=now())

    assert statuses(trade.shelf) == statuses(further) == ["expired", "expired"]
    assert held(trade) == [(10, 0)]
    assert [heard(one.id, "reservation.expired") for one in (trade.shelf, other, trade.buyer)] == [2, 2, 0]
    assert broken(trade.shelf, further, other) == []


def test_a_closed_buyer_s_lapsed_reservation_is_nobody_s_hindrance(trade: Trade) -> None:
    trade.shelf.settle(reservation_cap_percent=100)
    trade.shelf.stock(trade.masks, 4)
    reserve(trade.buyer, trade.shelf, (trade.masks, 4))
    lapse(trade.shelf)
    close(trade.buyer.tenant)
    other = second(trade)

    answer = other.api.post(PATH, json=body(trade.shelf, (trade.masks, 1)))

    assert answer.status_code == 201, answer.content
    assert statuses(trade.shelf) == ["expired", "active"]
    accepted(other, submitted(other, (trade.masks, 3))["id"])
    assert held(trade) == [(4, 4)]
    assert broken(trade.shelf, other.buyer) == []


def test_a_supplier_counts_what_a_closed_buyer_holds(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 6)
    reserve(trade.buyer, trade.shelf, (trade.masks, 1))
    accepted(trade, submitted(trade, (trade.masks, 4))["id"])
    close(trade.buyer.tenant)

    answer = counted(trade, 0)

    assert answer.status_code == 201, answer.content
    assert statuses(trade.shelf) == ["broken", "broken"]
    assert held(trade) == [(0, 0)]
    assert heard(trade.buyer.id, "reservation.broken") == 0
    assert broken(trade.shelf) == []


def test_what_comes_goes_to_the_orders_of_open_buyers(trade: Trade) -> None:
    other = second(trade)
    for one in (trade, other):
        accepted(one, submitted(one, (trade.masks, 4))["id"], allow_partial=True)
    close(trade.buyer.tenant)
    trade.shelf.stock(trade.masks, 4)

    allocate_backorders(at=now())

    assert counters(other) == [(4, 4, 0, 0)]
    assert held(trade) == [(4, 4)]


def test_a_tenant_whose_rows_are_refused_waits_for_the_next_run() -> None:
    buyer, shops = shelves.buyer(), [shelves.shelf() for _ in range(3)]
    for shelf in shops:
        product = shelf.product()
        shelf.stock(product, 10)
        shelf.offer(product)
        reserve(buyer, shelf, (product, 1))
    due = Reservation.objects.filter(buyer_tenant_id=buyer.id)
    refusing, asked, rounds = {shops[1].id}, list[UUID](), Rounds()

    def work(tenant_id: UUID, _: datetime) -> int:
        asked.append(tenant_id)
        if tenant_id in refusing:
            raise Busy
        return 1

    assert by_rounds("suppliers.test", rounds, due, work, now(), ever) == 2
    assert sorted(asked) == sorted(shelf.id for shelf in shops)
    refusing.clear()
    assert by_rounds("suppliers.test", rounds, due, work, now(), ever) == 3
    assert len(asked) == 6
