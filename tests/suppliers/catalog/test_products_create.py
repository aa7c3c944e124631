"""POST /v1/products: what is stored, what is refused, what is recorded."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from suppliers.catalog.models import Product, ProductCounter
from tests.factories import Api, api_key, provision
from tests.suppliers.products import body, create, field_errors, full_body, gtin, listed, packaging

NOT_WRITTEN = ("id", "availability", "created_at", "updated_at", "version", "media", "hold")


def events_of(tenant: Tenant, product_id: str) -> list[Event]:
    with tenant_context(tenant.id):
        return list(
            Event.objects.filter(tenant_id=tenant.id, resource_id=UUID(product_id)).order_by("occurred_at", "id")
        )


def test_create_answers_every_field_as_it_was_sent(api: Api, supplier: Tenant) -> None:
    wanted = full_body()

    answer = api.post("/v1/products", json=wanted)

    assert answer.status_code == 201, answer.content
    data = answer.json()["data"]
    for sent, got in zip(wanted["packagings"], data["packagings"], strict=True):
        assert UUID(got.pop("id"))
        assert got == {**sent, "gtin": sent["gtin"].zfill(14)}
    assert data["availability"] == "unavailable"
    assert data["version"] == 1
    assert data["media"] == []
    assert data["created_at"] == data["updated_at"]
    written = {name: value for name, value in data.items() if name not in (*NOT_WRITTEN, "packagings")}
    expected = {name: value for name, value in wanted.items() if name != "packagings"}
    expected["storage"] = {"min_c": 2.0, "max_c": 8.0, "light_sensitive": True, "cold_chain": True}
    assert written == expected
    assert answer.headers["ETag"] == '"1"'
    assert answer.headers["Location"] == f"/v1/products/{data['id']}"
    assert api.get(answer.headers["Location"]).json()["data"]["supplier_sku"] == wanted["supplier_sku"]


def test_create_of_the_least_fills_in_defaults(api: Api) -> None:
    data = create(api, kind="device")

    assert data["status"] == "draft"
    assert data["tracking"] == "lot"
    assert data["storage"] is data["udi"] is data["controlled"] is data["hazardous"] is data["brand"] is None
    assert data["national_codes"] == data["substitutes"] == data["attributes"] == []
    assert data["classifications"] == {}
    assert data["expiry_required"] is data["prescription_only"] is False
    only = data["packagings"][0]
    assert (only["orderable"], only["min_order_quantity"], only["order_increment"]) == (True, 1, 1)
    assert only["gtin"] is only["max_order_quantity"] is None


def test_create_records_one_thin_fact(api: Api, supplier: Tenant) -> None:
    data = create(api, status="active")

    facts = events_of(supplier, data["id"])
    assert [(fact.type, fact.data, fact.resource_version) for fact in facts] == [
        ("product.created", {"supplier_sku": data["supplier_sku"], "status": "active"}, 1)
    ]


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"supplier_sku": ""}, "supplier_sku", "blank"),
        ({"supplier_sku": "x" * 65}, "supplier_sku", "max_length"),
        ({"name": None}, "name", "null"),
        ({"name": "x" * 256}, "name", "max_length"),
        ({"description": "x" * 10_001}, "description", "max_length"),
        ({"category": "no-such-thing"}, "category", "unknown_category"),
        ({"kind": "food"}, "kind", "invalid_choice"),
        ({"status": "discontinued"}, "status", "invalid_choice"),
        ({"base_unit": "pieces"}, "base_unit", "invalid_format"),
        ({"brand": "x" * 121}, "brand", "max_length"),
        ({"packagings": "none"}, "packagings", "not_a_list"),
        ({"packagings": [packaging(level="bag")]}, "packagings.0.level", "invalid_choice"),
        ({"packagings": [packaging(units_per_pack=0)]}, "packagings.0.units_per_pack", "min_value"),
        ({"packagings": [packaging(units_per_pack=None)]}, "packagings.0.units_per_pack", "null"),
        ({"packagings": [{"level": "each"}]}, "packagings.0.units_per_pack", "required"),
        ({"packagings": [packaging(gtin="4006381333932")]}, "packagings.0.gtin", "invalid_gtin"),
        ({"packagings": [packaging(gtin="400638133393")]}, "packagings.0.gtin", "invalid_gtin"),
        ({"packagings": [packaging(gtin="٤٠٠٦٣٨١٣٣٣٩٣١")]}, "packagings.0.gtin", "invalid_gtin"),
        ({"packagings": [packaging(order_increment=0)]}, "packagings.0.order_increment", "min_value"),
        (
            {"packagings": [packaging(min_order_quantity=5, max_order_quantity=4)]},
            "packagings.0.max_order_quantity",
            "min_value",
        ),
        ({"packagings": [packaging(gross_weight_g=-1)]}, "packagings.0.gross_weight_g", "min_value"),
        (
            {"packagings": [packaging(gtin="4006381333931"), packaging(level="case", gtin="04006381333931")]},
            "packagings.1.gtin",
            "duplicate",
        ),
        ({"udi": {"issuing_agency": "GS1", "device_identifier": "123"}}, "udi.device_identifier", "invalid_gtin"),
        ({"udi": {"issuing_agency": "ISO", "device_identifier": "1"}}, "udi.issuing_agency", "invalid_choice"),
        ({"udi": {"issuing_agency": "HIBCC", "device_identifier": "1", "srn": "DE-1"}}, "udi.srn", "invalid_format"),
        (
            {"udi": {"issuing_agency": "HIBCC", "device_identifier": "1", "basic_udi_di": "a b"}},
            "udi.basic_udi_di",
            "invalid_format",
        ),
        ({"national_codes": [{"system": "PZN"}]}, "national_codes.0.value", "required"),
        ({"classifications": {"atc": "1234"}}, "classifications.atc", "invalid_format"),
        ({"classifications": {"unspsc": "421"}}, "classifications.unspsc", "invalid_format"),
        ({"tracking": "rfid"}, "tracking", "invalid_choice"),
        ({"expiry_required": "maybe"}, "expiry_required", "invalid"),
        ({"shelf_life_days": 0}, "shelf_life_days", "min_value"),
        ({"shelf_life_days": 10, "min_remaining_shelf_life_days": 11}, "min_remaining_shelf_life_days", "max_value"),
        ({"storage": {"min_c": 8, "max_c": 8}}, "storage.max_c", "min_value"),
        ({"storage": {"min_c": 2.25}}, "storage.min_c", "max_decimal_places"),
        ({"storage": {"light_sensitive": True}}, "storage.max_c", "required"),
        ({"controlled": {"license_type": "BtM"}}, "controlled.schedule", "required"),
        ({"hazardous": {"un_number": "1170"}}, "hazardous.un_number", "invalid_format"),
        ({"hazardous": {"un_number": "UN1170", "class": "12"}}, "hazardous.class", "invalid_format"),
        (
            {"substitutes": [{"product_id": "019aa000-0000-7000-8000-000000000000", "type": "equivalent"}]},
            "substitutes.0.product_id",
            "unknown_product",
        ),
        ({"tax_category": "*"}, "tax_category", "invalid_format"),
        ({"country_of_origin": "XX"}, "country_of_origin", "invalid_choice"),
        ({"lead_time_days": 1.5}, "lead_time_days", "invalid"),
        ({"attributes": [{"code": "a", "value": {}}]}, "attributes.0.value", "invalid"),
        ({"attributes": [{"code": "a", "value": 1}, {"code": "a", "value": 2}]}, "attributes.1.code", "duplicate"),
        ({"supplier_skuu": "x"}, "supplier_skuu", "unknown_field"),
        ({"availability": "available"}, "availability", "unknown_field"),
        ({"storage": {"min_c": 2, "cold_chain": True}}, "storage.cold_chain", "unknown_field"),
    ],
)
def test_create_refuses_a_field_that_is_not_of_its_form(
    api: Api, changes: dict[str, Any], field: str, code: str
) -> None:
    answer = api.post("/v1/products", json=body(**changes))

    assert field_errors(answer) == {(field, code)}
    assert listed(api) == ([], 0)


@pytest.mark.parametrize("name", ["supplier_sku", "name", "category", "kind", "base_unit", "packagings"])
def test_create_without_a_required_field_names_it(api: Api, name: str) -> None:
    wanted = body()
    del wanted[name]

    assert field_errors(api.post("/v1/products", json=wanted)) == {(name, "required")}


def test_create_active_needs_more_than_a_draft(api: Api) -> None:
    lacking = body(status="active", kind="device", tracking="serial", packagings=[packaging(orderable=False)])

    answer = api.post("/v1/products", json=lacking)

    assert field_errors(answer) == {
        ("packagings", "required_when_active"),
        ("storage", "required_when_active"),
        ("tracking", "required_when_active"),
    }
    assert listed(api) == ([], 0)


def test_create_with_a_taken_sku_is_refused(api: Api) -> None:
    first = create(api)

    answer = api.post("/v1/products", json=body(supplier_sku=first["supplier_sku"]))

    assert (answer.status_code, answer.json()["code"]) == (409, "sku_taken")
    assert listed(api)[1] == 1


def test_create_with_a_taken_gtin_in_another_form_is_refused(api: Api) -> None:
    number = gtin()
    create(api, packagings=[packaging(gtin=number)])

    answer = api.post("/v1/products", json=body(packagings=[packaging(gtin=number.zfill(14))]))

    assert (answer.status_code, answer.json()["code"]) == (409, "gtin_taken")
    assert listed(api)[1] == 1


def test_create_with_several_faults_tells_those_of_the_body_first_and_writes_nothing(
    api: Api, supplier: Tenant
) -> None:
    first = create(api, packagings=[packaging(gtin=gtin())])
    taken = {"supplier_sku": first["supplier_sku"], "packagings": [packaging(gtin=first["packagings"][0]["gtin"])]}

    for more in ({}, taken, {"kind": "medicine", "status": "active"}):
        answer = api.post("/v1/products", json=body(category="no-such-thing", **more))
        assert (answer.status_code, field_errors(answer)) == (400, {("category", "unknown_category")})

    with tenant_context(supplier.id):
        assert ProductCounter.objects.get(pk=supplier.id).draft == 1
        assert Event.objects.filter(tenant_id=supplier.id, resource_type="product").count() == 1


def test_create_refused_with_a_key_can_be_sent_again_with_it(api: Api) -> None:
    headers = {"Idempotency-Key": "refused-once"}
    first = create(api)

    refused = api.post("/v1/products", json=body(supplier_sku=first["supplier_sku"]), headers=headers)
    again = api.post("/v1/products", json=body(), headers=headers)

    assert (refused.status_code, again.status_code) == (409, 201)


def test_sku_and_gtin_of_another_supplier_are_no_hindrance(api: Api) -> None:
    other = provision("supplier")
    number, sku = gtin(), "SHARED-1"
    create(api, supplier_sku=sku, packagings=[packaging(gtin=number)])

    create(Api(key=api_key(other), tenant=other), supplier_sku=sku, packagings=[packaging(gtin=number)])


def test_create_with_one_key_twice_makes_one_product(api: Api) -> None:
    wanted, headers = body(), {"Idempotency-Key": "create-once"}

    first = api.post("/v1/products", json=wanted, headers=headers)
    second = api.post("/v1/products", json=wanted, headers=headers)

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second.headers["Idempotency-Replayed"] == "true"
    assert listed(api)[1] == 1


def test_one_sku_created_at_once_is_created_once(supplier: Tenant) -> None:
    wanted, text = body(), api_key(supplier)

    def attempt(_: int) -> int:
        try:
            return int(Api(key=text, tenant=supplier).post("/v1/products", json=wanted).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(attempt, range(8)))

    assert statuses == [201] + [409] * 7
    with tenant_context(supplier.id):
        assert Product.objects.filter(tenant_id=supplier.id).count() == 1
        assert ProductCounter.objects.get(pk=supplier.id).draft == 1


def test_create_in_a_tenant_that_is_no_supplier_is_refused() -> None:
    hospital = provision("provider")
    client = Api(key=api_key(hospital), tenant=hospital)

    for answer in (client.post("/v1/products", json=body()), client.get("/v1/products"), client.get("/v1/categories")):
        assert (answer.status_code, answer.json()["code"]) == (403, "not_a_supplier")


def test_create_without_the_scope_is_refused(supplier: Tenant) -> None:
    client = Api(key=api_key(supplier, scopes=["catalog:read"]), tenant=supplier)

    answer = client.post("/v1/products", json=body())

    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")


def test_what_is_made_has_no_version_yet(api: Api, supplier: Tenant) -> None:
    answer = api.post("/v1/products", json=body() | {"version": 7})

    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [("version", "unknown_field")]
    assert api.get("/v1/products").json()["data"]["total"] == 0
