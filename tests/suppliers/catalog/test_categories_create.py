"""POST /v1/categories: what is stored, what is refused, what is recorded."""

from typing import Any
from uuid import UUID, uuid5

import pytest

from bench.statements import recording
from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from suppliers.catalog import taxonomy
from suppliers.catalog.models import Category, PlatformCategory
from tests import races
from tests.factories import Api, api_key, provision, suffix
from tests.suppliers.products import body as product_body
from tests.suppliers.products import create as create_product
from tests.suppliers.products import field_errors, listed

GLOVES = str(uuid5(taxonomy._NAMESPACE, "gloves"))


def body(**changes: Any) -> dict[str, Any]:
    """Return the smallest category, below one of the platform on the second level."""
    return {"code": f"own-{suffix()}", "name": "Nitrile gloves", "parent_id": GLOVES} | changes


def create(api: Api, **changes: Any) -> dict[str, Any]:
    """Create a category and return its representation."""
    answer = api.post("/v1/categories", json=body(**changes))
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def own_codes(tenant: Tenant) -> list[str]:
    """Return the codes of the tenant's own categories."""
    with tenant_context(tenant.id):
        return sorted(Category.objects.filter(tenant_id=tenant.id).values_list("code", flat=True))


def facts_of(tenant: Tenant) -> list[Event]:
    """Return what was recorded about categories of the tenant."""
    with tenant_context(tenant.id):
        return list(Event.objects.filter(tenant_id=tenant.id, resource_type="category").order_by("occurred_at", "id"))


def assert_nothing_changed(tenant: Tenant) -> None:
    """Hold the tenant to have no category of its own and no fact about one."""
    assert own_codes(tenant) == []
    assert facts_of(tenant) == []


def test_create_answers_every_field_as_it_was_sent(api: Api) -> None:
    wanted = body(mappings={"unspsc": "42132203", "emdn": "T0102", "atc": ""}, active=False)

    answer = api.post("/v1/categories", json=wanted)

    assert answer.status_code == 201, answer.content
    data = answer.json()["data"]
    assert data == {
        "id": data["id"],
        "code": wanted["code"],
        "name": "Nitrile gloves",
        "parent_id": GLOVES,
        "depth": 3,
        "source": "own",
        "mappings": {"unspsc": "42132203", "emdn": "T0102"},
        "active": False,
        "product_count": 0,
        "created_at": data["created_at"],
        "updated_at": data["created_at"],
        "version": 1,
    }
    assert UUID(data["id"])
    assert answer.headers["ETag"] == '"1"'
    assert "Location" not in answer.headers  # one category alone cannot be read
    items = api.get("/v1/categories?limit=100").json()["data"]["items"]
    assert [item for item in items if item["source"] == "own"] == [data]


@pytest.mark.parametrize("mappings", [{}, {"mappings": None}, {"mappings": {}}, {"mappings": {"atc": None}}])
def test_create_of_the_least_fills_in_defaults(api: Api, mappings: dict[str, Any]) -> None:
    data = create(api, **mappings)

    assert (data["mappings"], data["active"]) == ({}, True)


def test_create_records_one_thin_fact(api: Api, supplier: Tenant) -> None:
    data = create(api)

    assert [(fact.type, fact.resource_id, fact.data, fact.resource_version) for fact in facts_of(supplier)] == [
        ("category.created", UUID(data["id"]), {"code": data["code"]}, 1)
    ]


def test_products_are_filed_under_a_category_at_once_unless_it_is_inactive(api: Api) -> None:
    used, unused = create(api), create(api, active=False)

    product = create_product(api, category=used["code"])

    assert listed(api, "category=gloves") == ([product["supplier_sku"]], 1)
    refused = api.post("/v1/products", json=product_body(category=unused["code"]))
    assert field_errors(refused) == {("category", "unknown_category")}


def test_create_below_an_own_category_down_to_the_eighth_level(api: Api, supplier: Tenant) -> None:
    parent = GLOVES
    for depth in range(3, 9):
        found = create(api, code=f"level-{depth}", parent_id=parent)
        assert found["depth"] == depth
        parent = found["id"]

    answer = api.post("/v1/categories", json=body(parent_id=parent))

    assert field_errors(answer) == {("parent_id", "too_deep")}
    assert own_codes(supplier) == [f"level-{depth}" for depth in range(3, 9)]
    assert len(facts_of(supplier)) == 6


