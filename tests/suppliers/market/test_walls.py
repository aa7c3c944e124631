"""What the market's role shows where a statement forgot the audience: nothing that is not on the market, whatever changes it."""

import pytest
from django.db import connection, transaction

from core.db import MARKET, bind_tenant, take_on_call, tenant_context
from core.invariants import breaches
from core.pipeline import run
from suppliers.catalog.models import MarketWord, Packaging, Product
from suppliers.marketplace import queries
from suppliers.pricing.models import ListPrice
from tests.suppliers import products
from tests.suppliers.inventory.shelf import broken
from tests.suppliers.inventory.test_offers import OFFERS, draft

TABLES = ("suppliers_product", "suppliers_packaging", "suppliers_listprice", "suppliers_offer", "suppliers_marketword")


def seen(buyer, table, shelf, column="*"):
    """The rows of a supplier that the market's role sees, without any condition of ours."""
    with transaction.atomic():
        bind_tenant(buyer.id)
        run([take_on_call(MARKET)])
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT {column} FROM "{table}" WHERE tenant_id = %s', [shelf.id])
            return cursor.fetchall()


def counts(buyer, shelf):
    return tuple(len(seen(buyer, table, shelf)) for table in TABLES[:4])


def price(shelf, product):
    given = {
        "packaging_id": product["packagings"][0]["id"], "currency": "EUR",
        "tiers": [{"min_quantity": 1, "unit_price": "4.90"}],
    }  # fmt: skip
    answer = shelf.api.put(f"/v1/products/{product['id']}/prices", json={"prices": [given]})
    assert answer.status_code == 200, answer.content


def body_of(product, **changes):
    """The body that leaves a product as `shelf.product` made it."""
    packagings = [{**products.packaging(), "gtin": product["packagings"][0]["gtin"]}]
    return products.body(supplier_sku=product["supplier_sku"], packagings=packagings, status="active") | changes


def test_rows_appear_with_the_offer_and_go_with_it(shelf, buyer):
    product = shelf.product()
    price(shelf, product)
    offer = draft(shelf, product)
    assert counts(buyer, shelf) == (0, 0, 0, 0)
    shelf.api.post(f"{OFFERS}/{offer['id']}/publish")
    assert counts(buyer, shelf) == (1, 1, 1, 1)
    price(shelf, product)
    assert counts(buyer, shelf)[2] == 1
    assert seen(buyer, "suppliers_marketword", shelf) == []  # it is private yet
    shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json={"mode": "public"})
    assert ("",) in seen(buyer, "suppliers_marketword", shelf, "word")
    assert not broken(shelf)
    shelf.api.post(f"{OFFERS}/{offer['id']}/unpublish")
    assert counts(buyer, shelf) == (0, 0, 0, 0)
    assert seen(buyer, "suppliers_marketword", shelf) == []
    shelf.api.post(f"{OFFERS}/{offer['id']}/publish")
    assert counts(buyer, shelf) == (1, 1, 1, 1)
    given = {name: offer[name] for name in ("product_id", "packaging_id")} | {"status": "archived"}
    shelf.api.put(f"{OFFERS}/{offer['id']}", json=given)
    assert counts(buyer, shelf) == (0, 0, 0, 0)
    assert not broken(shelf)


def test_product_that_is_discontinued_leaves_the_market_and_comes_back(shelf, buyer):
    product = shelf.product()
    price(shelf, product)
    shelf.offer(product)
    path = f"/v1/products/{product['id']}"
    version = shelf.api.get(path).json()["data"]["version"]
    answer = shelf.api.put(path, json=body_of(product, status="discontinued"))
    assert answer.status_code == 200, answer.content
    assert answer.json()["data"]["version"] == version + 1
    assert counts(buyer, shelf) == (0, 0, 0, 1)  # the offer is published, its product is not for sale
    assert seen(buyer, "suppliers_marketword", shelf) == []
    assert not broken(shelf)
    answer = shelf.api.put(
        path,
        json=body_of(
            product,
            name="Quokka gauze",
            packagings=[*body_of(product)["packagings"], products.packaging(level="case", units_per_pack=10)],
        ),
    )
    assert answer.status_code == 200, answer.content
    assert counts(buyer, shelf) == (1, 2, 1, 1)
    assert ("quokka",) in seen(buyer, "suppliers_marketword", shelf, "word")
    assert not broken(shelf)


