"""PUT and DELETE /v1/products/{id}: replacement, versions, the lifecycle, frozen fields, archiving."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, connection

from core.clock import now
from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from suppliers.catalog.models import Packaging, Product, ProductCounter
from tests.factories import Api, api_key, provision
from tests.suppliers.products import body, create, field_errors, full_body, gtin, listed, packaging, stock

READ_ONLY = ("id", "availability", "created_at", "updated_at", "version", "media", "hold")


def address(product: dict[str, Any]) -> str:
    return f"/v1/products/{product['id']}"


def as_body(product: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The body that says what a product says."""
    found = {name: value for name, value in product.items() if name not in READ_ONLY}
    if found["storage"]:
        found["storage"] = {name: value for name, value in found["storage"].items() if name != "cold_chain"}
    return found | changes


def told(tenant: Tenant, product: dict[str, Any]) -> list[str]:
    with tenant_context(tenant.id):
        rows = Event.objects.filter(tenant_id=tenant.id, resource_id=UUID(product["id"])).order_by("occurred_at", "id")
        return [row.type for row in rows]


def counts(tenant: Tenant) -> tuple[int, int, int, int]:
    with tenant_context(tenant.id):
        found = ProductCounter.objects.get(pk=tenant.id)
    return found.draft, found.active, found.discontinued, found.archived


def test_replace_takes_the_new_fields_and_defaults_for_the_rest(api: Api, supplier: Tenant) -> None:
    product = api.post("/v1/products", json=full_body()).json()["data"]

    answer = api.put(address(product), json=body(supplier_sku="NEW-1", name="Plain", status="active"))

    data = answer.json()["data"]
    assert answer.status_code == 200, answer.content
    assert (data["id"], data["version"], answer.headers["ETag"]) == (product["id"], 2, '"2"')
    assert (data["supplier_sku"], data["name"], data["kind"], data["tracking"]) == (
        "NEW-1",
        "Plain",
        "consumable",
        "none",
    )
    assert data["storage"] is data["udi"] is data["brand"] is data["lead_time_days"] is None
    assert data["attributes"] == data["national_codes"] == []
    assert data["created_at"] == product["created_at"]
    assert data["updated_at"] > product["updated_at"]
    assert told(supplier, product) == ["product.created", "product.updated"]


def test_replace_with_what_is_there_changes_nothing(api: Api, supplier: Tenant) -> None:
    product = api.post("/v1/products", json=full_body()).json()["data"]

    answer = api.put(address(product), json=as_body(product))

    assert answer.status_code == 200, answer.content
    assert answer.json()["data"] == product
    assert told(supplier, product) == ["product.created"]


@pytest.mark.parametrize(
    ("before", "asked", "after", "facts"),
    [
        ("draft", "active", "active", ["product.updated", "product.activated"]),
        ("active", "discontinued", "discontinued", ["product.updated", "product.discontinued"]),
        ("discontinued", "active", "active", ["product.updated", "product.activated"]),
        ("draft", "draft", "draft", []),
    ],
)
def test_replace_moves_along_the_states(
    api: Api, supplier: Tenant, before: str, asked: str, after: str, facts: list[str]
) -> None:
    product = create(api, status="draft" if before == "draft" else "active")
    if before == "discontinued":
        api.put(address(product), json=as_body(product, status="discontinued"))
    known = len(told(supplier, product))

    answer = api.put(address(product), json=as_body(product, status=asked))

    assert (answer.status_code, answer.json()["data"]["status"]) == (200, after)
    assert told(supplier, product)[known:] == facts
    assert counts(supplier) == tuple(int(name == after) for name in ("draft", "active", "discontinued", "archived"))


