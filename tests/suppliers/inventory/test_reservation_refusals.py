"""Who may not reserve, extend or release, and bodies that are refused."""

import pytest

from tests import factories
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import PATH, body, refused, reserve
from tests.suppliers.inventory.shelf import buyer as new_buyer


def test_stranger_finds_no_reservation(shelf, buyer, other):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 1))
    assert other.api.get(PATH).json()["data"] == []
    assert other.api.delete(f"{PATH}/{made['id']}").status_code == 404
    assert other.api.patch(f"{PATH}/{made['id']}", json={"ttl_seconds": 60}).status_code == 404
    assert other.api.get(f"{PATH}?supplier_id={shelf.id}").json()["data"] == []
    third = factories.as_member(factories.provision("supplier"), ["supplier_admin"])
    assert third.get("/v1/inventory/reservations").json()["data"]["total"] == 0
    assert [row.status for row in shelf.reservations()] == ["active"]


def test_supplier_does_not_act_for_the_buyer(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    (made,) = reserve(buyer, shelf, (product, 1))
    answer = shelf.api.delete(f"{PATH}/{made['id']}")
    assert answer.status_code == 403
    assert answer.json()["code"] in ("insufficient_scope", "not_a_buyer")


def test_owner_that_is_a_buyer_too_does_not_act_for_the_other_party(buyer):
    tenant = factories.provision("supplier", also=("provider",))
    mine = shelves.Shelf(tenant, factories.as_member(tenant, ["supplier_admin", "buyer"]))
    product = mine.product()
    mine.stock(product, 10)
    mine.offer(product)
    (made,) = reserve(buyer, mine, (product, 1))
    refused(mine.api.delete(f"{PATH}/{made['id']}"), 403, "counterparty_only")
    assert [row.status for row in mine.reservations()] == ["active"]


def test_rights_kinds_and_features(shelf, buyer):
    reader = factories.as_member(buyer.tenant, ["approver"])
    assert reader.get(PATH).status_code == 200
    refused(reader.post(PATH, json=body(shelf)), 403, "insufficient_scope")
    key = factories.Api(key=factories.api_key(shelf.tenant), tenant=shelf.tenant)
    refused(key.get(PATH), 403, "credential_not_accepted")
    assert key.get("/v1/inventory/reservations").status_code == 200
    supplier = factories.as_member(shelf.tenant, ["buyer"])
    refused(supplier.get(PATH), 403, "not_a_buyer")


def test_trade_with_oneself_and_with_nobody(shelf, buyer):
    own = body(shelf, {"product_id": str(shelf.id), "quantity": 1}) | {"supplier_id": str(buyer.id)}
    refused(buyer.api.post(PATH, json=own), 400, "self_trade")
    for nobody in (str(new_buyer().id), "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"):
        answer = buyer.api.post(PATH, json=own | {"supplier_id": nobody})
        assert [one["code"] for one in refused(answer, 400, "validation_error")["errors"]] == ["unknown_supplier"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"items": []}, "items"), ({"ttl_seconds": 59}, "ttl_seconds"), ({"ttl_seconds": 86_401}, "ttl_seconds"),
        ({"supplier_id": "x"}, "supplier_id"), ({"needed_date": "2026-02-30"}, "needed_date"),
    ],
)  # fmt: skip
def test_bad_bodies(shelf, buyer, change, field):
    given = body(shelf, {"product_id": str(shelf.id), "quantity": 1}) | change
    errors = refused(buyer.api.post(PATH, json=given), 400, "validation_error")["errors"]
    assert [one["field"] for one in errors] == [field]


@pytest.mark.parametrize("change", [{"quantity": 0}, {"quantity": "1.5"}, {"quantity": 10**10}, {"unit": "box"}])
def test_bad_lines(shelf, buyer, change):
    item = {"product_id": str(shelf.id), "quantity": 1} | change
    errors = refused(buyer.api.post(PATH, json=body(shelf, item)), 400, "validation_error")["errors"]
    assert [one["field"] for one in errors] == [f"items.0.{next(iter(change))}"]


def test_unknown_members_are_named(shelf, buyer):
    item = {"product_id": str(shelf.id), "quantity": 1, "status": "hard"}
    refused(buyer.api.post(PATH, json=body(shelf, item)), 400, "unknown_field")
