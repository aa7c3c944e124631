"""Hidden offers stay hidden both ways: read as the market's role over all suppliers, and as the app's role bound to one."""

import orjson
import pytest
from django.db import transaction

from core.clock import now
from core.db import bind_tenant, tenant_context
from core.pipeline import run
from suppliers.marketplace import queries
from suppliers.marketplace.models import Offer
from suppliers.storefront.market.shapes import one_call, seen_of
from tests.suppliers import products
from tests.suppliers.inventory.shelf import Buyer, body, refused
from tests.suppliers.inventory.shelf import shelf as new_shelf
from tests.suppliers.market.test_walls import body_of

DAY = "2026-01-01"


def as_the_market(one: Buyer, shelf, product):
    with transaction.atomic():
        bind_tenant(one.id)
        return [
            orjson.loads(row.document)["offer_id"]
            for row in seen_of(run(queries.as_market([one_call(one.id, product["id"])]))[-1])
        ]


def bound_to_the_supplier(one: Buyer, shelf, product):
    with tenant_context(shelf.id):
        found = run([queries.offers_call(shelf.id, [product["id"]], one.id, now())])
    return [str(row.id) for row in queries.offers_of(found[0])]


def hide(shelf, offer, **columns):
    with tenant_context(shelf.id):
        Offer.objects.filter(tenant_id=shelf.id, pk=offer).update(**columns)


@pytest.mark.parametrize("read", [as_the_market, bound_to_the_supplier])
def test_offer_is_seen_by_whom_it_is_for(read, shelf, buyer, other):
    product = shelf.product()
    offer = shelf.offer(product, to=[buyer])
    assert read(buyer, shelf, product) == [str(offer)]
    assert read(other, shelf, product) == []
    shelf.exclude(offer, buyer)
    assert read(buyer, shelf, product) == []


@pytest.mark.parametrize("read", [as_the_market, bound_to_the_supplier])
@pytest.mark.parametrize(
    "columns",
    [{"status": "paused"}, {"status": "archived"}, {"status": "expired"}, {"valid_to": DAY},
     {"valid_from": "2100-01-01"}],
)  # fmt: skip
def test_offer_that_does_not_hold_is_seen_by_nobody(read, columns, shelf, buyer):
    product = shelf.product()
    offer = shelf.offer(product)
    assert read(buyer, shelf, product) == [str(offer)]
    hide(shelf, offer, **columns)
    assert read(buyer, shelf, product) == []


@pytest.mark.parametrize("read", [as_the_market, bound_to_the_supplier])
def test_offer_of_an_inactive_product_is_seen_by_nobody(read, shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    answer = shelf.api.put(f"/v1/products/{product['id']}", json=body_of(product, status="discontinued"))
    assert answer.status_code == 200, answer.content
    assert read(buyer, shelf, product) == []


@pytest.mark.parametrize("read", [as_the_market, bound_to_the_supplier])
@pytest.mark.parametrize("gone", [False, True])
def test_offer_of_a_packaging_that_cannot_be_ordered_is_seen_by_nobody(read, gone, shelf, buyer):
    each, case = products.packaging(), products.packaging(level="case", units_per_pack=10)
    product = shelf.product(packagings=[each, case])
    shelf.stock(product, 100)
    shelf.offer(product)
    left = [case] if gone else [each | {"orderable": False}, case]
    answer = shelf.api.put(f"/v1/products/{product['id']}", json=body_of(product, packagings=left))
    assert answer.status_code == 200, answer.content
    assert read(buyer, shelf, product) == []
    assert buyer.api.get(f"/v1/procurement/products/{product['id']}").status_code == 404
    assert buyer.api.get(f"/v1/stock/availability?product_id={product['id']}").json()["data"] == []
    refused(buyer.api.post("/v1/stock/reservations", json=body(shelf, (product, 1))), 409, "offer_not_available")
    assert shelf.api.put(f"/v1/products/{product['id']}", json=body_of(product)).status_code == 200
    assert len(read(buyer, shelf, product)) == 1 - gone


def test_supplier_s_own_rows_are_no_rows_of_another_one(shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    assert bound_to_the_supplier(buyer, new_shelf(), product) == []
