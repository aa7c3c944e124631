"""Offers over HTTP: drafted, published, shown to some, hidden, ended; and what a buyer may reserve by them."""

import pytest

from core.db import tenant_context
from ledger import public as ledger
from suppliers.marketplace.models import Offer
from tests import factories
from tests.suppliers import products
from tests.suppliers.inventory.shelf import PATH, body, refused, reserve

OFFERS = "/v1/marketplace/offers"


def draft(shelf, product, **changes):
    given = {
        "product_id": product["id"], "packaging_id": product["packagings"][0]["id"], "title": "Box", "currency": "EUR",
        "tiers": [{"min_quantity": 10, "unit_price": "4.5"}, {"min_quantity": 1, "unit_price": "4.90"}],
    } | changes  # fmt: skip
    answer = shelf.api.post(OFFERS, json=given)
    assert answer.status_code == 201, answer.content
    return answer.json()["data"]


def test_offer_from_draft_to_reservation_to_end(shelf, buyer, other):
    product = shelf.product()
    shelf.stock(product, 40)
    offer = draft(shelf, product)
    assert (offer["status"], offer["visibility"]["mode"]) == ("draft", "private")
    assert [tier["min_quantity"] for tier in offer["tiers"]] == [1, 10]
    assert {one["name"]: one["passed"] for one in offer["checks"]} == {
        "product_active": True, "not_held": True, "packaging_orderable": True, "still_valid": True, "price_resolvable": True,
        "media_scanned": True, "supplier_qualified": True, "license_for_class": True,
    }  # fmt: skip
    assert shelf.api.post(f"{OFFERS}/{offer['id']}/publish").json()["data"]["status"] == "published"
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "offer_not_available")
    seen = {"mode": "selected", "tenant_ids": [str(buyer.id)], "stock_display": "band"}
    answer = shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json=seen)
    assert answer.json()["data"]["visibility"] == seen | {
        "excluded_tenant_ids": [], "cap": None, "organization_ids": [], "group_codes": [],
    }  # fmt: skip
    (made,) = reserve(buyer, shelf, (product, 1))
    assert made["offer_id"] == offer["id"]
    refused(other.api.post(PATH, json=body(shelf, (product, 1))), 409, "offer_not_available")
    everybody = {"mode": "public", "excluded_tenant_ids": [str(buyer.id)], "stock_display": "capped", "cap": 3}
    assert shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json=everybody).status_code == 200
    refused(buyer.api.post(PATH, json=body(shelf, (product, 1))), 409, "offer_not_available")
    reserve(other, shelf, (product, 1))
    assert shelf.api.post(f"{OFFERS}/{offer['id']}/unpublish").json()["data"]["status"] == "paused"
    refused(other.api.post(PATH, json=body(shelf, (product, 1))), 409, "offer_not_available")
    given = {name: offer[name] for name in ("product_id", "packaging_id")} | {"status": "archived"}
    assert shelf.api.put(f"{OFFERS}/{offer['id']}", json=given).json()["data"]["status"] == "archived"
    assert refused(shelf.api.post(f"{OFFERS}/{offer['id']}/publish"), 409, "invalid_transition")["from"] == "archived"
    with tenant_context(shelf.id):
        told = list(ledger.Event.objects.filter(tenant_id=shelf.id, resource_id=offer["id"]).order_by("id"))
    assert [fact.type for fact in told] == [
        "offer.created", "offer.published", "offer.visibility_changed", "offer.visibility_changed", "offer.unpublished",
        "offer.updated",
    ]  # fmt: skip
    assert {fact.figures["category"] for fact in told} == {product["category"]}


def test_incomplete_offer_is_not_published(shelf):
    product = products.create(shelf.api)
    offer = draft(shelf, product, tiers=[], currency=None)
    found = refused(shelf.api.post(f"{OFFERS}/{offer['id']}/publish"), 409, "offer_incomplete")
    assert found["checks"] == ["product_active", "price_resolvable"]
    assert shelf.api.get(f"{OFFERS}/{offer['id']}").json()["data"]["status"] == "draft"


