"""What products and categories look like on the wire."""

from dataclasses import dataclass
from typing import Any

from api.listing import CREATED, Listing, Sort
from api.shapes import Field, Schema, Shape, boolean, choice, computed, document, instant, integer, text, uuid

from . import states
from .filters import ProductFilters
from .models import PlatformCategory, Product

_OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}


def _optional_text(name: str) -> Field:
    return Field(name, f"NULLIF(t.\"{name}\", '')", _OPTIONAL_TEXT)


def _object(**members: Any) -> Schema:
    null = members.pop("null", True)
    return {"type": ["object", "null"] if null else "object", "properties": members}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_MAYBE_WHOLE: Schema = {"type": ["integer", "null"]}
_DEGREES: Schema = {"type": ["number", "null"], "description": "degrees Celsius"}

PACKAGINGS = computed(
    "packagings",
    "SELECT coalesce(json_agg(p), '[]') FROM (SELECT p.id, p.level, NULLIF(p.name, '') AS name, p.units_per_pack, p.gtin,"
    " p.orderable, p.min_order_quantity, p.order_increment, p.max_order_quantity, p.gross_weight_g, p.length_mm,"
    " p.width_mm, p.height_mm FROM suppliers_packaging p WHERE p.tenant_id = t.tenant_id AND p.product_id = t.id"
    f" AND p.state <> '{states.PackagingState.REMOVED}' ORDER BY p.position, p.id) p",
    _list(
        _object(
            null=False,
            id={"type": "string", "format": "uuid"},
            level={"type": "string", "x-extensible-enum": states.PackagingLevel.values},
            name=_OPTIONAL_TEXT,
            units_per_pack=_WHOLE,
            gtin={"type": ["string", "null"], "description": "14 digits"},
            orderable={"type": "boolean"},
            min_order_quantity=_WHOLE,
            order_increment=_WHOLE,
            max_order_quantity=_MAYBE_WHOLE,
            gross_weight_g=_MAYBE_WHOLE,
            length_mm=_MAYBE_WHOLE,
            width_mm=_MAYBE_WHOLE,
            height_mm=_MAYBE_WHOLE,
        )
    ),
)

STORAGE = computed(
    "storage",
    "CASE WHEN t.storage_light_sensitive IS NOT NULL THEN json_build_object('min_c', t.storage_min_c, 'max_c',"
    " t.storage_max_c, 'light_sensitive', t.storage_light_sensitive, 'cold_chain', coalesce(t.storage_max_c <= 8, false)) END",
    _object(min_c=_DEGREES, max_c=_DEGREES, light_sensitive={"type": "boolean"}, cold_chain={"type": "boolean"}),
)

# No file can be bound to a product before the files room exists, so the list is empty by nature.
MEDIA = computed("media", "SELECT '[]'::json", _list({"type": "object"}))

PRODUCT_FIELDS = (
    uuid("id"),
    text("supplier_sku"),
    text("name"),
    text("description"),
    text("category"),
    choice("kind", states.Kind.values),
    choice("status", states.Status.values),
    _optional_text("brand"),
    _optional_text("manufacturer_name"),
    _optional_text("manufacturer_part_number"),
    text("base_unit"),
    PACKAGINGS,
    document("udi", _object(issuing_agency=_TEXT, device_identifier=_TEXT, device_class=_OPTIONAL_TEXT)),
    document("national_codes", _list(_object(null=False, system=_TEXT, value=_TEXT))),
    document("classifications", _object(null=False, atc=_TEXT, emdn=_TEXT, gmdn=_TEXT, unspsc=_TEXT, hs_code=_TEXT)),
    choice("tracking", states.Tracking.values),
    boolean("expiry_required"),
    integer("shelf_life_days").nullable(),
    integer("min_remaining_shelf_life_days").nullable(),
    STORAGE,
    document("controlled", _object(schedule=_TEXT, license_type=_OPTIONAL_TEXT)),
    document("hazardous", _object(**{"un_number": _TEXT, "class": _OPTIONAL_TEXT})),
    boolean("prescription_only"),
    document("substitutes", _list(_object(null=False, product_id=_TEXT, type=_TEXT, ratio=_TEXT))),
    _optional_text("tax_category"),
    _optional_text("country_of_origin"),
    integer("lead_time_days").nullable(),
    document(
        "attributes",
        _list(_object(null=False, code=_TEXT, value={}, unit=_OPTIONAL_TEXT, locale=_OPTIONAL_TEXT, source=_TEXT)),
    ),
    MEDIA,
    choice("availability", states.Availability.values),
    instant("created_at"),
    instant("updated_at"),
    integer("version"),
)

