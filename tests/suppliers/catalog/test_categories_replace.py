"""PUT /v1/categories/{id}: an own category is renamed, moved, mapped and switched off."""

from typing import Any
from uuid import UUID, uuid5

import pytest

from organizations.models import Tenant
from suppliers.catalog import taxonomy
from tests import races
from tests.factories import Api, api_key, provision
from tests.suppliers.products import body as product_body
from tests.suppliers.products import create as create_product
from tests.suppliers.products import field_errors, listed

from .test_categories_create import GLOVES, create, facts_of

MEDICINES = str(uuid5(taxonomy._NAMESPACE, "medicines"))


def put(api: Api, category: dict[str, Any], **changes: Any) -> Any:
    """Replace a category by itself with changes."""
    members = {name: category[name] for name in ("code", "name", "parent_id", "mappings", "active")}
    return api.put(f"/v1/categories/{category['id']}", json=members | changes)


def depths(api: Api) -> dict[str, int]:
    """Return the depth of each own category."""
    items = api.get("/v1/categories?limit=100").json()["data"]["items"]
    return {item["code"]: item["depth"] for item in items if item["source"] == "own"}


def test_replace_renames_maps_and_switches_off(api: Api, supplier: Tenant) -> None:
    category = create(api, mappings={"atc": "J01CA04"})
    product = create_product(api, category=category["code"])

    answer = put(api, category, name="Nitrile", mappings={"unspsc": "42132203"}, active=False)

    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    assert (data["name"], data["mappings"], data["active"], data["product_count"], data["version"]) == (
        "Nitrile", {"unspsc": "42132203"}, False, 1, 2,
    )  # fmt: skip
    assert answer.headers["ETag"] == '"2"'
    assert listed(api, f"category={category['code']}") == ([product["supplier_sku"]], 1)
    refused = api.post("/v1/products", json=product_body(category=category["code"]))
    assert field_errors(refused) == {("category", "unknown_category")}
    fact = facts_of(supplier)[-1]
    assert (fact.type, fact.resource_id, fact.resource_version) == ("category.updated", UUID(data["id"]), 2)
    assert fact.data == {"code": category["code"], "changes": ["active", "mappings", "name"]}


def test_product_of_an_inactive_category_stays(api: Api) -> None:
    category, other = create(api), create(api, active=False)
    given = product_body(category=category["code"])
    product = api.post("/v1/products", json=given).json()["data"]
    put(api, category, active=False)

    replaced = api.put(f"/v1/products/{product['id']}", json=given | {"name": "Renamed"})
    moved = api.put(f"/v1/products/{product['id']}", json=given | {"category": other["code"]})
    bulk = api.post(
        "/v1/products/bulk", json={"items": [given | {"name": "Again"}, product_body(category=category["code"])]}
    )

    assert (replaced.status_code, replaced.json()["data"]["name"]) == (200, "Renamed")
    assert field_errors(moved) == {("category", "unknown_category")}
    assert [one["status"] for one in bulk.json()["data"]["results"]] == ["updated", "failed"]


def test_replace_by_the_same_writes_nothing(api: Api, supplier: Tenant) -> None:
    category = create(api)

    answer = put(api, category)

    assert (answer.status_code, answer.json()["data"]["version"], len(facts_of(supplier))) == (200, 1, 1)


def test_a_moved_category_takes_along_what_is_below_it(api: Api) -> None:
    upper = create(api)
    lower = create(api, parent_id=upper["id"])
    product = create_product(api, category=lower["code"])

    answer = put(api, upper, parent_id=MEDICINES)

    assert answer.status_code == 200, answer.content
    assert depths(api) == {upper["code"]: 2, lower["code"]: 3}
    assert listed(api, "category=medicines") == ([product["supplier_sku"]], 1)
    assert listed(api, "category=gloves") == ([], 0)


def test_cycles_depth_and_unknown_parents_are_refused(api: Api) -> None:
    upper = create(api)
    lower = create(api, parent_id=upper["id"])
    chain = [create(api)]
    for _ in range(4):
        chain.append(create(api, parent_id=chain[-1]["id"]))  # depths 3 to 7
    before = depths(api)

    for changed, parent, code in (
        (upper, upper["id"], "cycle"),
        (upper, lower["id"], "cycle"),
        (upper, chain[-1]["id"], "too_deep"),
        (upper, "019aa000-0000-7000-8000-000000000000", "unknown_category"),
    ):
        assert field_errors(put(api, changed, parent_id=parent)) == {("parent_id", code)}

    assert depths(api) == before
    assert put(api, upper, parent_id=chain[-2]["id"]).status_code == 200
    assert depths(api)[lower["code"]] == 8


def test_the_code_stays(api: Api) -> None:
    category = create(api)

    answer = put(api, category, code="another")

    assert (answer.status_code, answer.json()["code"], answer.json()["fields"]) == (409, "field_locked", ["code"])


@pytest.mark.parametrize("whose", ["platform", "stranger"])
def test_only_own_categories_can_be_replaced(api: Api, whose: str) -> None:
    stranger = provision("supplier")
    foreign = create(Api(key=api_key(stranger), tenant=stranger))
    target = foreign if whose == "stranger" else {**foreign, "id": GLOVES}

    answer = put(api, target)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_two_moves_at_once_make_no_cycle(api: Api, supplier: Tenant) -> None:
    text = api_key(supplier)
    for _ in range(4):
        one, two = create(api), create(api)

        def move(category: dict[str, Any], parent: dict[str, Any]) -> int:
            return int(put(Api(key=text, tenant=supplier), category, parent_id=parent["id"]).status_code)

        answers = races.race(lambda: move(one, two), lambda: move(two, one))

        assert sorted(answers) == [200, 400]
        assert sorted(depths(api)[code] for code in (one["code"], two["code"])) == [3, 4]