@pytest.mark.parametrize(
    ("before", "asked", "action", "allowed"),
    [
        ("draft", "discontinued", "discontinue", ["activate"]),
        ("draft", "archived", "archive", ["activate"]),
        ("active", "draft", "return_to_draft", ["discontinue"]),
        ("active", "archived", "archive", ["discontinue"]),
    ],
)
def test_replace_refuses_what_no_transition_leads_to(
    api: Api, supplier: Tenant, before: str, asked: str, action: str, allowed: list[str]
) -> None:
    product = create(api, status=before)

    answer = api.put(address(product), json=as_body(product, name="Other", status=asked))

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "invalid_transition")
    assert (problem["from"], problem["action"], problem["allowed"]) == (before, action, allowed)
    assert api.get(address(product)).json()["data"] == product
    assert told(supplier, product) == ["product.created"]


def test_replace_of_an_active_product_keeps_it_complete(api: Api) -> None:
    product = create(api, status="active")

    answer = api.put(address(product), json=as_body(product, packagings=[]))

    assert field_errors(answer) == {("packagings", "required_when_active")}
    assert api.get(address(product)).json()["data"] == product


def test_replace_with_an_old_version_is_refused(api: Api) -> None:
    product = create(api)
    api.put(address(product), json=as_body(product, name="Second"))

    by_header = api.put(address(product), json=as_body(product, name="Third"), headers={"If-Match": '"1"'})
    by_body = api.put(address(product), json=as_body(product, name="Third", version=1))

    for answer in (by_header, by_body):
        assert (answer.status_code, answer.json()["code"]) == (409, "version_conflict")
        assert answer.json()["current_version"] == 2
        assert answer.headers["ETag"] == '"2"'
    assert api.get(address(product)).json()["data"]["name"] == "Second"


def test_two_replacements_with_one_if_match_leave_one(supplier: Tenant, api: Api) -> None:
    product, text = create(api), api_key(supplier)

    def attempt(number: int) -> int:
        try:
            client = Api(key=text, tenant=supplier)
            wanted = as_body(product, name=f"Writer {number}")
            return int(client.put(address(product), json=wanted, headers={"If-Match": '"1"'}).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(attempt, range(2)))

    assert statuses == [200, 409]
    assert api.get(address(product)).json()["data"]["version"] == 2


def test_packagings_keep_their_ids_where_they_are_the_same(api: Api) -> None:
    one, two = gtin(), gtin()
    product = create(api, packagings=[packaging(gtin=one), packaging(level="case", units_per_pack=10, gtin=two)])
    each, case = product["packagings"]
    wanted = [
        packaging(level="inner", units_per_pack=5),
        packaging(level="case", units_per_pack=10, gtin=one),
        {**each, "gtin": two},
    ]

    answer = api.put(address(product), json=as_body(product, packagings=wanted))

    rows = answer.json()["data"]["packagings"]
    assert [row["gtin"] for row in rows] == [None, one.zfill(14), two.zfill(14)]
    assert rows[2]["id"] == each["id"]
    assert rows[1]["id"] == case["id"]
    assert rows[0]["id"] not in (each["id"], case["id"])


def test_a_removed_packaging_leaves_its_row_and_frees_its_gtin(api: Api, supplier: Tenant) -> None:
    number = gtin()
    product = create(api, packagings=[packaging(), packaging(level="case", units_per_pack=10, gtin=number)])
    removed = product["packagings"][1]["id"]

    answer = api.put(address(product), json=as_body(product, packagings=product["packagings"][:1]))

    assert len(answer.json()["data"]["packagings"]) == 1
    create(api, packagings=[packaging(gtin=number)])
    with tenant_context(supplier.id):
        assert Packaging.objects.get(pk=removed).state == "removed"


def test_a_packaging_of_another_product_is_unknown(api: Api) -> None:
    product, other = create(api), create(api)
    wanted = [{**packaging(), "id": other["packagings"][0]["id"]}]

    answer = api.put(address(product), json=as_body(product, packagings=wanted))

    assert field_errors(answer) == {("packagings.0.id", "unknown_packaging")}