@pytest.mark.parametrize(
    ("changes", "checks"),
    [
        ({"status": "active"}, []), ({"status": "draft"}, ["price_resolvable"]),
        ({"status": "active", "valid_from": "2099-01-01"}, ["price_resolvable"]),
        ({"status": "active", "valid_to": "2020-01-01"}, ["price_resolvable"]),
    ],
)  # fmt: skip
def test_offer_without_a_price_takes_that_of_a_list(shelf, changes, checks):
    product = shelf.product()
    offer = draft(shelf, product, tiers=[], currency=None)
    entry = {"product_id": product["id"], "tiers": [{"min_quantity": 1, "unit_price": "9.00"}]}
    given = {"name": "All", "currency": "EUR", "entries": [entry]} | changes
    assert shelf.api.put("/v1/price-lists/all", json=given).status_code == 201
    answer = shelf.api.post(f"{OFFERS}/{offer['id']}/publish")
    if checks:
        assert refused(answer, 409, "offer_incomplete")["checks"] == checks
    else:
        assert answer.status_code == 200, answer.content


def test_actions_without_a_body_take_the_version_alone(shelf):
    product = shelf.product()
    offer = draft(shelf, product)
    path = f"{OFFERS}/{offer['id']}/publish"
    assert refused(shelf.api.post(path, json={"version": 99}), 409, "version_conflict")["current_version"] == 1
    for given in ({"bogus": 1}, {"version": "1"}, {"version": 1, "status": "draft"}):
        refused(shelf.api.post(path, json=given), 400, "unknown_field")
    assert shelf.api.post(path, json={"version": 1}).status_code == 200
    assert shelf.api.post(f"{OFFERS}/{offer['id']}/unpublish", json={}).status_code == 200
    refused(shelf.api.delete(f"/v1/products/{product['id']}", json={"version": 99}), 409, "version_conflict")
    assert shelf.api.delete(f"/v1/products/{product['id']}", json={"version": 1}).status_code == 204


def test_one_offer_of_a_packaging_is_live(shelf):
    product = shelf.product()
    first, second = draft(shelf, product), draft(shelf, product)
    shelf.api.post(f"{OFFERS}/{first['id']}/publish")
    refused(shelf.api.post(f"{OFFERS}/{second['id']}/publish"), 409, "offer_exists")
    shelf.api.post(f"{OFFERS}/{first['id']}/unpublish")
    refused(shelf.api.post(f"{OFFERS}/{second['id']}/publish"), 409, "offer_exists")


def test_published_offer_keeps_its_product(shelf):
    product, other = shelf.product(), shelf.product()
    offer = draft(shelf, product)
    shelf.api.post(f"{OFFERS}/{offer['id']}/publish")
    given = {"product_id": other["id"], "packaging_id": other["packagings"][0]["id"]}
    found = refused(shelf.api.put(f"{OFFERS}/{offer['id']}", json=given), 409, "field_locked")
    assert found["fields"] == ["product_id", "packaging_id"]
    kept = ("product_id", "packaging_id", "currency", "tiers")
    same = {name: offer[name] for name in kept} | {"title": "New", "version": 9}
    refused(shelf.api.put(f"{OFFERS}/{offer['id']}", json=same), 409, "version_conflict")
    answer = shelf.api.put(f"{OFFERS}/{offer['id']}", json=same | {"version": 2})
    assert (answer.json()["data"]["title"], answer.json()["data"]["status"]) == ("New", "published")


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"currency": "XXX"}, "currency", "invalid_choice"), ({"currency": ""}, "currency", "required"),
        ({"countries": ["ZZ"]}, "countries", "invalid_choice"),
        ({"min_order_quantity": 5, "max_order_quantity": 4}, "max_order_quantity", "min_value"),
        ({"valid_from": "2026-02-01", "valid_to": "2026-02-01"}, "valid_to", "min_value"),
        ({"stock_policy": "fixed"}, "fixed_quantity", "invalid"), ({"fixed_quantity": 3}, "fixed_quantity", "invalid"),
        ({"tiers": [{"min_quantity": 1, "unit_price": "1"}] * 2}, "tiers", "duplicate"),
        ({"tiers": [{"min_quantity": 1, "unit_price": "-1"}]}, "tiers.0.unit_price", "min_value"),
        ({"packaging_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"}, "packaging_id", "unknown_packaging"),
        ({"status": "published"}, "status", "invalid_choice"),
    ],
)  # fmt: skip
def test_bad_offers(shelf, change, field, code):
    product = shelf.product()
    given = {
        "product_id": product["id"], "packaging_id": product["packagings"][0]["id"], "currency": "EUR",
        "tiers": [{"min_quantity": 1, "unit_price": "4.90"}],
    } | change  # fmt: skip
    assert (field, code) in products.field_errors(shelf.api.post(OFFERS, json=given))
    with tenant_context(shelf.id):
        assert not Offer.objects.filter(tenant_id=shelf.id).exists()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"mode": "selected"}, "tenant_ids"), ({"mode": "public", "tenant_ids": ["0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"]}, "tenant_ids"),
        ({"mode": "public", "stock_display": "capped"}, "cap"), ({"mode": "public", "cap": 3}, "cap"),
        ({"mode": "public", "excluded_tenant_ids": ["0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"]}, "excluded_tenant_ids.0"),
    ],
)  # fmt: skip
def test_bad_visibility(shelf, given, field):
    offer = draft(shelf, shelf.product())
    errors = products.field_errors(shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json=given))
    assert [name for name, _ in errors] == [field]


