"""Shipments at once with each other, with a cancel and with a recall; and what a shipment costs."""

from collections import Counter
from typing import Any

import pytest

from bench.statements import recording
from core.db import tenant_context
from suppliers.inventory.models import Lot
from tests.factories import Api
from tests.procurement.purchasing.orders import Trade
from tests.procurement.purchasing.orders import act as ask_buyer
from tests.races import race
from tests.suppliers.deliveries.shipping import (
    LATE,
    body,
    counted,
    deliveries,
    medicine,
    movements,
    patch,
    placed,
    post,
    prepared,
    shipped,
    stock,
)
from tests.suppliers.orders.changes.proposals import done, respond
from tests.suppliers.orders.test_reject import agree


def client(trade: Trade) -> Api:
    """A further client of the supplier's member, for a thread of its own."""
    api = Api()
    api.headers = trade.shelf.api.headers
    return api


def said(answers: list[Any]) -> Counter[Any]:
    """What the answers say; an exception fails the test."""
    for one in answers:
        assert not isinstance(one, Exception), one
    return Counter(one.status_code if one.status_code < 300 else one.json()["code"] for one in answers)


def test_two_shipments_of_one_line_never_ship_more(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 5_000)
    order = placed(trade, (trade.gloves, 10))
    clients = [client(trade) for _ in range(6)]

    found = said(race(*[lambda one=one: post(trade, order, 300, api=one) for one in clients]))

    assert found == {201: 3, "over_shipment": 3}
    assert (counted(trade), stock(trade)) == ([(1_000, 900, 0)], [(4_100, 100)])
    assert len(deliveries(trade)) == 3


def test_a_draft_leaves_once(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))
    key = prepared(trade, order, 1_000)["id"]
    clients = [(client(trade), status) for status in ("in_transit", "in_transit", "cancelled")]

    found = said(
        race(
            *[
                lambda one=one, status=status: patch(trade, order, key, api=one, status=status)
                for one, status in clients
            ]
        )
    )

    assert (found[200], found["invalid_transition"]) == (1, 2), found
    assert counted(trade) in ([(1_000, 1_000, 0)], [(1_000, 0, 0)])
    assert len(movements(trade)) == len(deliveries(trade)) <= 1


def test_a_cancel_against_a_shipment(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))
    buying, selling = trade.buyer.client(), client(trade)

    shipping, cancelling = race(
        lambda: post(trade, order, 400, api=selling),
        lambda: buying.post(f"/v1/purchase-orders/{order['id']}/cancel", json={}),
    )

    assert {shipping.status_code, cancelling.status_code} == {201, 409} or (
        (shipping.status_code, cancelling.status_code) == (409, 200)
    )
    if shipping.status_code == 201:
        assert cancelling.json()["code"] in ("already_shipped", "concurrent_update")
        assert stock(trade) == [(600, 600)]
    else:
        assert shipping.json()["code"] == "invalid_transition"
        assert stock(trade) == [(1_000, 0)]
    trade.stored()


def test_what_is_in_preparation_keeps_an_order_from_being_cancelled(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1_000)
    order = placed(trade, (trade.gloves, 10))
    prepared(trade, order, 400)

    answer = ask_buyer(trade, order["id"], "cancel")

    assert (answer.status_code, answer.json()["code"]) == (409, "already_shipped")


def test_a_recall_against_a_shipment(trade: Trade) -> None:
    product = medicine(trade)
    trade.shelf.stock(product, 100, lot="L1", expiry=LATE)
    order = placed(trade, (product, 100))
    with tenant_context(trade.shelf.id):
        lot = Lot.objects.get(tenant_id=trade.shelf.id)
    recall = {"status": "recalled", "reason": "Glass", "recall": {"class": "I"}}

    *clients, last = [client(trade) for _ in range(5)]

    *shipping, recalling = race(
        *[lambda one=one: post(trade, order, 20, api=one) for one in clients],
        lambda: last.patch(f"/v1/inventory/lots/{lot.id}", json=recall),
    )

    assert recalling.status_code == 200, recalling.content
    found = said(shipping)
    assert set(found) <= {201, "lot_not_shippable"}
    assert counted(trade) == [(100, 20 * found[201], 0)]
    assert (post(trade, order, 1).json()["code"], len(movements(trade))) == ("lot_not_shippable", found[201])


def test_trips_do_not_grow_with_the_lines(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 50_000)
    counts = []
    for lines in (1, 25):
        orders = [placed(trade, *[(trade.gloves, 2)] * lines) for _ in range(2)]
        for order in orders:  # the first one warms what is read once
            key = {"Idempotency-Key": str(order["id"])}
            path = f"/v1/orders/{order['id']}/shipments"
            with recording() as leaving:
                given = body(trade, order, *[100] * lines, dispatched_at="2026-11-01T08:00:00Z")
                answer = trade.shelf.api.post(path, json=given, headers=key)
            assert answer.status_code == 201, answer.content
            with recording() as preparing:
                draft = trade.shelf.api.post(path, json=body(trade, order, *[100] * lines))
            assert draft.status_code == 201, draft.content
            with recording() as dispatched:
                assert patch(trade, order, draft.json()["data"]["id"], status="in_transit").status_code == 200
            with recording() as arrived:
                assert patch(trade, order, answer.json()["data"]["id"], status="delivered").status_code == 200
            with recording() as lost:
                assert patch(trade, order, draft.json()["data"]["id"], status="lost").status_code == 200
        counts.append([len(one) for one in (leaving, preparing, dispatched, arrived, lost)])

    assert counts[0] == counts[1]
    assert max(counts[0]) <= 8, counts  # begin and end are statements, too


@pytest.mark.parametrize("lost", [False, True])
def test_the_tolerance_of_an_agreement_may_be_shipped(trade: Trade, lost: bool) -> None:
    from suppliers.orders.models import PurchaseOrderLine

    trade.shelf.stock(trade.gloves, 3_000)
    order = placed(trade, (trade.gloves, 10))
    with tenant_context(trade.buyer.id):
        PurchaseOrderLine.objects.filter(tenant_id=trade.buyer.id).update(tolerance=50)
    if lost:
        patch(trade, order, shipped(trade, order, 1_000)["id"], status="lost")

    assert post(trade, order, 1_051).json()["code"] == "over_shipment"
    shipped(trade, order, 1_050)
    assert counted(trade) == [(1_000, 2_050, 1_000) if lost else (1_000, 1_050, 0)]


def test_the_tolerance_is_of_what_is_still_accepted(trade: Trade) -> None:
    agree(trade, 5_000, qty_tolerance_bp=1_000)
    trade.shelf.stock(trade.gloves, 3_000)
    order = placed(trade, (trade.gloves, 10))
    done(respond(trade, order["id"], order["items"][0]["id"], cancel_quantity=9, reason_code="out_of_stock"))

    assert post(trade, order, 111).json()["code"] == "over_shipment"
    shipped(trade, order, 110)

    assert counted(trade) == [(100, 110, 0)]
