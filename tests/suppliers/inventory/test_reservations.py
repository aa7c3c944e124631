"""Reservations over HTTP: what a buyer may reserve, what both parties see and are told, how they end."""

from datetime import date, datetime, timedelta

import pytest

from core import clock
from core.actor import system_actor
from core.db import tenant_context
from ledger import public as ledger
from organizations.actions.tenants import suspend_tenant
from organizations.management.base import locked_tenant
from suppliers.inventory.models import Reservation
from suppliers.inventory.sweeping import expire_reservations, tell_levels
from tests.suppliers.inventory.shelf import PATH, body, broken, copies, refused, reserve


def told(side, prefix="reservation."):
    """Types and payloads of a tenant's facts, the oldest first."""
    with tenant_context(side.id):
        rows = ledger.Event.objects.filter(tenant_id=side.id, type__startswith=prefix).order_by("id")
        return [(row.type, row.data, row.subject_kind, row.credential, row.resource_version) for row in rows]


def in_the_past(shelf, *ids):
    """Let the time of reservations be over."""
    over = clock.now() - timedelta(seconds=1)
    with tenant_context(shelf.id):
        rows = Reservation.objects.filter(tenant_id=shelf.id, id__in=ids)
        rows.update(expires_at=over)
        for row in rows:
            row.allocations.filter(tenant_id=shelf.id).update(expires_at=over)


def test_reserved_stock_is_seen_by_both_and_taken_from_what_expires_first(shelf, buyer):
    product = shelf.product(units=10)
    later = shelf.stock(product, 100, lot="B", expiry=date(2031, 5, 1))
    first = shelf.stock(product, 30, lot="A", expiry=date(2030, 5, 1))
    shelf.stock(product, 50, lot="C", expiry=date(2020, 1, 1))
    offer = shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 5), ttl_seconds=600)
    assert (made["quantity"], made["base_quantity"], made["base_unit"], made["unit"]) == (5, 50, "EA", "pack")
    assert (made["supplier_id"], made["buyer_id"]) == (str(shelf.id), str(buyer.id))
    assert (made["offer_id"], made["kind"], made["status"]) == (str(offer), "soft", "active")
    assert made["allocations"] == [
        {"expiry_date": "2030-05-01", "base_quantity": 30}, {"expiry_date": "2031-05-01", "base_quantity": 20},
    ]  # fmt: skip
    assert not {"location_id", "level_id", "lot_number"} & set(made)
    assert (shelf.level(first).reserved, shelf.level(later).reserved) == (30, 20)
    (listed,) = buyer.api.get(PATH).json()["data"]
    assert listed == made
    (own,) = shelf.api.get("/v1/inventory/reservations").json()["data"]["items"]
    assert [one["lot_number"] for one in own["allocations"]] == ["A", "B"]
    assert {name: own[name] for name in made if name != "allocations"} == {
        name: value for name, value in made.items() if name != "allocations"
    }
    assert broken(shelf, buyer) == []


def test_both_are_told_each_without_the_others_people(shelf, buyer):
    product = shelf.product()
    level = shelf.stock(product, 10, threshold=8)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 5))
    ((mine, data, kind, credential, version),) = told(buyer)
    ((theirs, same, their_kind, their_credential, _),) = told(shelf)
    assert (mine, theirs, data) == ("reservation.created", "reservation.created", same)
    assert (data["by"], data["base_quantity"], data["status"], version) == ("buyer", 5, "active", 1)
    assert (kind, their_kind) == ("user", "system")
    assert credential
    assert credential != their_credential
    of_level = told(shelf, "stock.")
    assert [one[0] for one in of_level] == ["stock.level_changed", "stock.low"]
    assert of_level[0][1]["level_id"] == str(level)
    assert (of_level[0][1]["reserved"], of_level[0][1]["sellable"], of_level[0][1]["by"]) == (5, 5, "buyer")
    assert told(buyer, "stock.") == []
    assert made["id"] == str(copies(buyer)[0].id)