def test_create_below_an_inactive_category_is_possible(api: Api) -> None:
    parent = create(api, active=False)

    assert create(api, parent_id=parent["id"])["depth"] == 4


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"code": ""}, "code", "blank"),
        ({"code": None}, "code", "null"),
        ({"code": "x" * 65}, "code", "max_length"),
        ({"code": "a/b"}, "code", "invalid"),
        ({"code": "two words"}, "code", "invalid"),
        ({"code": "handschühe"}, "code", "invalid"),
        ({"name": " "}, "name", "blank"),
        ({"name": "x" * 121}, "name", "max_length"),
        ({"parent_id": None}, "parent_id", "null"),
        ({"parent_id": "gloves"}, "parent_id", "invalid"),
        ({"parent_id": "019aa000-0000-7000-8000-000000000000"}, "parent_id", "unknown_category"),
        ({"mappings": []}, "mappings", "invalid"),
        ({"mappings": {"unspsc": "421"}}, "mappings.unspsc", "invalid_format"),
        ({"mappings": {"gmdn": "12345"}}, "mappings.gmdn", "unknown_field"),
        ({"active": "maybe"}, "active", "invalid"),
        ({"source": "own"}, "source", "unknown_field"),
        ({"depth": 3}, "depth", "unknown_field"),
        ({"product_count": 0}, "product_count", "unknown_field"),
    ],
)
def test_create_refuses_a_field_that_is_not_of_its_form(
    api: Api, supplier: Tenant, changes: dict[str, Any], field: str, code: str
) -> None:
    answer = api.post("/v1/categories", json=body(**changes))

    assert field_errors(answer) == {(field, code)}
    assert_nothing_changed(supplier)


@pytest.mark.parametrize("name", ["code", "name", "parent_id"])
def test_create_without_a_required_field_names_it(api: Api, supplier: Tenant, name: str) -> None:
    wanted = body()
    del wanted[name]

    assert field_errors(api.post("/v1/categories", json=wanted)) == {(name, "required")}
    assert_nothing_changed(supplier)


def test_parent_of_another_supplier_is_refused_in_the_words_of_an_unknown_one(api: Api, supplier: Tenant) -> None:
    other = provision("supplier")
    theirs = create(Api(key=api_key(other), tenant=other))

    foreign = api.post("/v1/categories", json=body(parent_id=theirs["id"]))
    unknown = api.post("/v1/categories", json=body(parent_id="019aa000-0000-7000-8000-000000000000"))

    assert field_errors(foreign) == {("parent_id", "unknown_category")}
    assert foreign.json()["errors"] == unknown.json()["errors"]
    assert foreign.json()["detail"] == unknown.json()["detail"]
    assert_nothing_changed(supplier)


@pytest.mark.parametrize("active", [True, False])
def test_create_with_a_code_of_ones_own_is_refused(api: Api, supplier: Tenant, active: bool) -> None:
    first = create(api, active=active)

    answer = api.post("/v1/categories", json=body(code=first["code"]))

    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate")
    assert own_codes(supplier) == [first["code"]]
    assert len(facts_of(supplier)) == 1


def test_create_with_a_code_of_the_platform_is_refused(api: Api, supplier: Tenant) -> None:
    answer = api.post("/v1/categories", json=body(code="wound-care"))

    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate")
    assert_nothing_changed(supplier)
    assert PlatformCategory.objects.filter(code="wound-care").count() == 1


def test_code_of_another_supplier_is_no_hindrance(api: Api) -> None:
    other = provision("supplier")

    create(api, code="shared")

    assert create(Api(key=api_key(other), tenant=other), code="shared")["code"] == "shared"


def test_create_with_one_key_twice_makes_one_category(api: Api, supplier: Tenant) -> None:
    wanted, headers = body(), {"Idempotency-Key": suffix()}

    first = api.post("/v1/categories", json=wanted, headers=headers)
    second = api.post("/v1/categories", json=wanted, headers=headers)

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second.headers["Idempotency-Replayed"] == "true"
    assert own_codes(supplier) == [wanted["code"]]
    assert len(facts_of(supplier)) == 1


def test_one_code_created_at_once_is_created_once(supplier: Tenant) -> None:
    wanted, key = body(), api_key(supplier)

    answers = races.race(*[lambda: Api(key=key, tenant=supplier).post("/v1/categories", json=wanted)] * 8)

    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"duplicate"}
    assert own_codes(supplier) == [wanted["code"]]
    assert len(facts_of(supplier)) == 1


def test_create_makes_the_same_trips_at_every_depth_and_number(api: Api) -> None:
    first = create(api)
    with recording() as one:
        second = create(api, parent_id=first["id"])
    create(api)
    with recording() as three:
        create(api, parent_id=second["id"])

    # Proof, the lock of the tree, parent, code, category, fact with its webhook event, representation, COMMIT.
    assert len(one) == len(three) == 8, one.texts()


def test_create_without_the_scope_or_in_another_kind_of_tenant_is_refused(supplier: Tenant) -> None:
    hospital = provision("provider")
    reader = Api(key=api_key(supplier, scopes=["catalog:read"]), tenant=supplier)

    answers = [api.post("/v1/categories", json=body()) for api in (reader, Api(key=api_key(hospital), tenant=hospital))]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [
        (403, "insufficient_scope"),
        (403, "not_a_supplier"),
    ]
    assert_nothing_changed(supplier)
