"""What quotes refuse, and that a refusal writes nothing."""

from uuid import uuid4

import pytest

from api.models import IdempotencyRecord
from core.db import tenant_context
from ledger.public import Event
from organizations.models import Location
from tests import factories
from tests.factories import Api, api_key, suffix
from tests.suppliers import products
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.products import field_errors
from tests.suppliers.quoting import worlds
from tests.suppliers.quoting.worlds import asked, asked_of, line


@pytest.fixture
def product(shelf):
    made = shelf.product()
    shelf.offer(made)
    worlds.list_price(shelf, made, (1, "10"))
    return made


def written(*sides):
    """What the tenants have recorded and kept."""
    found = []
    for one in sides:
        with tenant_context(one.id):
            found.append(
                (
                    Event.objects.filter(tenant_id=one.id).count(),
                    IdempotencyRecord.objects.filter(tenant_id=one.id).count(),
                )
            )
    return found


BAD = [
    ({"items": []}, ("items", "min_length")), ({}, ("items", "required")), ({"items": [{"quantity": 1}]}, ("items.0.product_id", "required")),
    ({"items": [{"product_id": str(uuid4()), "own_code": "x", "quantity": 1}]}, ("items.0.product_id", "required")),
    ({"items": [{"product_id": str(uuid4()), "quantity": 0}]}, ("items.0.quantity", "min_value")),
    ({"items": [{"product_id": str(uuid4()), "quantity": 1, "unit": "box"}]}, ("items.0.unit", "invalid_choice")),
    ({"items": [{"product_id": str(uuid4()), "quantity": 1}], "currency": "XXX"}, ("currency", "invalid_choice")),
    ({"items": [{"product_id": str(uuid4()), "quantity": 1}], "on_date": "tomorrow"}, ("on_date", "invalid")),
    ({"items": [{"product_id": str(uuid4()), "quantity": 1}], "price": "1"}, ("price", "unknown_field")),
    ({"items": [{"own_code": "none", "quantity": 1}]}, ("items.0.own_code", "unknown_product")),
]  # fmt: skip


@pytest.mark.parametrize(("body", "error"), BAD)
def test_bad_bodies(buyer, body, error):
    before = written(buyer)
    answer = buyer.api.post(worlds.BUYERS, json=body, headers={"Idempotency-Key": suffix()})
    assert error in field_errors(answer)
    assert written(buyer) == before


def test_two_hundred_lines_are_the_most(shelf, buyer, product):
    assert asked(buyer, *[line(product)] * 200).status_code == 200
    assert asked_of(shelf, buyer, *[line(product)] * 200).status_code == 200
    assert ("items", "max_length") in field_errors(asked(buyer, *[line(product)] * 201))


def test_product_that_is_not_offered_and_one_that_is_not_there_are_refused_alike(shelf, buyer, other, product):
    hidden = shelf.product()
    shelf.offer(hidden, to=[other])
    worlds.list_price(shelf, hidden, (1, "10"))
    foreign_packaging = line(hidden, packaging_id=product["packagings"][0]["id"])
    before = written(shelf, buyer)
    answers = [
        refused(asked(buyer, line(product), one), 422, "price_not_available")["errors"]
        for one in (line(hidden), {"product_id": str(uuid4()), "quantity": 1}, foreign_packaging)
    ]
    assert answers[0] == answers[1] == answers[2]
    assert [(one["field"], one["code"], one["trace"]) for one in answers[0]] == [("items.1", "offer_not_available", [])]
    assert written(shelf, buyer) == before


def test_supplier_who_is_named_must_be_the_products(buyer, shelf, product):
    found = refused(asked(buyer, line(product, supplier_id=str(buyer.id))), 422, "price_not_available")
    assert found["errors"][0]["code"] == "offer_not_available"


def test_all_lines_without_a_price_are_named_with_their_traces(shelf, buyer, product):
    bare = shelf.product()
    shelf.offer(bare)
    worlds.list_price(shelf, bare, (5, "10"))
    for answer in (
        asked(buyer, line(bare), line(product), line(product)),
        asked_of(shelf, buyer, line(bare), line(product)),
    ):
        errors = refused(answer, 422, "price_not_available")["errors"]
        assert [(one["field"], one["code"]) for one in errors] == [("items.0", "price_not_available")]
        assert [(one["reason"], one["unit_price"]) for one in errors[0]["trace"]] == [("below_min_quantity", None)]
    errors = refused(asked(buyer, line(bare), line(product), currency="NOK"), 422, "price_not_available")["errors"]
    assert [[one["reason"] for one in error["trace"]] for error in errors] == [["other_currency"], ["other_currency"]]


def test_packaging_of_another_product(shelf, buyer, product):
    foreign = shelf.product()["packagings"][0]["id"]
    for answer in (
        asked(buyer, line(product, packaging_id=foreign)),
        asked_of(shelf, buyer, line(product, packaging_id=foreign)),
    ):
        assert field_errors(answer) == {("items.0.packaging_id", "unknown_packaging")}