def test_levels_are_told_of_once_a_second_and_the_last_word_is_the_last_quantity(shelf, buyer):
    product = shelf.product()
    level = shelf.stock(product, 100)
    shelf.offer(product)
    for _ in range(3):
        reserve(buyer, shelf, (product, 1))
    assert len(told(shelf, "stock.level_changed")) == 1
    assert shelf.level(level).is_untold
    assert tell_levels(at=clock.now() + timedelta(seconds=2)) >= 1
    assert [one[1]["reserved"] for one in told(shelf, "stock.level_changed")] == [1, 3]
    assert not shelf.level(level).is_untold


@pytest.mark.parametrize(
    ("display", "cap", "said"),
    [("exact", None, "7"), ("capped", 3, "3"), ("band", None, "1-9"), ("hidden", None, "less than that")],
)
def test_shortage_tells_what_the_offer_tells(shelf, buyer, display, cap, said):
    product, plenty = shelf.product(), shelf.product()
    shelf.stock(product, 7)
    shelf.stock(plenty, 100)
    shelf.offer(product, stock_display=display, cap=cap)
    shelf.offer(plenty)
    answer = buyer.api.post(PATH, json=body(shelf, (plenty, 1), (product, 8)))
    (error,) = refused(answer, 409, "insufficient_stock")["errors"]
    assert error == {
        "field": "items.1.quantity", "pointer": "/items/1/quantity", "code": "insufficient_stock",
        "message": f"Available: {said}.",
    }  # fmt: skip
    assert shelf.reservations() == []
    assert copies(buyer) == []


def test_two_lines_of_one_product_share_its_stock(shelf, buyer):
    shelf.settle(reservation_cap_percent=100)
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    refused(buyer.api.post(PATH, json=body(shelf, (product, 6), (product, 6))), 409, "insufficient_stock")
    assert [one["line_no"] for one in reserve(buyer, shelf, (product, 6), (product, 4))] == [1, 2]
    assert broken(shelf, buyer) == []


def test_share_of_one_buyer_does_not_shrink_for_the_next(shelf, buyer, other):
    product = shelf.product()
    shelf.stock(product, 100)
    shelf.offer(product)
    refused(buyer.api.post(PATH, json=body(shelf, (product, 51))), 409, "reservation_limit")
    reserve(buyer, shelf, (product, 50))
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "reservation_limit")
    reserve(other, shelf, (product, 50))
    assert broken(shelf, buyer, other) == []


def test_one_pack_may_always_be_reserved(shelf, buyer):
    product = shelf.product(units=10)
    shelf.stock(product, 10)
    shelf.offer(product)
    assert len(reserve(buyer, shelf, (product, 1))) == 1


@pytest.mark.parametrize(
    "what", ["unpublished", "excluded", "not chosen", "not begun", "ended", "other packaging", "unknown"]
)
def test_what_a_buyer_is_not_offered_does_not_exist(shelf, buyer, other, what):
    product = shelf.product()
    shelf.stock(product, 10)
    item = {"product_id": product["id"], "quantity": 1}
    day = timedelta(days=2)
    if what == "excluded":
        shelf.exclude(shelf.offer(product), buyer)
    elif what == "not chosen":
        shelf.offer(product, to=[other])
    elif what == "not begun":
        shelf.offer(product, valid_from=date.today() + day)
    elif what == "ended":
        shelf.offer(product, valid_to=date.today() - day)
    elif what == "other packaging":
        shelf.offer(product)
        item["packaging_id"] = str(other.id)
    elif what == "unknown":
        item["product_id"] = str(other.id)
    answer = buyer.api.post(PATH, json=body(shelf, item))
    assert refused(answer, 409, "offer_not_available")["errors"][0]["pointer"] == "/items/0"


def test_chosen_buyer_reserves_what_others_do_not_see(shelf, buyer, other):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product, to=[buyer])
    reserve(buyer, shelf, (product, 1))
    refused(other.api.post(PATH, json=body(shelf, (product, 1))), 409, "offer_not_available")


def test_goods_that_may_not_be_sold_are_not_promised(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10, lot="Q", status="quarantined")
    shelf.stock(product, 10, lot="E", expiry=date.today() - timedelta(days=2))
    shelf.stock(product, 10, place=shelf.place("Cage", sellable=False))
    shelf.offer(product)
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "insufficient_stock")