def test_a_product_is_not_its_own_substitute(api: Api) -> None:
    product, other = create(api), create(api)
    links = [{"product_id": other["id"], "type": "equivalent", "ratio": "1:2"}]

    kept = api.put(address(product), json=as_body(product, substitutes=links))
    refused = api.put(address(product), json=as_body(product, substitutes=[{**links[0], "product_id": product["id"]}]))

    assert kept.json()["data"]["substitutes"] == links
    assert field_errors(refused) == {("substitutes.0.product_id", "unknown_product")}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"base_unit": "H87"}, "base_unit"),
        ({"tracking": "serial"}, "tracking"),
        ({"units_per_pack": 2}, "units_per_pack"),
    ],
)
def test_fields_are_frozen_once_stock_has_moved(api: Api, supplier: Tenant, changes: dict[str, Any], name: str) -> None:
    product = create(api)
    with tenant_context(supplier.id):
        Product._base_manager.filter(pk=product["id"]).update(stock_moved_at=now())
    if name == "units_per_pack":
        changes = {"packagings": [{**product["packagings"][0], **changes}]}

    refused = api.put(address(product), json=as_body(product, **changes))
    allowed = api.put(
        address(product), json=as_body(product, packagings=[*product["packagings"], packaging(units_per_pack=9)])
    )

    assert (refused.status_code, refused.json()["code"], refused.json()["fields"]) == (409, "field_locked", [name])
    assert allowed.status_code == 200


def test_delete_archives_and_frees_sku_and_gtin(api: Api, supplier: Tenant) -> None:
    number = gtin()
    product = create(api, status="active", packagings=[packaging(gtin=number)])

    answer = api.delete(address(product))

    assert (answer.status_code, answer.content) == (204, b"")
    assert listed(api) == ([], 0)
    assert listed(api, "status=archived") == ([product["supplier_sku"]], 1)
    data = api.get(address(product)).json()["data"]
    assert (data["status"], data["version"], data["packagings"]) == ("archived", 2, product["packagings"])
    assert told(supplier, product) == ["product.created", "product.deleted"]
    assert counts(supplier) == (0, 0, 0, 1)
    create(api, supplier_sku=product["supplier_sku"], packagings=[packaging(gtin=number)])


def test_an_archived_product_is_final(api: Api) -> None:
    product = create(api)
    api.delete(address(product))

    for answer in (api.put(address(product), json=as_body(product, name="Other")), api.delete(address(product))):
        problem = answer.json()
        assert (answer.status_code, problem["code"], problem["from"]) == (409, "invalid_transition", "archived")
        assert problem["allowed"] == []


def test_delete_with_stock_on_hand_is_refused(api: Api, supplier: Tenant) -> None:
    product = create(api)
    stock(supplier, product["id"], on_hand=3)

    answer = api.delete(address(product))

    assert (answer.status_code, answer.json()["code"]) == (409, "product_in_use")
    assert answer.json()["reasons"] == ["stock_on_hand"]
    assert api.get(address(product)).json()["data"] == product


def test_delete_with_an_old_version_is_refused(api: Api) -> None:
    product = create(api)

    answer = api.delete(address(product), headers={"If-Match": '"9"'})

    assert (answer.status_code, answer.json()["code"]) == (409, "version_conflict")


def test_a_product_of_another_supplier_does_not_exist(api: Api) -> None:
    product, other = create(api), provision("supplier")
    stranger = Api(key=api_key(other), tenant=other)
    unknown = f"/v1/products/{other.id}"

    for path in (address(product), unknown):
        answers = (stranger.get(path), stranger.put(path, json=body()), stranger.delete(path))
        assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(404, "not_found")] * 3
    foreign = body(substitutes=[{"product_id": product["id"], "type": "equivalent"}])
    assert field_errors(stranger.post("/v1/products", json=foreign)) == {
        ("substitutes.0.product_id", "unknown_product")
    }
    assert listed(stranger) == ([], 0)


def test_the_database_keeps_the_lifecycle_too(api: Api, supplier: Tenant) -> None:
    product = create(api, status="active")

    with pytest.raises(DatabaseError), tenant_context(supplier.id), connection.cursor() as cursor:
        cursor.execute("UPDATE suppliers_product SET status = 'draft' WHERE id = %s", [product["id"]])