def test_agreement_of_somebody_else(shelf, buyer, other, product):
    foreign = worlds.agreement(shelf, other, product, (1, "6"))
    rests = worlds.agreement(shelf, buyer, product, (1, "6"), status="suspended")
    for key in (foreign, rests, str(uuid4())):
        for answer in (
            asked(buyer, line(product), price_agreement_id=key),
            asked_of(shelf, buyer, line(product), price_agreement_id=key),
        ):
            assert field_errors(answer) == {("price_agreement_id", "unknown_agreement")}


def test_location_of_somebody_else(shelf, buyer, other, product):
    with tenant_context(other.id):
        place = Location.objects.create(tenant_id=other.id, name="Ward", type="warehouse")
    for answer in (
        asked(buyer, line(product), delivery_location_id=str(place.id)),
        asked_of(shelf, buyer, line(product), delivery_location_id=str(place.id)),
    ):
        assert field_errors(answer) == {("delivery_location_id", "unknown_location")}


def test_supplier_must_name_a_buyer_and_own_products(shelf, buyer, product):
    stranger = factories.provision("supplier")
    body = {"currency": "EUR", "items": [line(product)]}
    for key in (str(uuid4()), str(stranger.id)):
        answer = shelf.api.post(worlds.SUPPLIERS, json=body | {"buyer_id": key})
        assert field_errors(answer) == {("buyer_id", "unknown_buyer")}
    refused(shelf.api.post(worlds.SUPPLIERS, json=body | {"buyer_id": str(shelf.id)}), 400, "self_trade")
    answer = asked_of(
        shelf,
        buyer,
        line(product),
        {"supplier_sku": "none", "quantity": 1},
        {"product_id": str(uuid4()), "quantity": 1},
    )
    assert field_errors(answer) == {("items.1", "unknown_product"), ("items.2", "unknown_product")}
    assert field_errors(shelf.api.post(worlds.SUPPLIERS, json={"items": [line(product)]})) == {
        ("buyer_id", "required"), ("currency", "required"),
    }  # fmt: skip


def test_other_suppliers_products_are_unknown(shelf, buyer, product):
    from tests.suppliers.inventory.shelf import shelf as new_shelf

    answer = asked_of(new_shelf(), buyer, line(product))
    assert field_errors(answer) == {("items.0", "unknown_product")}


def test_tenant_of_both_kinds_does_not_buy_of_itself(shelf):
    both = factories.provision("provider", also=("supplier",))
    from tests.suppliers.inventory.shelf import Buyer, Shelf

    seller, one = (
        Shelf(both, factories.as_member(both, ["supplier_admin"])),
        Buyer(both, factories.as_member(both, ["buyer"])),
    )
    product = seller.product()
    seller.offer(product)
    worlds.list_price(seller, product, (1, "10"))
    refused(asked(one, line(product)), 400, "self_trade")


def test_who_may_not_ask(shelf, buyer, product):
    body = {"items": [line(product)]}
    refused(shelf.api.post(worlds.BUYERS, json=body), 403, "insufficient_scope")
    refused(factories.as_member(shelf.tenant, ["buyer"]).post(worlds.BUYERS, json=body), 403, "not_a_buyer")
    key = Api(key=api_key(shelf.tenant), tenant=shelf.tenant)
    refused(key.post(worlds.BUYERS, json=body), 403, "credential_not_accepted")
    refused(buyer.api.post(worlds.SUPPLIERS, json=body), 403, "insufficient_scope")
    refused(
        factories.as_member(buyer.tenant, ["supplier_admin"]).post(worlds.SUPPLIERS, json=body), 403, "not_a_supplier"
    )
    refused(buyer.api.post(f"{worlds.BUYERS}?fields=id", json=body), 400, "unknown_parameter")


def test_unqualified_supplier_offers_nothing(buyer, shelf, product):
    from suppliers.company.models import SupplierProfile

    with tenant_context(shelf.id):
        SupplierProfile.objects.filter(tenant_id=shelf.id).update(qualification_status="suspended")
    refused(asked(buyer, line(product)), 422, "price_not_available")
    found = worlds.quoted_of(shelf, buyer, line(product))
    assert found["items"][0]["refusal"] == {"code": "offer_not_available"}


def test_markups_end_at_the_highest_price_that_can_be_kept(shelf, buyer):
    product = shelf.product(name="Dear", packagings=[products.packaging(units_per_pack=1)])
    shelf.offer(product)
    worlds.list_price(shelf, product, (1, "9999999999999.999999"))
    for _ in range(45):
        worlds.rule(shelf, "markup", "1000")
    for found in (worlds.quoted(buyer, line(product)), worlds.quoted_of(shelf, buyer, line(product))):
        assert found["items"][0]["unit_price"] == "9999999999999.999999"
    assert buyer.api.get("/v1/procurement/products?search=Dear").status_code == 200


def test_largest_numbers_have_exact_totals(shelf, buyer):
    product = shelf.product(packagings=[products.packaging(units_per_pack=1)])
    shelf.offer(product)
    worlds.list_price(shelf, product, (1, "9999999999999.999999"))
    found = worlds.quoted(buyer, *[line(product, 1_000_000_000)] * 100)
    assert found["items"][0]["line_total"] == "9999999999999999999000.00"
    assert found["totals"][0]["net"] == "999999999999999999900000.00"
