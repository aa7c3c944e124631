"""Lots over HTTP: held back, released, corrected."""

from datetime import date

from core.db import tenant_context
from ledger import public as ledger
from suppliers.inventory.models import Lot
from tests import factories
from tests.races import race
from tests.suppliers import products
from tests.suppliers.inventory.shelf import PATH, body, broken, refused, reserve

LOTS = "/v1/inventory/lots"


def lot_of(shelf, number="L1"):
    with tenant_context(shelf.id):
        return Lot.objects.get(tenant_id=shelf.id, lot_number=number)


def shelved(shelf):
    product = shelf.product(tracking="lot")
    first = shelf.stock(product, 10, lot="L1", expiry=date(2030, 1, 1))
    second = shelf.stock(product, 10, lot="L2", expiry=date(2031, 1, 1))
    shelf.offer(product)
    return product, first, second


def told(side, prefix):
    with tenant_context(side.id):
        return list(
            ledger.Event.objects.filter(tenant_id=side.id, type__startswith=prefix)
            .order_by("id")
            .values_list("type", flat=True)
        )


def test_quarantine_breaks_what_is_reserved_of_the_lot(shelf, buyer, other):
    shelf.settle(reservation_cap_percent=100)
    product, first, second = shelved(shelf)
    (over_both,) = reserve(buyer, shelf, (product, 12))
    (of_second,) = reserve(other, shelf, (product, 3))
    key = lot_of(shelf).id
    answer = shelf.api.patch(f"{LOTS}/{key}", json={"status": "quarantined", "reason": "Seal broken"})
    assert answer.status_code == 200, answer.content
    found = answer.json()["data"]
    assert (found["status"], found["status_reason"], found["version"]) == ("quarantined", "Seal broken", 2)
    assert {str(row.id): row.status for row in shelf.reservations()} == {
        over_both["id"]: "broken",
        of_second["id"]: "active",
    }
    assert (shelf.level(first).reserved, shelf.level(second).reserved) == (0, 3)
    assert told(buyer, "reservation.") == ["reservation.created", "reservation.broken"]
    assert told(shelf, "lot.") == ["lot.quarantined"]
    refused(buyer.api.post(PATH, json=body(shelf, (product, 8))), 409, "insufficient_stock")
    assert broken(shelf, buyer, other) == []
    again = shelf.api.patch(f"{LOTS}/{key}", json={"status": "quarantined", "reason": "again"})
    assert again.json()["data"]["version"] == 2
    shelf.api.patch(f"{LOTS}/{key}", json={"status": "released", "reason": "Checked"})
    reserve(buyer, shelf, (product, 8))
    assert told(shelf, "lot.") == ["lot.quarantined", "lot.released"]


def test_expiry_is_corrected(shelf):
    shelved(shelf)
    key = lot_of(shelf).id
    answer = shelf.api.patch(f"{LOTS}/{key}", json={"expiry_date": "2029-06-30", "reason": "Misread"})
    assert (answer.json()["data"]["expiry_date"], answer.headers["ETag"]) == ("2029-06-30", '"2"')
    assert told(shelf, "lot.") == ["lot.updated"]
    refused(
        shelf.api.patch(f"{LOTS}/{key}", json={"expiry_date": "2029-07-01", "reason": "x"}, headers={"If-Match": '"1"'}),
        409, "version_conflict",
    )  # fmt: skip


def test_reservations_follow_a_corrected_expiry(shelf, buyer, other):
    shelf.settle(reservation_cap_percent=100)
    product, _, second = shelved(shelf)
    (released,) = reserve(other, shelf, (product, 2))
    assert other.api.delete(f"{PATH}/{released['id']}").status_code == 204
    (over_both,) = reserve(buyer, shelf, (product, 12))
    (of_second,) = reserve(other, shelf, (product, 3))
    answer = shelf.api.patch(f"{LOTS}/{lot_of(shelf).id}", json={"expiry_date": "2029-06-30", "reason": "Misread"})
    assert answer.status_code == 200, answer.content
    (seen,) = buyer.api.get(PATH).json()["data"]
    assert [one["expiry_date"] for one in seen["allocations"]] == ["2029-06-30", "2031-01-01"]
    assert (seen["id"], seen["version"], seen["status"]) == (over_both["id"], 2, "active")
    assert {one["id"]: one["version"] for one in other.api.get(PATH).json()["data"]} == {
        released["id"]: 3, of_second["id"]: 1,
    }  # fmt: skip
    assert shelf.level(second).reserved == 5
    assert broken(shelf, buyer, other) == []


def test_an_expiry_is_corrected_of_a_lot_that_is_held_back(shelf, buyer):
    product, first, _ = shelved(shelf)
    (held,) = reserve(buyer, shelf, (product, 4))
    change = {"expiry_date": "2029-06-30", "status": "quarantined", "reason": "Relabelled"}
    assert shelf.api.patch(f"{LOTS}/{lot_of(shelf).id}", json=change).status_code == 200
    (seen,) = buyer.api.get(PATH).json()["data"]
    assert (seen["id"], seen["status"], seen["allocations"][0]["expiry_date"]) == (held["id"], "broken", "2029-06-30")
    assert shelf.level(first).reserved == 0
    assert broken(shelf, buyer) == []


def test_bad_changes_and_strangers(shelf):
    shelved(shelf)
    key = lot_of(shelf).id
    assert ("reason", "required") in products.field_errors(
        shelf.api.patch(f"{LOTS}/{key}", json={"status": "quarantined"})
    )
    errors = products.field_errors(shelf.api.patch(f"{LOTS}/{key}", json={"status": "lost", "reason": "x"}))
    assert errors == {("status", "invalid_choice")}
    stranger = factories.as_member(factories.provision("supplier"), ["supplier_admin"])
    assert stranger.patch(f"{LOTS}/{key}", json={"status": "quarantined", "reason": "x"}).status_code == 404
    there = shelf.place("Elsewhere")
    person, _ = factories.member(shelf.tenant, ["supplier_admin"], location_ids=[there])
    clerk = factories.Api(token=factories.bearer(person), tenant=shelf.tenant)
    assert clerk.patch(f"{LOTS}/{key}", json={"status": "quarantined", "reason": "x"}).status_code == 404
    assert lot_of(shelf).status == "released"


def test_quarantine_against_reservations(shelf, buyer):
    shelf.settle(reservation_cap_percent=100)
    product, first, _ = shelved(shelf)
    key = lot_of(shelf).id

    def reserving():
        api = buyer.client()
        return [api.post(PATH, json=body(shelf, (product, 1))) for _ in range(4)]

    def holding():
        api = factories.Api()
        api.headers = shelf.api.headers
        return [api.patch(f"{LOTS}/{key}", json={"status": "quarantined", "reason": "race"})]

    answers = [one for found in race(*[reserving] * 6, holding) for one in found]
    assert {one.status_code for one in answers} <= {200, 201, 409}
    assert shelf.level(first).reserved == 0
    assert broken(shelf, buyer) == []