def test_expiry_is_the_last_day_of_use_where_the_goods_lie(shelf, buyer):
    product = shelf.product()
    zone = "Pacific/Kiritimati"  # the day begins there first
    from zoneinfo import ZoneInfo

    there = clock.now().astimezone(ZoneInfo(zone)).date()
    place = shelf.place("Far", zone=zone)
    shelf.stock(product, 4, lot="today", expiry=there, place=place)
    shelf.offer(product)
    reserve(buyer, shelf, (product, 1))
    late = there + timedelta(days=1)
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1), needed_date=late)), 409, "insufficient_stock")
    item = {"product_id": product["id"], "quantity": 1, "min_remaining_shelf_life_days": 1}
    refused(buyer.api.post(PATH, json=body(shelf, item)), 409, "insufficient_stock")


def test_base_units_may_be_reserved_without_a_whole_pack(shelf, buyer):
    product = shelf.product(units=10)
    shelf.stock(product, 100)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, {"product_id": product["id"], "quantity": 15, "unit": "base"})
    assert (made["quantity"], made["base_quantity"], made["unit"]) == (None, 15, "base")


# -- how they end ------------------------------------------------------------------------------------------------------


def test_released_stock_is_free_at_once(shelf, buyer):
    product = shelf.product()
    level = shelf.stock(product, 10)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 5))
    assert buyer.api.delete(f"{PATH}/{made['id']}").status_code == 204
    assert shelf.level(level).reserved == 0
    assert [row.status for row in (*shelf.reservations(), *shelf.allocations(), *copies(buyer))] == ["released"] * 3
    assert [one[0] for one in told(shelf)] == ["reservation.created", "reservation.released"]
    assert refused(buyer.api.delete(f"{PATH}/{made['id']}"), 409, "reservation_not_active")["state"] == "released"
    refused(buyer.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 60}), 409, "reservation_not_active")
    assert broken(shelf, buyer) == []


def test_reservation_is_extended_three_times(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 1), ttl_seconds=60)
    for number in (1, 2, 3):
        answer = buyer.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 3600})
        assert answer.status_code == 200, answer.content
        assert (answer.json()["data"]["extensions"], answer.headers["ETag"]) == (number, f'"{number + 1}"')
    assert answer.json()["data"]["expires_at"] > made["expires_at"]
    refused(buyer.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 60}), 409, "reservation_limit")
    assert {row.expires_at for row in (*shelf.reservations(), *shelf.allocations(), *copies(buyer))} == {
        shelf.reservations()[0].expires_at
    }
    assert broken(shelf, buyer) == []


def test_extension_says_for_how_long(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 1))
    (error,) = refused(buyer.api.patch(f"{PATH}/{made['id']}", json={}), 400, "validation_error")["errors"]
    assert (error["field"], error["code"]) == ("ttl_seconds", "required")


def test_time_that_nobody_asks_for_is_what_the_supplier_allows(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)

    def lasts():
        (made,) = reserve(buyer, shelf, (product, 1))
        return (datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])).total_seconds()

    assert lasts() == 900
    shelf.settle(max_soft_minutes=5)
    assert lasts() == 300


def test_supplier_bounds_the_time(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    answer = buyer.api.post(PATH, json=body(shelf, (product, 1), ttl_seconds=3601))
    assert [(one["field"], one["code"]) for one in refused(answer, 400, "validation_error")["errors"]] == [
        ("ttl_seconds", "max_value")
    ]
    shelf.settle(max_soft_minutes=120)
    (made,) = reserve(buyer, shelf, (product, 1), ttl_seconds=3601)
    refused(buyer.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 7201}), 400, "validation_error")


