"""What an order holds, and what others hold of the same stock, when goods leave."""

from datetime import date, timedelta

from core.clock import now
from core.db import tenant_context
from organizations.models import Location
from suppliers.inventory.models import Allocation, Reservation
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.deliveries.shipping import (
    DELIVERIES,
    LATE,
    counted,
    deliveries,
    medicine,
    movements,
    patch,
    placed,
    prepared,
    read,
    receiver,
    reservations,
    shipped,
    stock,
)
from tests.suppliers.inventory.shelf import reserve
from tests.suppliers.orders.answers import held

SOON = date(2028, 1, 31)


def test_a_line_that_ships_what_another_line_holds_lets_go_its_own(trade: Trade) -> None:
    product = medicine(trade)
    trade.shelf.stock(product, 5, lot="SOON", expiry=SOON)
    trade.shelf.stock(product, 10, lot="LATE", expiry=LATE)
    order = placed(trade, (product, 10), (product, 5))
    assert stock(trade) == [(5, 5), (10, 10)]

    shipped(trade, order, {"quantity": 10, "lot_number": "LATE"}, None)

    assert movements(trade) == [(-10, "LATE")]
    assert stock(trade) == [(5, 5), (0, 0)]  # held for the other line
    assert counted(trade) == [(10, 10, 0), (5, 0, 0)]


def test_goods_in_quarantine_do_not_keep_the_rest_of_the_place_from_leaving(trade: Trade) -> None:
    hall = trade.shelf.place("Hall 1")
    trade.shelf.places["hall"] = hall
    trade.shelf.stock(trade.masks, 20)
    order = placed(trade, (trade.masks, 20))
    with tenant_context(trade.shelf.id):
        corner = trade.shelf.place("Quarantine", sellable=False)
        Location.objects.filter(tenant_id=trade.shelf.id, pk=corner).update(parent_id=hall)
    trade.shelf.stock(trade.masks, 1, place=corner)

    shipped(trade, order, 20)

    assert counted(trade) == [(20, 20, 0)]


def test_a_reservation_whose_time_is_over_blocks_no_shipment(trade: Trade) -> None:
    trade.shelf.settle(reservation_cap_percent=100)
    trade.shelf.stock(trade.masks, 10)
    order = placed(trade, (trade.masks, 10))
    first = shipped(trade, order, 10)
    clerk = receiver(trade)
    line = read(trade.buyer.api, first["id"])["lines"][0]
    rejected = {
        "received_at": "2026-11-02T08:00:00Z", "location_id": str(trade.ward),
        "lines": [{"delivery_line_id": line["id"], "unit": "base", "accepted_quantity": 0, "rejected_quantity": 10,
                   "rejection_reason": "damaged"}],
    }  # fmt: skip
    answer = clerk.post(f"{DELIVERIES}/{first['id']}/receipts", json=rejected)
    assert answer.status_code == 201, answer.content
    trade.shelf.stock(trade.masks, 10, place=trade.shelf.place("Hall 2"))
    (soft,) = reserve(trade.buyer, trade.shelf, (trade.masks, 10))
    over = now() - timedelta(seconds=1)
    with tenant_context(trade.shelf.id):
        Reservation.objects.filter(tenant_id=trade.shelf.id, pk=soft["id"]).update(expires_at=over)
        Allocation.objects.filter(tenant_id=trade.shelf.id, reservation_id=soft["id"]).update(expires_at=over)
        trade.shelf.places["hall"] = (
            Allocation.objects.filter(tenant_id=trade.shelf.id, reservation_id=soft["id"])
            .values_list("level__location_id", flat=True)
            .get()
        )

    shipped(trade, order, 10)

    assert reservations(trade) == [("consumed", 10), ("expired", 10)]
    assert held(trade)[-1] == (0, 0)
    assert trade.stored()


def test_a_change_that_changes_nothing_writes_nothing(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    order = placed(trade, (trade.masks, 10))
    key = shipped(trade, order, 10, tracking_number="JD014")["id"]
    before = read(trade.shelf.api, key)["version"]

    assert patch(trade, order, key, tracking_number="JD014").status_code == 200
    assert read(trade.shelf.api, key)["version"] == before
    assert patch(trade, order, key, tracking_number="JD015").status_code == 200
    assert read(trade.shelf.api, key)["version"] == before + 1


def test_the_buyer_never_hears_that_a_shipment_was_in_preparation(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    order = placed(trade, (trade.masks, 10))
    key = prepared(trade, order, 10)["id"]
    assert patch(trade, order, key, status="in_transit").status_code == 200

    assert deliveries(trade) == [("in_transit", 1)]
    told = read(trade.buyer.api, key)["timeline"]
    assert [(one["action"], one["from"]) for one in told] == [("shipped", None)]
