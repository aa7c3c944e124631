"""Attributes: the definitions, the values of a product, and what an active product needs."""

from typing import Any

import pytest

from core.db import tenant_context
from ledger.models import Event
from organizations.models import Tenant
from suppliers.catalog.attributes.definitions import STARTERS, seed_definitions
from suppliers.catalog.models import AttributeDefinition
from tests.factories import Api, api_key, provision
from tests.suppliers.products import body, create

COLOUR = {"code": "colour", "value": "blue", "unit": None, "locale": "en", "source": "supplier"}
VOLUME = {"code": "volume", "value": 3.5, "unit": None, "locale": None, "source": "registry"}


def requires(code: str, category: str) -> None:
    AttributeDefinition.objects.using("owner").filter(code=code).update(required_for=[category])


@pytest.fixture
def sizes_required() -> Any:
    """Attribute `size`, required in the category above gloves."""
    requires("size", "consumables")
    yield
    AttributeDefinition.objects.using("owner").filter(code="size").update(required_for=[])


def put(api: Api, product: dict[str, Any], *values: dict[str, Any], **headers: str) -> Any:
    return api.put(f"/v1/products/{product['id']}/attributes", json={"values": list(values)}, headers=headers)


def test_definitions_are_listed_by_code_and_filtered(api: Api, sizes_required: None) -> None:
    data = api.get("/v1/attributes?limit=100").json()["data"]
    codes = [item["code"] for item in data["items"]]
    enums = api.get("/v1/attributes?type=enum,boolean&fields=code,allowed_values").json()["data"]["items"]
    needed = api.get("/v1/attributes?category=gloves").json()["data"]["items"]

    assert codes == sorted(one.code for one in STARTERS)
    choices = {item["code"]: item["allowed_values"] for item in enums}
    assert choices["mri_safety"] == ["safe", "conditional", "unsafe"]
    assert choices.keys() == {one.code for one in STARTERS if one.type in ("enum", "boolean")}
    assert [(item["code"], item["required_for"]) for item in needed] == [("size", ["consumables"])]
    assert api.get("/v1/attributes?category=medicines").json()["data"]["total"] == 0
    refused = api.get("/v1/attributes?type=colour")
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "invalid_choice")


def test_values_are_replaced_and_read_with_their_definitions(api: Api) -> None:
    product = create(api)

    answer = put(api, product, VOLUME, COLOUR)
    read = api.get(f"/v1/products/{product['id']}/attributes")

    assert answer.status_code == 200, answer.content
    data = read.json()["data"]
    assert data == answer.json()["data"]
    assert (data["id"], data["version"]) == (product["id"], product["version"] + 1)
    volume, colour = data["values"]
    assert {name: value for name, value in volume.items() if name != "definition"} == VOLUME
    assert volume["definition"] == {
        "name": "Volume", "type": "quantity", "unit": "mL", "allowed_values": [], "required_for": [],
        "localizable": False, "active": True,
    }  # fmt: skip
    assert colour["definition"]["localizable"] is True
    assert api.get(f"/v1/products/{product['id']}").json()["data"]["attributes"] == [VOLUME, COLOUR]
    assert put(api, product, VOLUME, COLOUR).json()["data"]["version"] == data["version"], "nothing differs"
    assert put(api, product).json()["data"]["values"] == []


@pytest.mark.parametrize(
    ("value", "field", "code"),
    [
        ({"code": "flavour", "value": "mint"}, "values.0.code", "unknown_attribute"),
        ({"code": "sterile", "value": "yes"}, "values.0.value", "invalid_type"),
        ({"code": "gauge", "value": 1.5}, "values.0.value", "invalid_type"),
        ({"code": "gauge", "value": True}, "values.0.value", "invalid_type"),
        ({"code": "size", "value": 7}, "values.0.value", "invalid_type"),
        ({"code": "volume", "value": "a lot"}, "values.0.value", "invalid_type"),
        ({"code": "mri_safety", "value": "maybe"}, "values.0.value", "invalid_choice"),
        ({"code": "volume", "value": 1, "unit": "L"}, "values.0.unit", "invalid_choice"),
        ({"code": "sterile", "value": True, "unit": "mL"}, "values.0.unit", "invalid_choice"),
        ({"code": "strength", "value": 1}, "values.0.unit", "required"),
        ({"code": "size", "value": "M", "locale": "en"}, "values.0.locale", "not_localizable"),
    ],
)
def test_value_that_does_not_fit_is_refused_everywhere(api: Api, value: dict[str, Any], field: str, code: str) -> None:
    product = create(api)

    refused = put(api, product, value)
    elsewhere = api.post("/v1/products", json=body(attributes=[value]))
    replaced = api.put(f"/v1/products/{product['id']}", json=body(attributes=[value]))

    assert [(one["field"], one["code"]) for one in refused.json()["errors"]] == [(field, code)]
    assert elsewhere.status_code == replaced.status_code == refused.status_code == 400
    place = field.replace("values", "attributes")
    assert [one["field"] for one in elsewhere.json()["errors"]] == [place]
    assert [one["field"] for one in replaced.json()["errors"]] == [place]
    assert api.get(f"/v1/products/{product['id']}").json()["data"]["version"] == product["version"]


