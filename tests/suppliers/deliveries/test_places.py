"""What members of a supplier who are limited to places see of shipments and deliveries beside their own addresses."""

from importlib import import_module
from typing import Any

import pytest
from django.db import connections

from core.db import tenant_context
from suppliers.notifications.models import Notification
from tests.factories import Api
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.deliveries.shipping import DELIVERIES, patch, placed, prepared, receiver, shipped
from tests.suppliers.deliveries.test_lists import limited
from tests.suppliers.deliveries.test_messages import PATH, write
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.inbox import relay


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


def told(api: Api) -> list[dict[str, Any]]:
    """Return the notifications that a member reads, the newest first."""
    answer = api.get(PATH)
    assert answer.status_code == 200, answer.content
    assert answer.json()["data"]["total"] == len(answer.json()["data"]["items"])
    found: list[dict[str, Any]] = answer.json()["data"]["items"]
    return found


@pytest.fixture
def delivery(trade: Trade) -> str:
    """Return a delivery that was shipped from the hall."""
    trade.shelf.stock(trade.masks, 10)
    return str(shipped(trade, placed(trade, (trade.masks, 10)), 10)["id"])


def test_messages_of_a_delivery_reach_those_from_where_it_was_shipped(trade: Trade, delivery: str) -> None:
    hall = trade.shelf.places["hall"]
    here, away = packer(trade, hall), packer(trade, trade.shelf.place("Hall 7"))

    assert write(trade.api, delivery, "Seal broken").status_code == 201
    assert write(here, delivery, "We look into it").status_code == 201

    assert [one["body"] for one in told(here)] == ["We look into it", "Seal broken"]
    assert {one["location_id"] for one in told(here)} == {str(hall)}
    assert {one["location_id"] for one in told(trade.api)} == {str(trade.ward)}
    assert told(away) == []
    for one in told(here):
        refused(away.get(f"{PATH}/{one['id']}"), 404, "not_found")


def test_an_alert_of_a_delivery_is_acknowledged_from_where_it_was_shipped(trade: Trade, delivery: str) -> None:
    here, away = packer(trade, trade.shelf.places["hall"]), packer(trade, trade.shelf.place("Hall 7"))
    reported = receiver(trade).post(f"{DELIVERIES}/{delivery}/exceptions", json={"type": "temperature_excursion"})
    assert reported.status_code == 201, reported.content
    relay(trade.shelf)

    (alert,) = [one for one in told(here) if one["type"] == "temperature_excursion"]

    path = f"{PATH}/{alert['id']}"
    assert (told(away), alert["location_id"]) == ([], str(trade.shelf.places["hall"]))
    refused(away.patch(path, json={"acknowledged": True}), 404, "not_found")
    assert here.get(path).json()["data"]["acknowledged_at"] is None
    assert here.patch(path, json={"acknowledged": True}).status_code == 200


def test_the_migration_gives_notifications_of_before_their_place(trade: Trade, delivery: str) -> None:
    away = packer(trade, trade.shelf.place("Hall 7"))
    assert write(trade.api, delivery).status_code == 201
    with tenant_context(trade.shelf.id):
        Notification.objects.filter(tenant_id=trade.shelf.id).update(location_id=None)
    assert len(told(away)) == 1

    with tenant_context(trade.shelf.id), connections["default"].cursor() as cursor:
        cursor.execute(import_module("suppliers.migrations.0056_places_of_notifications").FILL)

    assert told(away) == []
    assert {one["location_id"] for one in told(trade.shelf.api)} == {str(trade.shelf.places["hall"])}
