"""What products and categories look like on the wire."""

from dataclasses import dataclass
from typing import Any

from api.listing import CREATED, Listing, Sort
from api.shapes import Field, Schema, Shape, boolean, choice, computed, document, instant, integer, text, uuid

from . import category_tree, states
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

PRODUCT = Shape(name="product", model=Product, fields=PRODUCT_FIELDS)


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


@dataclass(frozen=True, slots=True, eq=False)
class _TreeShape(Shape):
    """A shape over the composed tree instead of one table."""

    @property
    def table(self) -> str:
        """The sub-select."""
        return category_tree.COUNTED


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
)

CATEGORIES = Listing(
    shape=CATEGORY,
    sorts={**CREATED, "code": Sort("code", "text"), "name": Sort("name", "text"), "tree": Sort("path", "text")},
    default_sort="tree",
)