_EXAMPLE: dict[str, Any] = {
    "id": "0190a5d2-7c1e-7b3a-9f00-0000000000c1",
    "supplier_sku": "GLV-NIT-M-100",
    "name": "Nitrile examination gloves, M",
    "description": "Powder-free, non-sterile.",
    "category": "gloves",
    "kind": "consumable",
    "status": "active",
    "brand": "Acme",
    "manufacturer_name": None,
    "manufacturer_part_number": None,
    "base_unit": "EA",
    "packagings": [
        {
            "id": "0190a5d2-7c1e-7b3a-9f00-0000000000c2",
            "level": "inner",
            "name": "Box of 100",
            "units_per_pack": 100,
            "gtin": "04006381333931",
            "orderable": True,
            "min_order_quantity": 1,
            "order_increment": 1,
            "max_order_quantity": None,
            "gross_weight_g": 520,
            "length_mm": 240,
            "width_mm": 120,
            "height_mm": 75,
        }
    ],
    "udi": None,
    "national_codes": [],
    "classifications": {"unspsc": "42132203"},
    "tracking": "lot",
    "expiry_required": True,
    "shelf_life_days": 1825,
    "min_remaining_shelf_life_days": 365,
    "storage": {"min_c": 5, "max_c": 30, "light_sensitive": False, "cold_chain": False},
    "controlled": None,
    "hazardous": None,
    "prescription_only": False,
    "substitutes": [],
    "tax_category": "standard",
    "country_of_origin": "DE",
    "lead_time_days": 3,
    "attributes": [],
    "media": [],
    "availability": "in_stock",
    "created_at": "2026-01-05T08:00:00.000Z",
    "updated_at": "2026-01-05T08:00:00.000Z",
    "version": 1,
}

PRODUCT = Shape(name="product", model=Product, fields=PRODUCT_FIELDS, example=_EXAMPLE)


def product_list(shape: Shape) -> Listing:
    """The list of products in a shape: archived ones only when `status` asks for them, the plain total from the counter."""
    return Listing(
        shape=shape,
        filters=ProductFilters,
        sorts={**CREATED, "name": Sort("name_sort", "text"), "supplier_sku": Sort("supplier_sku", "text")},
        count=(
            "SELECT coalesce((SELECT draft + active + discontinued FROM suppliers_productcounter WHERE tenant_id = $1), 0)"
        ),
        default_where='t."archived_at" IS NULL',
        default_unless="status",
    )


# The platform's categories and the tenant's own ones as one tree. `path` sorts it depth first; `product_count` holds what
# `GET /v1/products?category=` finds.
_TREE = """(
WITH RECURSIVE bound (tenant_id) AS (SELECT NULLIF(current_setting('app.tenant_id', true), '')::uuid),
node AS (
 SELECT id, code, name, parent_id, mappings, active, 'platform' AS source, created_at, updated_at, version,
  lpad(position::text, 4, '0') AS step FROM suppliers_platformcategory
 UNION ALL SELECT c.id, c.code, c.name, c.parent_id, c.mappings, c.active, 'own', c.created_at, c.updated_at, c.version,
  'x' || c.code FROM suppliers_category c JOIN bound USING (tenant_id)),
tree AS (
 SELECT node.*, 1 AS depth, step AS path FROM node WHERE parent_id IS NULL
 UNION ALL SELECT node.*, tree.depth + 1, tree.path || '/' || node.step FROM node JOIN tree ON node.parent_id = tree.id
  WHERE tree.depth < 8),
counted AS (
 SELECT p.category, count(*) AS n FROM suppliers_product p JOIN bound USING (tenant_id)
 WHERE p.archived_at IS NULL GROUP BY p.category)
SELECT tree.*, bound.tenant_id, (
 SELECT coalesce(sum(counted.n), 0)::bigint FROM tree below JOIN counted ON counted.category = below.code
 WHERE below.path = tree.path OR starts_with(below.path, tree.path || '/')) AS product_count
FROM tree CROSS JOIN bound)"""


@dataclass(frozen=True, slots=True, eq=False)
class _TreeShape(Shape):
    """A shape over the composed tree instead of one table."""

    @property
    def table(self) -> str:
        """The sub-select."""
        return _TREE


CATEGORY = _TreeShape(
    name="category",
    model=PlatformCategory,
    fields=(
        uuid("id"),
        text("code"),
        text("name"),
        uuid("parent_id").nullable(),
        integer("depth").described("1 for a root"),
        choice("source", ("platform", "own")),
        document("mappings", _object(null=False, unspsc=_TEXT, emdn=_TEXT, atc=_TEXT)),
        boolean("active"),
        integer("product_count").described(
            "products of the tenant in the category or below it, archived ones left out"
        ),
        instant("created_at"),
        instant("updated_at"),
        integer("version"),
    ),
    example={
        "id": "0190a5d2-7c1e-7b3a-9f00-0000000000c9",
        "code": "gloves",
        "name": "Gloves",
        "parent_id": "0190a5d2-7c1e-7b3a-9f00-0000000000c8",
        "depth": 2,
        "source": "platform",
        "mappings": {"unspsc": "42132203"},
        "active": True,
        "product_count": 12,
        "created_at": "2026-01-05T08:00:00.000Z",
        "updated_at": "2026-01-05T08:00:00.000Z",
        "version": 1,
    },
)

CATEGORIES = Listing(
    shape=CATEGORY,
    sorts={**CREATED, "code": Sort("code", "text"), "name": Sort("name", "text"), "tree": Sort("path", "text")},
    default_sort="tree",
)
