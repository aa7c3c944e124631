"""Bodies of products, and short ways to make and read them."""

import itertools
from typing import Any
from uuid import UUID

from stdnum import ean

from core.db import tenant_context
from organizations.models import Location, Tenant
from suppliers.inventory.items.models import StockItem
from suppliers.inventory.models import StockLevel
from tests.factories import Api, suffix

_numbers = itertools.count(1)


def gtin() -> str:
    """Return a valid GTIN-13 that this process has not used."""
    body = f"40{next(_numbers):010d}"
    return body + ean.calc_check_digit(body)


def packaging(**changes: Any) -> dict[str, Any]:
    """Return the smallest packaging."""
    return {"level": "each", "units_per_pack": 1} | changes


def body(**changes: Any) -> dict[str, Any]:
    """Return the smallest product: a consumable draft."""
    return {
        "supplier_sku": f"SKU-{suffix()}",
        "name": "Nitrile gloves",
        "category": "gloves",
        "kind": "consumable",
        "base_unit": "EA",
        "packagings": [packaging()],
    } | changes


def full_body(**changes: Any) -> dict[str, Any]:
    """Return a product with every field that can be written, active."""
    return {
        "supplier_sku": f"FULL-{suffix()}",
        "name": "Insulin glargine 100 U/ml",
        "description": "Five pens of 3 ml.",
        "category": "antidiabetics",
        "kind": "medicine",
        "status": "active",
        "brand": "Basal",
        "manufacturer_name": "Maker GmbH",
        "manufacturer_part_number": "M-100",
        "base_unit": "EA",
        "packagings": [
            {
                "level": "each",
                "name": "Pen",
                "units_per_pack": 1,
                "gtin": gtin(),
                "orderable": False,
                "min_order_quantity": 1,
                "order_increment": 1,
                "max_order_quantity": None,
                "gross_weight_g": 30,
                "length_mm": 150,
                "width_mm": 20,
                "height_mm": 20,
            },
            {
                "level": "inner",
                "name": "Box of 5",
                "units_per_pack": 5,
                "gtin": gtin(),
                "orderable": True,
                "min_order_quantity": 2,
                "order_increment": 2,
                "max_order_quantity": 100,
                "gross_weight_g": 160,
                "length_mm": 160,
                "width_mm": 110,
                "height_mm": 25,
            },
        ],
        "udi": {
            "issuing_agency": "GS1",
            "device_identifier": "04006381333931",
            "device_class": "IIb",
            "basic_udi_di": "4006381ABCDEFGH12X5",
            "srn": "DE-MF-000012345",
        },
        "national_codes": [{"system": "PZN", "value": "12345678"}],
        "classifications": {"atc": "A10AE04", "unspsc": "51181500", "hs_code": "300431"},
        "tracking": "lot_and_serial",
        "expiry_required": True,
        "shelf_life_days": 1095,
        "min_remaining_shelf_life_days": 180,
        "storage": {"min_c": 2, "max_c": 8, "light_sensitive": True},
        "controlled": {"schedule": "II", "license_type": "BtM"},
        "hazardous": {"un_number": "UN1170", "class": "3"},
        "prescription_only": True,
        "substitutes": [],
        "tax_category": "S",
        "country_of_origin": "DE",
        "lead_time_days": 2,
        "attributes": [
            {"code": "strength", "value": 100, "unit": "U/ml", "locale": None, "source": "manufacturer"},
            {"code": "single_use", "value": True, "unit": None, "locale": None, "source": "supplier"},
            {"code": "volume", "value": 3.5, "unit": "mL", "locale": None, "source": "registry"},
        ],
    } | changes


def create(api: Api, **changes: Any) -> dict[str, Any]:
    """Create a product and return its representation."""
    answer = api.post("/v1/products", json=body(**changes))
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def listed(api: Api, query: str = "") -> tuple[list[str], int]:
    """Return the SKUs of a page and the total."""
    answer = api.get(f"/v1/products?{query}")
    assert answer.status_code == 200, answer.content
    data = answer.json()["data"]
    return [item["supplier_sku"] for item in data["items"]], data["total"]


def stock(tenant: Tenant, product_id: str, *, on_hand: int, reserved: int = 0) -> None:
    """Put stock of a product into a new location."""
    with tenant_context(tenant.id):
        location = Location.objects.create(tenant_id=tenant.id, name="Warehouse", type="warehouse")
        hold(tenant, product_id)
        StockLevel.objects.create(
            tenant_id=tenant.id, product_id=UUID(product_id), location=location, on_hand=on_hand, reserved=reserved
        )


def field_errors(answer: Any) -> set[tuple[str, str]]:
    """Return field and code of each error of a 400."""
    assert answer.status_code == 400, answer.content
    return {(error["field"], error["code"]) for error in answer.json()["errors"]}


def hold(tenant: Tenant, product_id: str) -> None:
    """Let the bound tenant hold its own product, as its first receipt does."""
    StockItem.objects.get_or_create(
        tenant_id=tenant.id, id=product_id, defaults={"product_tenant_id": tenant.id, "own_product_id": product_id}
    )
