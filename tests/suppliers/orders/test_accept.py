"""POST /v1/orders/{id}/accept for a whole order: what is allocated and counted, what both read, what is refused."""

from datetime import date, timedelta

import pytest

from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from suppliers.catalog.models import Product
from suppliers.marketplace.models import Offer
from tests.procurement.purchasing.orders import Trade, act, price, submitted
from tests.suppliers.inventory.shelf import copies, refused, reserve
from tests.suppliers.orders.answers import ORDERS, accepted, answer, counters, held, seen, waiting

SOON, LATER = date.today() + timedelta(days=30), date.today() + timedelta(days=300)


def test_accept_allocates_and_tells_both(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 1500)
    trade.shelf.stock(trade.masks, 7)
    order = submitted(
        trade, (trade.gloves, 10), {"product_id": trade.masks["id"], "quantity": 7, "unit": "base"},
        requested_delivery_date=LATER.isoformat(),
    )  # fmt: skip

    data = accepted(trade, order["id"])

    assert data == seen(trade, order["id"])
    assert (data["status"], data["awaiting"], data["version"], data["revision"]) == ("accepted", None, 2, 1)
    assert data["accepted_at"] is not None
    assert [
        (one["accepted"], one["backordered"], one["allocated"], one["line_status"], one["promised_date"])
        for one in data["items"]
    ] == [(1000, 0, 1000, "accepted", LATER.isoformat()), (7, 0, 7, "accepted", LATER.isoformat())]
    mine = trade.read(order["id"])
    assert (mine["status"], mine["accepted_at"], mine["version"]) == ("accepted", data["accepted_at"], 3)
    assert [one["accepted"] for one in mine["lines"]] == [1000, 7]
    assert "allocated" not in mine["lines"][0]
    assert counters(trade) == [(1000, 1000, 0, 0), (7, 7, 0, 0)]
    assert held(trade) == [(1500, 1000), (7, 7)]
    (kind, version, payload) = trade.facts()[-1]
    assert (kind, version, payload["by"], payload["was"], payload["status"]) == (
        "purchase_order.accepted", 3, "supplier", "sent", "accepted",
    )  # fmt: skip
    (kind, version, payload) = trade.facts(trade.shelf.tenant)[-1]
    assert (kind, version, payload["by"], payload["was"]) == ("order.accepted", 2, "supplier", "sent")
    assert [(one.status, one.product_id) for one in copies(trade.buyer)] == [
        ("active", rows.product_id) for rows in trade.shelf.reservations()
    ]
    entry = data["timeline"][0]
    assert (entry["action"], entry["by"], entry["from"], entry["to"]) == ("accepted", "supplier", "sent", "accepted")
    again = refused(answer(trade, order["id"], "accept"), 409, "invalid_transition")
    assert (again["from"], again["action"]) == ("accepted", "accept")


def test_lots_that_expire_first_go_first_if_they_last_long_enough(trade: Trade) -> None:
    for lot, days in (("LATE", 300), ("SHORT", 20), ("SOON", 60)):
        trade.shelf.stock(trade.masks, 5, lot=lot, expiry=date.today() + timedelta(days=days))
    trade.shelf.stock(trade.masks, 5, lot="HELD", expiry=SOON, status="quarantined")
    order = submitted(trade, (trade.masks, 8), min_remaining_shelf_life_days=30)

    accepted(trade, order["id"])

    assert held(trade) == [(5, 3), (5, 0), (5, 5), (5, 0)]
    (row,) = trade.shelf.reservations()
    assert (row.base_quantity, row.remaining_days, str(row.group_id)) == (8, 30, order["id"])
    assert counters(trade) == [(8, 8, 0, 0)]


@pytest.mark.parametrize(
    ("asked", "offered", "own", "taken"),
    [
        (None, None, 100, [0, 0, 5]), (None, 30, 100, [0, 5, 0]), (None, 0, 100, [5, 0, 0]), (30, 100, 0, [0, 5, 0]),
        (0, 100, 100, [5, 0, 0]),
    ],
)  # fmt: skip
def test_goods_last_as_long_as_the_order_the_offer_or_the_product_says(
    trade: Trade, asked: int | None, offered: int | None, own: int, taken: list[int]
) -> None:
    serum = trade.shelf.product(name="Serum", min_remaining_shelf_life_days=own)
    trade.shelf.offer(serum, currency="EUR", tiers=price((1, "2.00")), min_remaining_shelf_life_days=offered)
    for lot, days in (("SHORT", 20), ("MIDDLE", 60), ("LONG", 300)):
        trade.shelf.stock(serum, 5, lot=lot, expiry=date.today() + timedelta(days=days))
    order = submitted(trade, (serum, 5), min_remaining_shelf_life_days=asked)

    accepted(trade, order["id"])

    assert held(trade) == [(5, one) for one in taken]
    days = next(one for one in (asked, offered, own) if one is not None)
    assert [row.remaining_days for row in trade.shelf.reservations()] == [days]


def test_goods_that_do_not_last_are_not_there(trade: Trade) -> None:
    serum = trade.shelf.product(name="Serum", min_remaining_shelf_life_days=100)
    trade.shelf.offer(serum, currency="EUR", tiers=price((1, "2.00")))
    trade.shelf.stock(serum, 5, lot="SHORT", expiry=date.today() + timedelta(days=20))
    order = submitted(trade, (serum, 5), backorder_policy="refuse")

    found = refused(answer(trade, order["id"], "accept"), 409, "insufficient_stock")

    assert [one["available"] for one in found["errors"]] == [0]
    assert held(trade) == [(5, 0)]