def test_number_of_many_digits_is_sent_as_text(api: Api) -> None:
    product = create(api)

    assert put(api, product, {"code": "volume", "value": "0.12345678901234567891"}).status_code == 200


def test_active_product_needs_what_its_category_requires(api: Api, sizes_required: None) -> None:
    lacking = body(category="gloves", status="active", attributes=[])
    draft = create(api, category="gloves", status="draft", attributes=[])

    refused = api.post("/v1/products", json=lacking)
    activated = api.put(f"/v1/products/{draft['id']}", json={**lacking, "supplier_sku": draft["supplier_sku"]})
    elsewhere = create(api, category="medicines", status="active", attributes=[])
    made = create(api, category="gloves", status="active", attributes=[{"code": "size", "value": "M"}])
    emptied = put(api, made)

    for answer, field in ((refused, "attributes"), (activated, "attributes"), (emptied, "values")):
        assert answer.status_code == 400
        assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [(field, "required_when_active")]
    assert elsewhere["status"] == "active"


def test_archived_product_and_foreign_product_keep_their_values(api: Api) -> None:
    gone = create(api)
    api.delete(f"/v1/products/{gone['id']}")
    other: Tenant = provision("supplier")
    stranger = Api(key=api_key(other), tenant=other)

    archived = put(api, gone, VOLUME)

    assert (archived.status_code, archived.json()["code"]) == (409, "invalid_transition")
    assert put(stranger, gone, VOLUME).status_code == 404
    assert stranger.get(f"/v1/products/{gone['id']}/attributes").status_code == 404


def test_write_on_an_old_version_is_refused(api: Api) -> None:
    product = create(api)
    put(api, product, VOLUME)

    stale = put(api, product, COLOUR, **{"If-Match": f'"{product["version"]}"'})

    assert (stale.status_code, stale.json()["code"]) == (409, "version_conflict")


def test_change_is_told_as_a_change_of_the_product(api: Api, supplier: Tenant) -> None:
    product = create(api)
    put(api, product, VOLUME)

    with tenant_context(supplier.id):
        told = Event.objects.get(tenant_id=supplier.id, resource_id=product["id"], type="product.updated")

    assert (told.data["changes"], told.resource_version) == (["attributes"], product["version"] + 1)


def test_retired_definition_stays_with_its_values(api: Api) -> None:
    product = create(api)
    put(api, product, VOLUME)
    AttributeDefinition.objects.using("owner").filter(code="volume").update(active=False)
    try:
        kept = api.get(f"/v1/products/{product['id']}/attributes").json()["data"]["values"]
        refused = put(api, product, VOLUME)
        listed = api.get("/v1/attributes?limit=100&fields=code").json()["data"]["items"]
    finally:
        AttributeDefinition.objects.using("owner").filter(code="volume").update(active=True)

    assert kept[0]["definition"]["active"] is False
    assert refused.json()["errors"][0]["code"] == "unknown_attribute"
    assert "volume" not in {item["code"] for item in listed}


def test_seed_keeps_what_staff_changed() -> None:
    rows = AttributeDefinition.objects.using("owner")
    rows.filter(code="size").update(name="Format")
    rows.filter(code="gauge").delete()
    seed_definitions("owner")

    assert rows.get(code="size").name == "Format"
    assert rows.filter(code="gauge").exists()
    rows.filter(code="size").update(name="Size")
