"""The catalog as the buyer's relationships shape it: what is on the formulary, own codes, and approved substitutes."""

import pytest

from bench.statements import recording
from suppliers.catalog.models import PlatformCategory
from tests.suppliers.inventory.shelf import shelf as new_shelf
from tests.suppliers.relationships.test_relationships import offered, put

PATH = "/v1/procurement/products"


def item(one, product):
    answer = one.api.get(f"{PATH}/{product['id']}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


def test_without_a_relationship_everything_is_on_the_formulary(shelf, buyer):
    (product,) = offered(shelf)
    found = item(buyer, product)
    assert (found["on_formulary"], found["own_code"], found["substitutes"]) == (True, None, [])


def test_blocked_products_and_own_codes_are_this_buyers(shelf, buyer, other):
    one, two = offered(shelf, 2)
    codes = [{"product_id": one["id"], "own_code": "4711"}]
    put(buyer, shelf, blocked_products=[two["id"]], item_aliases=codes)
    assert [(item(buyer, x)["on_formulary"], item(buyer, x)["own_code"]) for x in (one, two)] == [
        (True, "4711"), (False, None),
    ]  # fmt: skip
    assert [(item(other, x)["on_formulary"], item(other, x)["own_code"]) for x in (one, two)] == [(True, None)] * 2
    listed = buyer.api.get(f"{PATH}?supplier_id={shelf.id}").json()["data"]
    assert listed == [item(buyer, two), item(buyer, one)]


def test_approved_category_holds_what_stands_below_it(shelf, buyer):
    below = PlatformCategory.objects.exclude(parent=None).select_related("parent").first()
    (product,) = offered(shelf, category=below.code)
    for codes, expected in (([below.code], True), ([below.parent.code], True), (["gloves"], below.code == "gloves")):
        put(buyer, shelf, approved_categories=codes)
        assert item(buyer, product)["on_formulary"] is expected, codes
    put(buyer, shelf, approved_categories=[below.code], blocked_products=[product["id"]])
    assert item(buyer, product)["on_formulary"] is False


def test_relationship_to_another_supplier_says_nothing(shelf, buyer):
    (product,) = offered(shelf)
    put(buyer, new_shelf(), approved_categories=["antidiabetics"])
    assert item(buyer, product)["on_formulary"] is True


def test_approved_substitutes_stand_beside_the_equivalents(shelf, buyer, other):
    alike, near, approved, hidden = offered(shelf, 4)
    given = [
        {"product_id": alike["id"], "type": "equivalent", "ratio": "1:2"},
        {"product_id": near["id"], "type": "therapeutic"},
    ]
    (product,) = offered(shelf, substitutes=given)
    pairs = [{"product_id": product["id"], "substitute_product_id": one["id"]} for one in (approved, near, hidden)]
    put(buyer, shelf, approved_substitutes=pairs)
    shelf.api.put(f"/v1/marketplace/offers/{item(buyer, hidden)['offer_id']}/visibility", json={"mode": "private"})
    found = {
        one["product_id"]: (one["type"], one["ratio"], one["approved"]) for one in item(buyer, product)["substitutes"]
    }
    assert found == {
        approved["id"]: (None, None, True),
        near["id"]: ("therapeutic", "1:1", True),
        alike["id"]: ("equivalent", "1:2", False),
    }
    assert [one["product_id"] for one in item(other, product)["substitutes"]] == [alike["id"]]


@pytest.mark.parametrize("number", [1, 3])
def test_statements_do_not_grow(buyer, number):
    shelves = [new_shelf() for _ in range(number)]
    for shelf in shelves:
        made = offered(shelf, number)
        put(buyer, shelf, item_aliases=[{"product_id": one["id"], "own_code": one["id"]} for one in made])
    buyer.api.get(PATH)
    with recording() as found:
        page = buyer.api.get(f"{PATH}?limit={number * number}").json()["data"]
    assert [one["own_code"] for one in page] == [one["id"] for one in page]
    assert len(found.trips) == 1
