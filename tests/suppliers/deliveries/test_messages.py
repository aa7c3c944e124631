"""Messages about a delivery: its parties write to each other, and members who are limited to places only about what they see."""

from typing import Any

from tests.procurement.purchasing.orders import Trade, ward
from tests.suppliers.deliveries.shipping import placed, prepared, shipped
from tests.suppliers.deliveries.test_lists import limited
from tests.suppliers.inventory.shelf import refused

PATH = "/v1/notifications"


def write(api: Any, key: str, body: str = "Where is it?") -> Any:
    return api.post(PATH, json={"resource": {"type": "delivery", "id": key}, "body": body})


def test_both_parties_write_about_a_delivery(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    key = shipped(trade, placed(trade, (trade.masks, 10)), 10)["id"]

    asked, answered = write(trade.api, key), write(trade.shelf.api, key, "At the gate.")

    assert (asked.status_code, answered.status_code) == (201, 201), (asked.content, answered.content)
    assert {one.json()["data"]["thread_id"] for one in (asked, answered)} == {key}


def test_a_shipment_in_preparation_is_no_delivery_yet(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    key = prepared(trade, placed(trade, (trade.masks, 10)), 10)["id"]

    for api in (trade.api, trade.shelf.api):
        refused(write(api, key), 404, "not_found")


def test_members_write_about_what_goes_to_or_leaves_their_places(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    key = shipped(trade, placed(trade, (trade.masks, 10)), 10)["id"]
    buyer, supplier = trade.buyer.tenant, trade.shelf.tenant

    refused(write(limited(buyer, "buyer", ward(trade.buyer, "Ward 9")), key), 404, "not_found")
    refused(write(limited(supplier, "supplier_admin", trade.shelf.place("Hall 2")), key), 404, "not_found")
    assert write(limited(buyer, "buyer", trade.ward), key).status_code == 201
    assert write(limited(supplier, "supplier_admin", trade.shelf.places["hall"]), key).status_code == 201
