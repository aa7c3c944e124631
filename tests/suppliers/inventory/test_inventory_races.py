"""Receipts, counts, transfers and reservations at once: nobody waits in a circle, and all books are right after it."""

from tests import factories
from tests.races import race
from tests.suppliers.inventory.shelf import broken
from tests.suppliers.inventory.test_inventory import ADJUST, LEVELS, MOVE, adjust, line, place, sums


def test_counts_receipts_transfers_and_reservations_at_once(shelf, buyer):
    shelf.settle(reservation_cap_percent=100)
    items = [shelf.product() for _ in range(2)]
    here, there = place(shelf), place(shelf)
    adjust(shelf, *(line(one, here, 50) for one in items))
    for one in items:
        shelf.offer(one)

    def client():
        api = factories.Api()
        api.headers = shelf.api.headers
        return api

    def receive():
        api = client()
        return [
            api.post(ADJUST, json={"lines": [line(one, here, 1) for one in order]})
            for order in (items, items[::-1]) * 3
        ]

    def move():
        api, seen = client(), []
        for one in items * 3:
            body = {
                "from_location_id": here["id"],
                "to_location_id": there["id"],
                "lines": [{"product_id": one["id"], "quantity": 3}],
            }
            seen.append(api.post(MOVE, json=body))
        return seen

    def count():
        api, seen = client(), []
        for one in items * 3:
            now = api.get(f"{LEVELS}?product_id={one['id']}&location_id={here['id']}").json()["data"]["items"][0][
                "on_hand"
            ]
            body = line(one, here, now - 1, mode="set", expected_quantity=now, reason_code="count", on_reserved="break")
            seen.append(api.post(ADJUST, json={"lines": [body]}))
        return seen

    def hold():
        api, seen = buyer.client(), []
        for _ in range(6):
            given = {"supplier_id": str(shelf.id), "items": [{"product_id": one["id"], "quantity": 2} for one in items]}
            seen.append(api.post("/v1/stock/reservations", json=given))
        return seen

    answers = [one for found in race(*([receive, move, count, hold] * 4)) for one in found]
    assert {one.status_code for one in answers} <= {200, 201, 409}, {
        one.content for one in answers if one.status_code > 409
    }
    allowed = {"insufficient_stock", "stock_reserved", "stale_quantity", "reservation_limit"}
    assert {one.json()["code"] for one in answers if one.status_code == 409} <= allowed
    on_hand, moved = sums(shelf)
    assert on_hand == moved
    assert broken(shelf, buyer) == []


def test_first_receipts_beside_reservations_wait_in_no_circle(shelf, buyer):
    """A first movement marks the product, which a reservation refers to."""
    shelf.settle(reservation_cap_percent=100)
    where = place(shelf)
    items = [shelf.product() for _ in range(24)]
    for one in items:
        shelf.stock(one, 50)
        shelf.offer(one)

    def receive():
        api = factories.Api()
        api.headers = shelf.api.headers
        return [api.post(ADJUST, json={"lines": [line(one, where, 1)]}) for one in items]

    def hold():
        api = buyer.client()
        return [
            api.post(
                "/v1/stock/reservations",
                json={"supplier_id": str(shelf.id), "items": [{"product_id": one["id"], "quantity": 1}]},
            )
            for one in items
        ]

    answers = [one for found in race(*([receive, hold] * 4)) for one in found]
    assert {one.status_code for one in answers} == {201}, {one.content for one in answers if one.status_code != 201}
    assert broken(shelf, buyer) == []
