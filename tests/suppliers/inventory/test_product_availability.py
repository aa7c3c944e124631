"""The stored availability of products: every writer of stock keeps it, and only a change of band writes it."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connections

from core import clock
from core.db import tenant_context
from suppliers.catalog.models import Product
from suppliers.inventory.availability_sweep import refresh_availability, refresh_shelf_life
from suppliers.inventory.models import Lot, Reservation, StockLevel
from suppliers.inventory.sweeping import expire_reservations, tell_levels
from tests import factories
from tests.races import race
from tests.suppliers import products
from tests.suppliers.inventory.recalls import facts
from tests.suppliers.inventory.shelf import PATH, body, broken, refused, reserve
from tests.suppliers.inventory.test_inventory import LEVELS, MOVE, PLACES, adjust, line, listed, place
from tests.suppliers.inventory.test_offers import OFFERS, draft


def band(shelf, product):
    """The availability that the product shows; a filter by it finds the product, and one by the others does not."""
    shown = shelf.api.get(f"/v1/products/{product['id']}").json()["data"]["availability"]
    for one in ("available", "limited", "backorder", "unavailable"):
        found = shelf.api.get(f"/v1/products?availability={one}&fields=id").json()["data"]["items"]
        assert (product["id"] in [item["id"] for item in found]) == (one == shown)
    return shown


def test_stock_moves_the_band_and_neither_version_nor_time(shelf, buyer):
    product, where = shelf.product(units=10), place(shelf)
    path = f"/v1/products/{product['id']}"
    assert band(shelf, product) == "unavailable"

    adjust(shelf, line(product, where, 9))
    assert band(shelf, product) == "unavailable"
    adjust(shelf, line(product, where, 21, low_stock_threshold=20))
    assert band(shelf, product) == "available"
    answer = shelf.api.get(path)
    assert answer.headers["ETag"] == '"1;available"'
    assert answer.json()["data"]["updated_at"] == product["updated_at"]
    assert shelf.api.get(path, headers={"If-None-Match": '"1;available"'}).status_code == 304

    shelf.offer(product)
    (held,) = reserve(buyer, shelf, (product, 1))
    assert band(shelf, product) == "limited"
    assert shelf.api.get(path, headers={"If-None-Match": '"1;available"'}).status_code == 200
    assert buyer.api.delete(f"{PATH}/{held['id']}").status_code == 204
    assert band(shelf, product) == "available"

    adjust(shelf, line(product, where, -25, reason_code="damaged"))
    assert band(shelf, product) == "unavailable"
    changed = products.body(supplier_sku=product["supplier_sku"], packagings=product["packagings"], name="Renamed")
    answer = shelf.api.put(path, json=changed, headers={"If-Match": '"1;available"'})
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
    assert broken(shelf, buyer) == []


def test_stock_exactly_at_the_threshold_is_limited(shelf):
    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where, 20, low_stock_threshold=20))
    assert band(shelf, product) == "limited"
    adjust(shelf, line(product, where, 1))
    assert band(shelf, product) == "available"


def test_a_move_to_a_place_that_sells_nothing(shelf):
    product, here, there = shelf.product(), place(shelf), place(shelf, sellable=False)
    adjust(shelf, line(product, here, 5))
    moved = {"from_location_id": here["id"], "to_location_id": there["id"]}
    body = moved | {"lines": [{"product_id": product["id"], "quantity": 5}]}
    assert shelf.api.post(MOVE, json=body).status_code == 201
    assert band(shelf, product) == "unavailable"
    opened = {"location_id": there["id"], "code": there["code"], "sellable": True}
    assert shelf.api.post(PLACES, json=opened).status_code == 200
    assert band(shelf, product) == "available"
    assert shelf.api.post(PLACES, json=opened | {"sellable": False}).status_code == 200
    assert band(shelf, product) == "unavailable"
    assert broken(shelf) == []


def test_levels_of_a_place_that_sells_nothing_any_more_are_told(shelf):
    product, where, full = shelf.product(), place(shelf), place(shelf)
    adjust(shelf, line(product, where, 100), line(product, full, 7))
    (before,) = listed(shelf, LEVELS, f"location_id={where['id']}")
    closed = {"location_id": where["id"], "code": where["code"], "sellable": False}
    assert shelf.api.post(PLACES, json=closed).status_code == 200
    (level,) = listed(shelf, LEVELS, f"updated_since={before['updated_at']}&location_id={where['id']}")
    assert (level["sellable"], level["version"]) == (0, before["version"] + 1)
    assert level["updated_at"] > before["updated_at"]
    tell_levels(at=clock.now() + timedelta(seconds=2))
    last = [(one.data["on_hand"], one.data["sellable"]) for one in facts(shelf, "stock.level_changed")]
    assert last == [(100, 100), (7, 7), (100, 0)]
    assert broken(shelf) == []


def test_a_place_that_becomes_one_of_quarantine_sells_nothing(shelf, buyer):
    product, where = shelf.product(), place(shelf)
    adjust(shelf, line(product, where, 5))
    shelf.offer(product)
    manager = factories.as_member(shelf.tenant, ["tenant_admin"])
    location = f"/v1/locations/{where['id']}"
    assert manager.patch(location, json={"type": "zone"}).status_code == 200
    assert [(one["sellable"], one["version"]) for one in listed(shelf, PLACES)] == [(True, 1)]
    assert manager.patch(location, json={"type": "quarantine"}).status_code == 200
    assert [(one["type"], one["sellable"], one["version"]) for one in listed(shelf, PLACES)] == [
        ("quarantine", False, 2)
    ]
    assert [one["sellable"] for one in listed(shelf, LEVELS)] == [0]
    assert band(shelf, product) == "unavailable"
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "insufficient_stock")
    assert manager.patch(location, json={"type": "warehouse"}).status_code == 200
    assert [one["sellable"] for one in listed(shelf, PLACES)] == [False]
    assert broken(shelf, buyer) == []


def test_a_lot_that_is_held_back_and_released(shelf):
    product = shelf.product(tracking="lot")
    shelf.stock(product, 10, lot="L1", expiry=date(2040, 1, 1))
    with tenant_context(shelf.id):
        lot = Lot.objects.get(tenant_id=shelf.id)
    for status, expected in (("quarantined", "unavailable"), ("released", "available")):
        assert (
            shelf.api.patch(f"/v1/inventory/lots/{lot.id}", json={"status": status, "reason": "Checked"}).status_code
            == 200
        )
        assert band(shelf, product) == expected
    assert broken(shelf) == []


def test_a_corrected_expiry_date(shelf):
    product = shelf.product(tracking="lot")
    shelf.stock(product, 10, lot="L1", expiry=date(2040, 1, 1))
    with tenant_context(shelf.id):
        lot = Lot.objects.get(tenant_id=shelf.id)
    body = {"expiry_date": "2020-01-01", "reason": "Misread"}
    assert shelf.api.patch(f"/v1/inventory/lots/{lot.id}", json=body).status_code == 200
    assert band(shelf, product) == "unavailable"


def test_an_offer_made_to_order_is_backorder_until_it_is_hidden(shelf):
    product = shelf.product()
    offer = draft(shelf, product, stock_policy="made_to_order")
    assert band(shelf, product) == "unavailable"
    assert shelf.api.post(f"{OFFERS}/{offer['id']}/publish").status_code == 200
    assert band(shelf, product) == "backorder"
    adjust(shelf, line(product, place(shelf), 5))
    assert band(shelf, product) == "available"
    adjust(shelf, line(product, place(shelf), 1))
    assert shelf.api.post(f"{OFFERS}/{offer['id']}/unpublish").status_code == 200
    assert band(shelf, product) == "available"
    assert broken(shelf) == []


def test_packagings_decide_what_a_pack_is(shelf):
    product = shelf.product(units=10)
    adjust(shelf, line(product, place(shelf), 5))
    path = f"/v1/products/{product['id']}"
    assert band(shelf, product) == "unavailable"
    small = products.packaging(level="inner", units_per_pack=5)
    body = {"supplier_sku": product["supplier_sku"], "packagings": [*product["packagings"], small]}
    assert shelf.api.put(path, json=products.body(**body)).status_code == 200
    assert band(shelf, product) == "available"
    batch = {"items": [products.body(supplier_sku=product["supplier_sku"], packagings=product["packagings"])]}
    answer = shelf.api.post("/v1/products/bulk", json=batch)
    assert answer.json()["data"]["updated"] == 1, answer.content
    assert band(shelf, product) == "unavailable"
    assert broken(shelf) == []


def test_a_reservation_whose_time_is_over_gives_the_band_back(shelf, buyer):
    product = shelf.product()
    shelf.settle(reservation_cap_percent=100)
    shelf.stock(product, 2)
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    assert band(shelf, product) == "unavailable"
    with connections["owner"].cursor() as cursor:
        for table in ("suppliers_reservation", "suppliers_allocation"):
            cursor.execute(f"UPDATE {table} SET expires_at = now() WHERE tenant_id = %s", [shelf.id])
    stock = shelf.api.get(f"/v1/products/{product['id']}?include=stock").json()["data"]["stock"]
    assert stock == {"on_hand": 2, "reserved": 2, "sellable": 2}
    expire_reservations(at=clock.now())
    with tenant_context(shelf.id):
        assert Reservation.objects.get(tenant_id=shelf.id).status == "expired"
    assert band(shelf, product) == "available"


@pytest.mark.parametrize(("zone", "expired"), [("Pacific/Kiritimati", True), ("Pacific/Niue", False)])
def test_a_lot_expires_with_the_day_of_its_place(shelf, zone, expired):
    today = clock.now().date()
    noon = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    product = shelf.product(tracking="lot")
    shelf.stock(product, 4, lot="L1", expiry=today, place=shelf.place(zone=zone))
    assert refresh_availability(at=noon) >= 1
    assert band(shelf, product) == ("unavailable" if expired else "available")


def test_the_sweep_finds_a_lot_that_time_alone_has_ended(shelf):
    product = shelf.product(tracking="lot")
    shelf.stock(product, 4, lot="L1", expiry=date(2040, 1, 1))
    untouched = shelf.product()
    with tenant_context(shelf.id):
        Lot.objects.filter(tenant_id=shelf.id).update(expiry_date=clock.now().date() - timedelta(2))
    assert [one.rule for one in broken(shelf)] == ["availability"]
    refresh_availability(at=clock.now())
    assert (band(shelf, product), band(shelf, untouched)) == ("unavailable", "unavailable")
    assert broken(shelf) == []


def test_planted_fault_is_found(shelf):
    product = shelf.product()
    shelf.stock(product, 4)
    assert broken(shelf) == []
    with tenant_context(shelf.id):
        Product._base_manager.filter(tenant_id=shelf.id, pk=product["id"]).update(availability="limited")
    (breach,) = broken(shelf)
    assert (breach.rule, breach.table, str(breach.row_id)) == ("availability", "suppliers_product", product["id"])
    assert breach.what == "availability is limited, stock and offers give available"


def test_writers_at_once_leave_the_band_of_the_last(shelf, buyer):
    """Two reservations of other levels, given back at once, each see no more than the thresholds; both together do."""
    shelf.settle(reservation_cap_percent=100)
    items = []
    for _ in range(8):
        product = shelf.product(units=10, packagings=[products.packaging(units_per_pack=10)])
        for _ in range(2):
            shelf.stock(product, 10, place=shelf.place(factories.suffix()))
        with tenant_context(shelf.id):
            levels = StockLevel.objects.filter(tenant_id=shelf.id, product_id=product["id"])
            levels.update(low_stock_threshold=5)
        shelf.offer(product)
        each = {"product_id": product["id"], "quantity": 1}
        held = [reserve(buyer, shelf, each)[0] for _ in range(2)]
        assert band(shelf, product) == "unavailable"
        items.append((product, held))

    def release(number):
        api = buyer.client()
        return [api.delete(f"{PATH}/{held[number]['id']}").status_code for _, held in items]

    assert race(lambda: release(0), lambda: release(1)) == [[204] * 8] * 2
    assert {band(shelf, product) for product, _ in items} == {"available"}
    assert broken(shelf, buyer) == []


def test_goods_are_available_while_they_last_as_long_as_their_product_asks(shelf, buyer):
    today = clock.now().date()
    product = shelf.product(tracking="lot", shelf_life_days=400, min_remaining_shelf_life_days=30)
    level = shelf.stock(product, 4, lot="L1", expiry=today + timedelta(29), place=shelf.place(zone="UTC"))
    shelf.offer(product)
    assert band(shelf, product) == "unavailable"
    found = shelf.api.get(f"/v1/inventory/levels/{level}").json()["data"]
    assert (found["sellable"], found["holds"]) == (0, [{"type": "shelf_life_too_short", "reason": None}])
    stock = shelf.api.get(f"/v1/products/{product['id']}?include=stock").json()["data"]["stock"]
    assert stock == {"on_hand": 4, "reserved": 0, "sellable": 0}
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "insufficient_stock")

    changed = products.body(
        supplier_sku=product["supplier_sku"], packagings=product["packagings"], tracking="lot", shelf_life_days=400,
        min_remaining_shelf_life_days=20,
    )  # fmt: skip
    assert shelf.api.put(f"/v1/products/{product['id']}", json=changed).status_code == 200
    assert band(shelf, product) == "available"
    noon = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    refresh_shelf_life(at=noon + timedelta(9))
    assert band(shelf, product) == "available"
    assert refresh_shelf_life(at=noon + timedelta(10)) >= 1
    assert band(shelf, product) == "unavailable"
    batch = {"items": [changed | {"min_remaining_shelf_life_days": 10}], "mode": "merge"}
    assert shelf.api.post("/v1/products/bulk", json=batch).json()["data"]["updated"] == 1
    assert band(shelf, product) == "available"
    adjust(shelf, line(product, place(shelf), 3, lot_number="L2", expiry_date=str(today + timedelta(9))))
    told = facts(shelf, "stock.level_changed")[-1].data
    assert (told["on_hand"], told["sellable"]) == (3, 0)
    assert broken(shelf, buyer) == []