def test_bulk_keeps_the_market(shelf, buyer):
    product = shelf.product()
    shelf.offer(product)
    row = {"supplier_sku": product["supplier_sku"], "name": "Wombat tape", "status": "discontinued"}
    answer = shelf.api.post("/v1/products/bulk", json={"mode": "merge", "items": [row]})
    assert answer.json()["data"]["updated"] == 1, answer.content
    assert counts(buyer, shelf) == (0, 0, 0, 1)
    answer = shelf.api.post("/v1/products/bulk", json={"mode": "merge", "items": [row | {"status": "active"}]})
    assert answer.json()["data"]["updated"] == 1, answer.content
    assert ("wombat",) in seen(buyer, "suppliers_marketword", shelf, "word")
    assert not broken(shelf)


def test_product_with_a_published_offer_is_not_archived(shelf):
    product = shelf.product()
    shelf.offer(product)
    answer = shelf.api.delete(f"/v1/products/{product['id']}")
    assert (answer.status_code, answer.json()["reasons"]) == (409, ["published_offer"])
    assert shelf.api.get(f"/v1/products/{product['id']}").json()["data"]["status"] == "active"


def test_one_of_two_offers_keeps_the_product_on_the_market(shelf, buyer):
    packs = [products.packaging(), products.packaging(level="case", units_per_pack=10)]
    product = shelf.product(packagings=packs)
    one, two = (draft(shelf, product, packaging_id=packaging["id"]) for packaging in product["packagings"])
    for offer in (one, two):
        shelf.api.post(f"{OFFERS}/{offer['id']}/publish")
    shelf.api.post(f"{OFFERS}/{one['id']}/unpublish")
    assert counts(buyer, shelf) == (1, 2, 0, 1)
    shelf.api.post(f"{OFFERS}/{two['id']}/unpublish")
    assert counts(buyer, shelf) == (0, 0, 0, 0)


def test_inactive_category_is_hidden(shelf, buyer):
    root = shelf.api.get("/v1/categories?limit=1").json()["data"]["items"][0]["id"]
    given = {"code": "own-one", "name": "Own", "parent_id": root}
    made = shelf.api.post("/v1/categories", json=given).json()["data"]
    assert seen(buyer, "suppliers_category", shelf, "code") == [("own-one",)]
    shelf.api.put(f"/v1/categories/{made['id']}", json=given | {"active": False})
    assert seen(buyer, "suppliers_category", shelf, "code") == []


def test_rows_about_buyers_are_those_of_the_bound_one(shelf, buyer, other):
    offer = draft(shelf, shelf.product())
    given = {"mode": "selected", "tenant_ids": [str(buyer.id), str(other.id)]}
    shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json=given)
    for one in (buyer, other):
        assert seen(one, "suppliers_audiencemember", shelf, "member_tenant_id") == [(one.id,)]
    given = {"mode": "public", "excluded_tenant_ids": [str(buyer.id), str(other.id)]}
    shelf.api.put(f"{OFFERS}/{offer['id']}/visibility", json=given)
    for one in (buyer, other):
        assert seen(one, "suppliers_offerexclusion", shelf, "member_tenant_id") == [(one.id,)]


@pytest.mark.parametrize(
    ("plant", "table"),
    [
        (lambda mine: Product.objects.filter(**mine).update(offered=False), "suppliers_product"),
        (lambda mine: Packaging.objects.filter(**mine).update(on_market=False), "suppliers_packaging"),
        (lambda mine: ListPrice.objects.filter(**mine).update(on_market=False), "suppliers_listprice"),
        (lambda mine: MarketWord.objects.filter(**mine, word="").delete(), "suppliers_marketword"),
    ],
)
def test_proof_finds_what_the_market_shows_wrongly(shelf, plant, table):
    product = shelf.product()
    price(shelf, product)
    shelf.offer(product)
    assert not broken(shelf)
    with tenant_context(shelf.id):
        plant({"tenant_id": shelf.id})
    assert table in {one.table for one in breaches(shelf.id) if one.rule == "market"}


def test_statements_of_the_market_run_behind_the_role():
    first, *_ = queries.as_market([])
    assert first.parameters == [MARKET]