def test_list_is_filtered_and_foreign_offers_do_not_exist(shelf):
    product, second = shelf.product(), shelf.product()
    one, two = draft(shelf, product), draft(shelf, second)
    shelf.api.post(f"{OFFERS}/{two['id']}/publish")
    for query, found in (
        ("status=draft", [one["id"]]), ("status=published,paused", [two["id"]]), (f"product_id={product['id']}", [one["id"]]),
        ("visibility=public", []), ("visibility=private&sort=created_at", [one["id"], two["id"]]),
    ):  # fmt: skip
        assert [item["id"] for item in shelf.api.get(f"{OFFERS}?{query}").json()["data"]["items"]] == found
    stranger = factories.as_member(factories.provision("supplier"), ["supplier_admin"])
    for method, path in (
        ("GET", ""),
        ("PUT", ""),
        ("POST", "/publish"),
        ("POST", "/unpublish"),
        ("PUT", "/visibility"),
    ):
        assert stranger.call(method, f"{OFFERS}/{one['id']}{path}").status_code == 404
    hospital = factories.as_member(factories.provision("provider"), ["supplier_admin"])
    refused(hospital.get(OFFERS), 403, "not_a_supplier")


def test_plain_price_stands_for_one_tier(shelf, buyer):
    offer = draft(shelf, shelf.product(), tiers=[], price="12.50")
    assert (offer["price"], offer["tiers"]) == ("12.5", [{"min_quantity": 1, "unit_price": "12.5"}])
    as_read = {name: offer[name] for name in ("product_id", "packaging_id", "title", "currency", "price", "tiers")}
    answer = shelf.api.put(f"{OFFERS}/{offer['id']}", json=as_read)
    assert (answer.status_code, answer.json()["data"]["version"]) == (200, 1)
    found = refused(shelf.api.put(f"{OFFERS}/{offer['id']}", json=as_read | {"price": "1"}), 400, "validation_error")
    assert [(one["field"], one["code"]) for one in found["errors"]] == [("price", "invalid")]
    found = refused(
        shelf.api.put(f"{OFFERS}/{offer['id']}", json=as_read | {"currency": None}), 400, "validation_error"
    )
    assert [(one["field"], one["code"]) for one in found["errors"]] == [("currency", "required")]
    assert draft(shelf, shelf.product())["price"] is None


def test_published_offer_keeps_a_price(shelf):
    product = shelf.product()
    offer = draft(shelf, product)
    shelf.api.post(f"{OFFERS}/{offer['id']}/publish")
    given = {name: offer[name] for name in ("product_id", "packaging_id")}
    found = refused(shelf.api.put(f"{OFFERS}/{offer['id']}", json=given), 409, "offer_incomplete")
    assert found["checks"] == ["price_resolvable"]
    assert shelf.api.get(f"{OFFERS}/{offer['id']}").json()["data"]["tiers"] == offer["tiers"]
    priced = {"prices": [{"packaging_id": offer["packaging_id"], "currency": "EUR", "tiers": offer["tiers"]}]}
    assert shelf.api.put(f"/v1/products/{product['id']}/prices", json=priced).status_code == 200
    assert shelf.api.put(f"{OFFERS}/{offer['id']}", json=given).json()["data"]["tiers"] == []
