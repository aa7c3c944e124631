"""The goods that lines name, and the places where they lie: looked up in one trip, refused line by line."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.conditions import TENANT
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Statement, run
from suppliers.catalog.states import LOT_TRACKING, SERIAL_TRACKING
from suppliers.inventory.queries import WITHIN
from suppliers.inventory.refusals import StorageMismatch


class Product(NamedTuple):
    """A product as the inventory needs it; temperatures are in degrees Celsius."""

    id: UUID
    supplier_sku: str
    category: str
    tracking: str
    expiry_required: bool
    min_c: Decimal | None
    max_c: Decimal | None


class _Named(NamedTuple):
    product_id: UUID
    gtin: str


class Place(NamedTuple):
    """A stock location; what lies in one that is not sellable is set apart."""

    location_id: UUID
    sellable: bool
    min_c: Decimal | None
    max_c: Decimal | None


_PRODUCTS = Statement.of(
    "SELECT p.id, p.supplier_sku, p.category, p.tracking, p.expiry_required, p.storage_min_c AS min_c,"
    " p.storage_max_c AS max_c FROM suppliers_product p WHERE p.tenant_id = $1 AND p.archived_at IS NULL"
    " AND (p.id = ANY($2::uuid[]) OR p.supplier_sku = ANY($3::text[]) OR p.id IN (SELECT k.product_id"
    " FROM suppliers_packaging k WHERE k.tenant_id = $1 AND k.gtin = ANY($4::text[]) AND k.state = 'current'))",
    row=Product,
)
_GTINS = Statement.of(
    "SELECT k.product_id, k.gtin FROM suppliers_packaging k"
    " WHERE k.tenant_id = $1 AND k.gtin = ANY($2::text[]) AND k.state = 'current'",
    row=_Named,
)
_PLACES = Statement.of(
    "SELECT s.location_id, s.sellable, s.min_c, s.max_c FROM suppliers_stockplace s"
    " JOIN organizations_location l ON l.tenant_id = s.tenant_id AND l.id = s.location_id AND l.tenant_id = $1"
    " WHERE s.tenant_id = $1 AND s.location_id = ANY($2::uuid[]) AND l.status = 'active'"
    f" AND {WITHIN.over('s').sql.replace(TENANT, '$1')}",
    row=Place,
)


@dataclass(frozen=True, slots=True)
class Goods:
    """What was found: products by each of their names, and stock locations by their ids."""

    products: Mapping[UUID, Product]
    skus: Mapping[str, Product]
    gtins: Mapping[str, Product]
    places: Mapping[UUID, Place]

    def product_of(self, line: Mapping[str, Any]) -> Product | None:
        """Return the product that a line names; None for an unknown one."""
        if line["product_id"]:
            return self.products.get(line["product_id"])
        return self.skus.get(line["supplier_sku"]) if line["supplier_sku"] else self.gtins.get(line["gtin"])


def find_goods(actor: Actor, lines: Sequence[Mapping[str, Any]], places: Collection[UUID]) -> Goods:
    """Look up what lines name; places out of the membership's reach are left out."""
    tenant_id = str(actor.tenant_id)
    ids, skus, gtins = ({line[name] for line in lines if line[name]} for name in ("product_id", "supplier_sku", "gtin"))
    calls = [
        Call(_PRODUCTS, [tenant_id, *map(array_literal, (ids, skus, gtins))]),
        Call(_GTINS, [tenant_id, array_literal(gtins)]),
        Call(_PLACES, [tenant_id, array_literal(places)]),
    ]
    products, named, found = run(calls)
    by_id = {one.id: one for one in products.of(Product)}
    return Goods(
        by_id,
        {one.supplier_sku: one for one in by_id.values()},
        {one.gtin: by_id[one.product_id] for one in named.of(_Named) if one.product_id in by_id},
        {one.location_id: one for one in found.of(Place)},
    )


