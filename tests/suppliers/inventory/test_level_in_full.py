"""One level in full: what keeps it from being sold, what is reserved of it, and what is still to come."""

from datetime import date, timedelta
from typing import Any

from core.db import tenant_context
from suppliers.inventory.models import Lot
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.inventory.shelf import Buyer, Shelf, reserve
from tests.suppliers.inventory.test_reservations import in_the_past

PATH = "/v1/inventory/levels"


def in_full(side: Any, level: Any) -> dict[str, Any]:
    answer = side.get(f"{PATH}/{level}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def test_holds_say_why_nothing_can_be_promised(shelf: Shelf) -> None:
    product = shelf.product()
    apart = shelf.place("Apart", sellable=False)
    past = date.today() - timedelta(days=40)
    free = shelf.stock(product, 10, lot="A", expiry=date(2031, 1, 1))
    held = shelf.stock(product, 10, lot="B", expiry=past, status="quarantined", place=apart)
    plain = shelf.stock(shelf.product(), 5)

    assert [in_full(shelf.api, one)["holds"] for one in (free, plain)] == [[], []]
    found = in_full(shelf.api, held)
    assert found["holds"] == [
        {"type": "lot_expired", "reason": None}, {"type": "lot_quarantined", "reason": "suspect"},
        {"type": "place_not_sellable", "reason": None},
    ]  # fmt: skip
    assert (found["sellable"], found["incoming"], found["reservations"]) == (0, 0, [])
    listed = shelf.api.get(f"{PATH}?product_id={product['id']}").json()["data"]["items"]
    assert {"holds", "reservations"} & listed[0].keys() == set()


def test_active_reservations_stand_in_the_order_in_which_they_end(shelf: Shelf, buyer: Buyer, other: Buyer) -> None:
    product = shelf.product(units=10)
    level = shelf.stock(product, 100)
    shelf.offer(product)
    (later,) = reserve(buyer, shelf, (product, 2), ttl_seconds=900)
    (first,) = reserve(other, shelf, (product, 1), ttl_seconds=600)
    (over,) = reserve(other, shelf, (product, 1), ttl_seconds=600)
    before = shelf.api.get(f"{PATH}/{level}")
    in_the_past(shelf, over["id"])

    after = shelf.api.get(f"{PATH}/{level}", headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.json()["data"]["reservations"] == [
        {
            "id": one["id"], "buyer_id": one["buyer_id"], "kind": "soft", "base_quantity": one["base_quantity"],
            "expires_at": one["expires_at"], "purchase_order_line_id": None,
        }
        for one in (first, later)
    ]  # fmt: skip
    again = shelf.api.get(f"{PATH}/{level}", headers={"If-None-Match": after.headers["ETag"]})
    assert again.status_code == 304


def test_tag_follows_the_lot(shelf: Shelf) -> None:
    level = shelf.stock(shelf.product(), 10, lot="A", expiry=date(2031, 1, 1))
    tag = shelf.api.get(f"{PATH}/{level}").headers["ETag"]
    with tenant_context(shelf.id):
        lot = Lot.objects.get(tenant_id=shelf.id, lot_number="A")
    body = {"status": "quarantined", "reason": "damp"}
    assert shelf.api.patch(f"/v1/inventory/lots/{lot.id}", json=body).status_code == 200
    found = shelf.api.get(f"{PATH}/{level}", headers={"If-None-Match": tag})
    assert (found.status_code, found.json()["data"]["holds"]) == (200, [{"type": "lot_quarantined", "reason": "damp"}])


def test_what_accepted_orders_bring_to_the_place_is_incoming() -> None:
    dock = arrivals.dock()
    ward = str(dock.trade.ward)
    keeping = {"location_id": ward, "code": "WARD", "tracks_stock": True}
    assert dock.clerk.post("/v1/inventory/locations", json=keeping).status_code == 201
    delivery = dock.ship(dock.order(), {"units": 100, "lot": "L1"})
    dock.receive(delivery, {"accepted_quantity": 60}, location_id=ward)

    (level,) = dock.clerk.get(f"{PATH}?product_id={dock.vials['id']}").json()["data"]["items"]
    assert (level["on_hand"], level["incoming"]) == (60, 40)
    tag = dock.clerk.get(f"{PATH}/{level['id']}").headers["ETag"]
    dock.order()
    found = dock.clerk.get(f"{PATH}/{level['id']}", headers={"If-None-Match": tag})
    assert (found.status_code, found.json()["data"]["incoming"]) == (200, 140)