def test_lapsed_reservation_blocks_nobody_and_is_told_to_its_buyer(shelf, buyer, other):
    shelf.settle(reservation_cap_percent=100)
    product = shelf.product()
    level = shelf.stock(product, 10)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 10))
    refused(other.api.post(PATH, json=body(shelf, (product, 1))), 409, "insufficient_stock")
    in_the_past(shelf, made["id"])
    refused(buyer.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 60}), 409, "reservation_expired")
    reserve(other, shelf, (product, 4))
    assert shelf.level(level).reserved == 4
    assert [one.status for one in copies(buyer)] == ["expired"]
    assert [one[0] for one in told(buyer)] == ["reservation.created", "reservation.expired"]
    assert told(buyer)[-1][1]["by"] == "system"
    assert [one[0] for one in told(shelf)] == ["reservation.created", "reservation.expired", "reservation.created"]
    assert broken(shelf, buyer, other) == []
    refused(buyer.api.delete(f"{PATH}/{made['id']}"), 409, "reservation_expired")


def test_sweep_ends_what_has_lapsed_once(shelf, buyer):
    product = shelf.product()
    level = shelf.stock(product, 50)
    shelf.offer(product)
    made = [reserve(buyer, shelf, (product, 1))[0]["id"] for _ in range(3)]
    in_the_past(shelf, *made[:2])
    assert expire_reservations(at=clock.now()) >= 2
    assert [one.status for one in copies(buyer)] == ["expired", "expired", "active"]
    assert shelf.level(level).reserved == 1
    before = len(told(shelf))
    expire_reservations(at=clock.now())
    assert len(told(shelf)) == before
    assert broken(shelf, buyer) == []


# -- in what circumstances ---------------------------------------------------------------------------------------------


def test_supplier_that_is_suspended_takes_no_reservations(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 1))
    with tenant_context(shelf.id):
        row = locked_tenant(str(shelf.id))
        suspend_tenant(actor=system_actor(row.id), tenant=row, reason="review", at=clock.now())
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "supplier_not_qualified")
    assert buyer.api.delete(f"{PATH}/{made['id']}").status_code == 204


def test_same_key_reserves_once(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 100)
    shelf.offer(product)
    first, second = (
        buyer.api.post(PATH, json=body(shelf, (product, 1)), headers={"Idempotency-Key": "one"}) for _ in range(2)
    )
    assert first.content == second.content
    assert second.headers["Idempotency-Replayed"] == "true"
    assert len(shelf.reservations()) == 1


def test_lists_are_filtered(shelf, buyer):
    product, second = shelf.product(), shelf.product()
    for one in (product, second):
        shelf.stock(one, 100)
        shelf.offer(one)
    (gone,) = reserve(buyer, shelf, (product, 1))
    (kept,) = reserve(buyer, shelf, (second, 1))
    buyer.api.delete(f"{PATH}/{gone['id']}")

    def ids(query):
        return [one["id"] for one in buyer.api.get(f"{PATH}?{query}").json()["data"]]

    def own(query):
        return [one["id"] for one in shelf.api.get(f"/v1/inventory/reservations?{query}").json()["data"]["items"]]

    for found in (ids, own):
        assert found("status=active") == [kept["id"]]
        assert found(f"product_id={product['id']}") == [gone["id"]]
        assert found("expires_before=2020-01-01T00:00:00Z") == []
        assert found("status=active,released&sort=created_at") == [gone["id"], kept["id"]]
    assert ids(f"supplier_id={shelf.id}&status=released") == [gone["id"]]
    assert own(f"buyer_id={buyer.id}&status=released") == [gone["id"]]
    refused(buyer.api.get(f"{PATH}?status=lost"), 400, "validation_error")
    refused(buyer.api.get(f"{PATH}?buyer_id={buyer.id}"), 400, "unknown_parameter")


# -- what it costs -----------------------------------------------------------------------------------------------------


def test_trips(shelf, buyer):
    from bench.statements import recording

    product = shelf.product()
    shelf.stock(product, 1000)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 1))
    seen = {}
    for name, act in (
        ("reserve", lambda: reserve(buyer, shelf, (product, 1))),
        ("extend", lambda: buyer.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 60})),
        ("list", lambda: buyer.api.get(PATH)),
        ("release", lambda: buyer.api.delete(f"{PATH}/{made['id']}")),
    ):
        with recording() as statements:
            act()
        seen[name] = len(statements)
    assert seen == {"reserve": 5, "extend": 6, "list": 1, "release": 6}
