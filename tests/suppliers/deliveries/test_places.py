"""What members of a supplier who are limited to places see of shipments and deliveries beside their own addresses."""

from typing import Any

from tests.factories import Api
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.deliveries.shipping import patch, placed, prepared, shipped
from tests.suppliers.deliveries.test_lists import limited


def shown(answer: Any) -> tuple[list[str], int, list[str], int]:
    """Return the shipments in preparation and the deliveries of an order, and how many there are said to be."""
    assert answer.status_code == 200, answer.content
    found = answer.json()["data"]
    shipments, deliveries = ([one["id"] for one in found[name]] for name in ("shipments", "deliveries"))
    return shipments, found["shipments_total"], deliveries, found["deliveries_total"]


def packer(trade: Trade, place: Any) -> Api:
    """Return a client of a member of the supplier that is limited to a place."""
    return limited(trade.shelf.tenant, "supplier_orders", place)


def test_an_order_shows_the_shipments_that_leave_from_the_member_s_places(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    there = trade.shelf.place("Hall 7")
    order = placed(trade, (trade.gloves, 10))
    path = f"/v1/orders/{order['id']}"
    left, first = shipped(trade, order, 400)["id"], prepared(trade, order, 100)["id"]
    second = prepared(trade, order, 200, from_location_id=str(there))["id"]
    here, away = packer(trade, trade.shelf.places["hall"]), packer(trade, there)

    assert shown(here.get(path)) == ([first], 1, [left], 1)
    assert shown(away.get(path)) == ([second], 1, [], 0)
    assert shown(trade.shelf.api.get(path)) == ([first, second], 2, [left], 1)
    answered = away.patch(
        f"{path}/items/{order['items'][0]['id']}", json={"reason_code": "other", "promised_date": "2030-01-02"}
    )
    assert shown(answered) == ([second], 1, [], 0)


def test_the_tag_of_an_order_tells_nothing_of_other_places(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 2_000)
    away = packer(trade, trade.shelf.place("Hall 7"))
    order = placed(trade, (trade.gloves, 10))
    path = f"/v1/orders/{order['id']}"
    draft = prepared(trade, order, 100)["id"]
    here = packer(trade, trade.shelf.places["hall"])
    before = {api: api.get(path)["ETag"] for api in (here, away)}

    assert patch(trade, order, draft, carrier="UPS").status_code == 200

    assert away.get(path)["ETag"] == before[away]
    assert here.get(path)["ETag"] != before[here]