def check_lines(
    goods: Goods,
    lines: Sequence[Mapping[str, Any]],
    place_of: Callable[[Mapping[str, Any]], Sequence[tuple[str, UUID]]],
) -> list[Product]:
    """Return the product of each line; `place_of` returns the field and the place that a line needs.

    :raises InvalidFields: a product or place is unknown, or the lot or a serial number is missing or out of
        place.
    """
    errors: list[FieldError] = []
    found: list[Product] = []
    for number, line in enumerate(lines):
        product = goods.product_of(line)
        for field, place in place_of(line):
            if place not in goods.places:
                name = field if field.startswith("/") else f"lines.{number}.{field}"
                message = "There is no such stock location."
                errors.append(FieldError(name.removeprefix("/"), "unknown_location", message))
        if product is None:
            name = next((one for one in ("product_id", "supplier_sku", "gtin") if line[one]), "product_id")
            errors.append(FieldError(f"lines.{number}.{name}", "unknown_product", "There is no such product."))
            continue
        found.append(product)
        errors += [*_lot_errors(number, line, product), *_serial_errors(number, line, product)]
    if errors := errors or _repeated_serials(lines, found):
        raise InvalidFields(errors=list(dict.fromkeys(errors)))
    return found


def _lot_errors(number: int, line: Mapping[str, Any], product: Product) -> list[FieldError]:
    has_lots = product.tracking in LOT_TRACKING
    if has_lots and not line["lot_number"]:
        return [FieldError(f"lines.{number}.lot_number", "required", "The product has lots: name one.")]
    if not has_lots and line["lot_number"]:
        return [FieldError(f"lines.{number}.lot_number", "invalid", "The product has no lots.")]
    return []


def _serial_errors(number: int, line: Mapping[str, Any], product: Product) -> list[FieldError]:
    """Return what is wrong with the serial numbers of a line: one is needed for each unit of a product that has them."""
    name, given = f"lines.{number}.serial_numbers", line["serial_numbers"]
    if product.tracking not in SERIAL_TRACKING:
        return [FieldError(name, "invalid", "The product has no serial numbers.")] if given else []
    if len(given) == abs(line["quantity"]):
        return []
    if not given:
        return [FieldError(name, "required", "The product has serial numbers: name one for each unit.")]
    return [FieldError(name, "count_mismatch", f"{abs(line['quantity'])} units have as many serial numbers.")]


def _repeated_serials(lines: Sequence[Mapping[str, Any]], products: Sequence[Product]) -> list[FieldError]:
    """Return an error for each line that names a serial number which it or an earlier line has named."""
    seen: set[tuple[UUID, str]] = set()
    errors = []
    for number, (line, product) in enumerate(zip(lines, products, strict=True)):
        named = [(product.id, one) for one in line["serial_numbers"]]
        if len(set(named)) < len(named) or seen & set(named):
            message = "A serial number is named twice."
            errors.append(FieldError(f"lines.{number}.serial_numbers", "duplicate", message))
        seen.update(named)
    return errors


def check_storage(goods: Goods, arriving: Iterable[tuple[int, Product, UUID]]) -> None:
    """Refuse to put products where it is too warm or too cold for them; `arriving` has line, product and place.

    :raises StorageMismatch: names each line.
    """
    errors = [
        FieldError(f"lines.{number}", StorageMismatch.code, "The place does not suit the product.")
        for number, product, place in arriving
        if not _suits(product, goods.places[place])
    ]
    if errors:
        raise StorageMismatch(errors=errors)


def _suits(product: Product, place: Place) -> bool:
    """A place without temperatures suits what needs no cold chain (at most 8 degrees)."""
    if place.min_c is None and place.max_c is None:
        return product.max_c is None or product.max_c > 8
    too_cold = product.min_c is not None and place.min_c is not None and place.min_c < product.min_c
    too_warm = product.max_c is not None and place.max_c is not None and place.max_c > product.max_c
    return not (too_cold or too_warm)