def test_what_the_order_has_reserved_goes_first(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    (mine,) = reserve(trade.buyer, trade.shelf, (trade.masks, 4))
    order = submitted(trade, (trade.masks, 10), reservation_ids=[mine["id"]])
    assert seen(trade, order["id"])["items"][0]["allocated"] == 4

    data = accepted(trade, order["id"])

    assert data["items"][0]["allocated"] == 10
    assert held(trade) == [(10, 10)]
    assert [one.base_quantity for one in trade.shelf.reservations()] == [4, 6]
    assert counters(trade) == [(10, 10, 0, 0)]


def test_too_little_names_each_line_and_changes_nothing(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 9)
    trade.shelf.stock(trade.gloves, 1000)
    order = submitted(trade, (trade.masks, 5), (trade.gloves, 10), (trade.masks, 5))
    refusing = submitted(trade, (trade.masks, 10), backorder_policy="refuse")

    body = refused(answer(trade, order["id"], "accept"), 409, "insufficient_stock")
    assert [(one["pointer"], one["available"]) for one in body["errors"]] == [("/lines/2", 4)]
    for partial in (False, True):
        refused(answer(trade, refusing["id"], "accept", allow_partial=partial), 409, "insufficient_stock")

    assert [one[0] for one in trade.stored()] == ["sent", "sent"]
    assert held(trade) == [(9, 0), (1000, 0)]
    assert [kind for kind, *_ in trade.facts(trade.shelf.tenant)] == ["order.placed"] * 2
    assert trade.shelf.reservations() == []


def test_the_rest_is_backordered_where_both_agree(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 9)
    order = submitted(trade, (trade.masks, 5), (trade.gloves, 1), (trade.masks, 5))

    data = accepted(trade, order["id"], allow_partial=True)

    assert [(one["accepted"], one["backordered"], one["line_status"]) for one in data["items"]] == [
        (5, 0, "accepted"), (0, 100, "backordered"), (4, 1, "backordered"),
    ]  # fmt: skip
    assert counters(trade) == [(5, 5, 0, 0), (100, 0, 100, 0), (5, 4, 1, 0)]
    assert waiting(trade) == [0, 100, 1]
    assert held(trade) == [(9, 9)]


def test_what_has_lapsed_is_taken_back(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 10)
    (row,) = reserve(trade.buyer, trade.shelf, (trade.masks, 5))
    order = submitted(trade, (trade.masks, 10))
    refused(answer(trade, order["id"], "accept"), 409, "insufficient_stock")
    past = now() - timedelta(seconds=5)
    with tenant_context(trade.shelf.id):
        for kind in (type(trade.shelf.reservations()[0]), type(trade.shelf.allocations()[0])):
            kind.objects.filter(tenant_id=trade.shelf.id).update_versions(expires_at=past, at=now())

    accepted(trade, order["id"])

    assert [one.status for one in trade.shelf.reservations()] == ["expired", "active"]
    assert next(one for one in copies(trade.buyer) if str(one.id) == row["id"]).status == "expired"
    assert held(trade) == [(10, 10)]
    assert counters(trade) == [(10, 10, 0, 0)]


def test_services_and_what_is_made_to_order_need_no_stock(trade: Trade) -> None:
    with tenant_context(trade.shelf.id):
        Offer.objects.filter(tenant_id=trade.shelf.id, product_id=trade.gloves["id"]).update_versions(
            stock_policy="made_to_order", at=now()
        )
        Product.objects.filter(tenant_id=trade.shelf.id, pk=trade.masks["id"]).update_versions(kind="service", at=now())
    trade.shelf.refresh(trade.gloves["id"])
    order = submitted(trade, (trade.gloves, 1), (trade.masks, 2))

    data = accepted(trade, order["id"])

    assert [(one["accepted"], one["allocated"]) for one in data["items"]] == [(100, 0), (2, 0)]
    assert trade.shelf.reservations() == []
    assert counters(trade) == [(100, 100, 0, 0), (2, 2, 0, 0)]


def test_versions_of_the_copy_and_revisions(trade: Trade) -> None:
    trade.shelf.stock(trade.masks, 5)
    order = submitted(trade, (trade.masks, 5))
    path = f"{ORDERS}/{order['id']}/accept"

    stale = refused(trade.shelf.api.post(path, json={}, headers={"If-Match": '"7"'}), 409, "version_conflict")
    assert stale["current_version"] == 1
    other = refused(answer(trade, order["id"], "accept", revision=2), 409, "revision_changed")
    assert other["revision"] == 1
    found = trade.shelf.api.post(path, json={"revision": 1}, headers={"If-Match": '"1"'})
    assert (found.status_code, found.headers["ETag"].partition(";")[0].strip('"')) == (200, "2")
    assert counters(trade) == [(5, 5, 0, 0)]


def test_a_cancelled_order_is_not_accepted_any_more(trade: Trade) -> None:
    order = submitted(trade, (trade.masks, 5))
    assert act(trade, order["id"], "cancel").status_code == 200

    body = refused(answer(trade, order["id"], "accept"), 409, "invalid_transition")
    assert (body["from"], body["allowed"]) == ("cancelled", [])


def test_trips_of_an_acceptance_do_not_grow_with_the_lines(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 50_000)
    trade.shelf.stock(trade.masks, 50_000)
    counts = []
    for lines in ([(trade.gloves, 1)], [(trade.gloves, 1), (trade.masks, 1)] * 25):
        for _ in range(2):
            order = submitted(trade, *lines)
            with recording() as made:
                found = trade.shelf.api.post(
                    f"{ORDERS}/{order['id']}/accept", json={}, headers={"Idempotency-Key": order["id"]}
                )
            assert found.status_code == 200, found.content
        counts.append(len(made))

    assert counts[0] == counts[1] <= 6, made.texts()
    trade.stored()
