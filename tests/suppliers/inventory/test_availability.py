"""What can be promised, by product and location."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest

from bench.statements import recording
from core.db import tenant_context
from suppliers.catalog.models import Product
from suppliers.inventory.models import Allocation, Reservation
from tests import factories
from tests.suppliers.inventory.shelf import PATH as RESERVATIONS
from tests.suppliers.inventory.shelf import body, refused, reserve
from tests.suppliers.inventory.test_inventory import adjust, line

PATH = "/v1/inventory/availability"


def available(shelf, query=""):
    answer = shelf.api.get(f"{PATH}?{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]["items"]


def test_lots_of_a_product_at_a_place_are_one_row(shelf, buyer):
    product = shelf.product(tracking="lot")
    hall, yard = shelf.place("Hall"), shelf.place("Yard", sellable=False)
    soon, later = date.today() + timedelta(days=10), date.today() + timedelta(days=400)
    shelf.stock(product, 10, lot="L1", expiry=soon, place=hall)
    shelf.stock(product, 20, lot="L2", expiry=later, place=hall)
    shelf.stock(product, 40, lot="L3", expiry=date.today() - timedelta(days=2), place=hall)
    shelf.stock(product, 80, lot="L4", expiry=later, place=hall, status="quarantined")
    shelf.stock(product, 160, lot="L5", expiry=later, place=yard)
    shelf.offer(product)
    shelf.settle(reservation_cap_percent=100)
    reserve(buyer, shelf, (product, 4))
    found = {one["location_id"]: one for one in available(shelf)}
    assert found[str(hall)] == {
        "product_id": product["id"], "supplier_sku": product["supplier_sku"], "base_unit": "EA", "location_id": str(hall),
        "location_name": "Hall", "on_hand": 150, "reserved": 4, "sellable": 26, "incoming": 0,
        "earliest_expiry": soon.isoformat(), "updated_at": found[str(hall)]["updated_at"],
    }  # fmt: skip
    yard_row = found[str(yard)]
    assert (yard_row["on_hand"], yard_row["sellable"], yard_row["earliest_expiry"]) == (160, 0, None)


def test_needed_date_decides_what_lasts(shelf):
    product = shelf.product(tracking="lot")
    today = datetime.now(UTC).date()
    shelf.stock(product, 10, lot="L1", expiry=today + timedelta(days=30))
    shelf.stock(product, 5, lot="L2", expiry=None)

    def seen(days):
        (row,) = available(shelf, f"needed_date={(today + timedelta(days=days)).isoformat()}")
        return row["sellable"], row["earliest_expiry"]

    last = (today + timedelta(days=30)).isoformat()
    assert (seen(30), seen(31)) == ((15, last), (5, None))
    with tenant_context(shelf.id):
        Product.objects.filter(tenant_id=shelf.id, pk=product["id"]).update(min_remaining_shelf_life_days=20)
    assert (seen(10), seen(11)) == ((15, last), (5, None))
    assert available(shelf)[0]["sellable"] == 15


def test_needed_date_that_is_over_sells_nothing_expired(shelf, buyer):
    product = shelf.product(tracking="lot")
    today = datetime.now(UTC).date()
    shelf.stock(product, 10, lot="L1", expiry=today - timedelta(days=10))
    shelf.offer(product)
    over = (today - timedelta(days=20)).isoformat()
    (row,) = available(shelf, f"needed_date={over}")
    assert (row["sellable"], row["earliest_expiry"]) == (0, None)
    (item,) = buyer.api.get(f"/v1/stock/availability?product_id={product['id']}&needed_date={over}").json()["data"]
    assert (item["status"], item["quantity"]) == ("unavailable", 0)
    refused(buyer.api.post(RESERVATIONS, json=body(shelf, (product, 1), needed_date=over)), 409, "insufficient_stock")
    shelf.stock(product, 4, lot="L2", expiry=today + timedelta(days=30))
    shelf.settle(reservation_cap_percent=100)
    (made,) = reserve(buyer, shelf, (product, 4), needed_date=over)
    assert [one["expiry_date"] for one in made["allocations"]] == [(today + timedelta(days=30)).isoformat()]


def test_what_has_lapsed_can_be_promised_again(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    reserve(buyer, shelf, (product, 3))
    over = datetime.now(UTC) - timedelta(minutes=1)
    with tenant_context(shelf.id):
        Reservation.objects.filter(tenant_id=shelf.id).update(expires_at=over)
        Allocation.objects.filter(tenant_id=shelf.id).update(expires_at=over)
    (row,) = available(shelf)
    assert (row["on_hand"], row["reserved"], row["sellable"]) == (10, 3, 10)


def test_list_is_filtered_sorted_and_paged_in_one_trip(shelf):
    items, (hall, yard) = [shelf.product() for _ in range(3)], [shelf.place(), shelf.place()]
    for number, product in enumerate(items):
        shelf.stock(product, number + 1, place=hall)
        shelf.stock(product, 10 * (number + 1), place=yard)
    assert {one["location_id"] for one in available(shelf, f"product_id={items[0]['id']}")} == {str(hall), str(yard)}
    assert [one["on_hand"] for one in available(shelf, f"location_id={hall}&sort=on_hand")] == [1, 2, 3]
    assert [one["sellable"] for one in available(shelf, "sort=-sellable")] == [30, 20, 10, 3, 2, 1]
    skus = [one["supplier_sku"] for one in available(shelf)]
    assert skus == sorted(skus)
    with recording() as record:
        answer = shelf.api.get(f"{PATH}?limit=4&needed_date=2030-01-01")
    assert len(record) == 1, record.texts()
    assert answer.json()["data"]["total"] == 6
    pages = [available(shelf, f"limit=2&page={number}") for number in (1, 2, 3)]
    assert len({(one["product_id"], one["location_id"]) for page in pages for one in page}) == 6
    assert all(first != second for first, second in pairwise(pages))


@pytest.mark.parametrize(
    ("query", "code"),
    [("needed_date=soon", "validation_error"), ("lot=L1", "unknown_parameter"), ("sort=lot", "unknown_sort")],
)
def test_bad_queries(shelf, query, code):
    refused(shelf.api.get(f"{PATH}?{query}"), 400, code)


def test_membership_of_one_place_sees_its_own_and_strangers_nothing(shelf):
    product, (hall, yard) = shelf.product(), [shelf.place(), shelf.place()]
    for one in (hall, yard):
        shelf.stock(product, 5, place=one)
    person, _ = factories.member(shelf.tenant, ["supplier_admin"], location_ids=[hall])
    clerk = factories.Api(token=factories.bearer(person), tenant=shelf.tenant)
    assert [one["location_id"] for one in clerk.get(PATH).json()["data"]["items"]] == [str(hall)]
    stranger = factories.as_member(factories.provision("supplier"), ["supplier_admin"])
    assert stranger.get(PATH).json()["data"]["items"] == []
    reader = factories.Api(key=factories.api_key(shelf.tenant, scopes=["catalog:read"]), tenant=shelf.tenant)
    refused(reader.get(PATH), 403, "insufficient_scope")


def test_place_of_another_zone_has_its_own_today(shelf):
    """An expiry date is the last day of use, by the date at the place."""
    product = shelf.product(tracking="lot")
    where = {zone: shelf.place(zone, zone=zone) for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago")}
    now = datetime.now(UTC)
    eastern = (now + timedelta(hours=14)).date()
    last = (eastern - timedelta(days=1)).isoformat()
    adjust(shelf, *(line(product, {"id": str(key)}, 5, lot_number="L1", expiry_date=last) for key in where.values()))
    found = {one["location_name"]: one["sellable"] for one in available(shelf)}
    assert found == {"Pacific/Kiritimati": 0, "Pacific/Pago_Pago": 5}
