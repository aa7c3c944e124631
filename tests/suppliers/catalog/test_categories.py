"""GET /v1/categories: the platform's tree with the supplier's own part, counts, and the seed behind it."""

from uuid import uuid5

from django.db import connections

from core.db import tenant_context
from organizations.models import Tenant
from suppliers.catalog import taxonomy
from suppliers.catalog.models import Category, PlatformCategory
from suppliers.catalog.vocabularies import CLASSIFICATIONS
from tests.factories import Api, api_key, provision
from tests.suppliers.products import create


def tree(api: Api) -> dict[str, dict[str, object]]:
    answer = api.get("/v1/categories?limit=100")
    assert answer.status_code == 200, answer.content
    return {item["code"]: item for item in answer.json()["data"]["items"]}


def test_list_answers_the_platform_tree_depth_first(api: Api) -> None:
    data = api.get("/v1/categories?limit=100").json()["data"]

    codes = [item["code"] for item in data["items"]]
    assert codes == [node.code for node in _depth_first("")]
    assert data["total"] == len(taxonomy.TREE) == len(codes)
    consumables = data["items"][codes.index("consumables")]
    gloves = data["items"][codes.index("gloves")]
    assert gloves == {
        "id": gloves["id"],
        "code": "gloves",
        "name": "Medical gloves",
        "parent_id": consumables["id"],
        "depth": 2,
        "source": "platform",
        "mappings": {"unspsc": "42132200", "emdn": "T"},
        "active": True,
        "product_count": 0,
        "created_at": gloves["created_at"],
        "updated_at": gloves["updated_at"],
        "version": gloves["version"],
    }


def _depth_first(parent: str) -> list[taxonomy.Node]:
    return [found for node in taxonomy.TREE if node.parent == parent for found in (node, *_depth_first(node.code))]


def test_counts_hold_the_products_below_and_nobody_elses(api: Api) -> None:
    other = provision("supplier")
    create(Api(key=api_key(other), tenant=other), category="gloves")
    create(api, category="dressings")
    create(api, category="wound-care")
    gone = create(api, category="wound-care")
    api.delete(f"/v1/products/{gone['id']}")

    found = tree(api)

    counts = {code: found[code]["product_count"] for code in ("consumables", "wound-care", "dressings", "gloves")}
    assert counts == {"consumables": 2, "wound-care": 2, "dressings": 1, "gloves": 0}


def test_own_categories_are_part_of_the_tree_of_their_supplier_alone(api: Api, supplier: Tenant) -> None:
    parent = PlatformCategory.objects.get(code="gloves")
    with tenant_context(supplier.id):
        Category.objects.create(tenant_id=supplier.id, code="gloves-xl", name="XL", parent_id=parent.id)
    create(api, category="gloves-xl")
    other = provision("supplier")

    found = tree(api)

    assert (found["gloves-xl"]["source"], found["gloves-xl"]["depth"]) == ("own", 3)
    assert found["consumables"]["product_count"] == 1
    assert api.get("/v1/products?category=consumables").json()["data"]["total"] == 1
    assert "gloves-xl" not in tree(Api(key=api_key(other), tenant=other))


def test_list_sorts_pages_and_selects(api: Api) -> None:
    answer = api.get("/v1/categories?sort=-code&limit=2&page=2&fields=code").json()["data"]

    codes = sorted((node.code for node in taxonomy.TREE), reverse=True)
    assert [item["code"] for item in answer["items"]] == codes[2:4]
    assert set(answer["items"][0]) == {"id", "code"}
    refused = api.get("/v1/categories?category=gloves")
    assert (refused.status_code, refused.json()["code"]) == (400, "unknown_parameter")


def test_seeding_again_changes_nothing() -> None:
    before = list(PlatformCategory.objects.order_by("code").values())

    taxonomy.seed_taxonomy("owner")

    connections["owner"].close()
    assert list(PlatformCategory.objects.order_by("code").values()) == before


def test_the_tree_is_well_formed() -> None:
    codes = [node.code for node in taxonomy.TREE]

    assert len(set(codes)) == len(codes)
    assert "consumables" in codes
    for position, node in enumerate(taxonomy.TREE):
        assert not node.parent or node.parent in codes[:position]
        assert node.id == uuid5(taxonomy._NAMESPACE, node.code)
        for system, code in node.mappings.items():
            assert CLASSIFICATIONS[system].fullmatch(code), node
