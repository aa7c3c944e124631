"""The goods that lines name, and the places where they lie, refused line by line; `finding` looks them up."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from core.errors import FieldError, InvalidFields
from suppliers.catalog.states import LOT_TRACKING, SERIAL_TRACKING
from suppliers.inventory.items.offered import Origin
from suppliers.inventory.refusals import StorageMismatch


class Product(NamedTuple):
    """A product as the inventory needs it, of the tenant or, with another `owner_id`, of a supplier.

    Temperatures are in degrees Celsius.
    """

    id: UUID
    owner_id: UUID
    supplier_sku: str
    category: str
    tracking: str
    expiry_required: bool
    min_c: Decimal | None
    max_c: Decimal | None


class Place(NamedTuple):
    """A stock location; what lies in one that is not sellable is set apart."""

    location_id: UUID
    sellable: bool
    min_c: Decimal | None
    max_c: Decimal | None


@dataclass(frozen=True, slots=True)
class Goods:
    """What was found: products by each of their names, and stock locations by their ids.

    A GTIN may name products of several suppliers. `items` are the columns of what a buyer comes to hold or renews, `origins`
    the suppliers' lots of what it receives.
    """

    products: Mapping[UUID, Product]
    skus: Mapping[str, Product]
    gtins: Mapping[str, Sequence[Product]]
    places: Mapping[UUID, Place]
    items: Sequence[dict[str, Any]] = ()
    origins: Mapping[tuple[UUID, str], Origin] = field(default_factory=dict)

    def named(self, line: Mapping[str, Any]) -> Sequence[Product]:
        """Return the products that a line may mean; with `supplier_id`, those of this supplier."""
        found: Sequence[Product | None]
        if line["product_id"]:
            found = [self.products.get(line["product_id"])]
        elif line["supplier_sku"]:
            found = [self.skus.get(line["supplier_sku"])]
        else:
            found = self.gtins.get(line["gtin"], ())
        return [one for one in found if one and line["supplier_id"] in (None, one.owner_id)]


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
        named = goods.named(line)
        for member, place in place_of(line):
            if place not in goods.places:
                name = member if member.startswith("/") else f"lines.{number}.{member}"
                message = "There is no such stock location."
                errors.append(FieldError(name.removeprefix("/"), "unknown_location", message))
        if len(named) != 1:
            errors.append(_unclear(number, line, is_ambiguous=bool(named)))
            continue
        product = named[0]
        found.append(product)
        errors += [*_lot_errors(number, line, product), *_serial_errors(number, line, product)]
    if errors := errors or _repeated_serials(lines, found):
        raise InvalidFields(errors=list(dict.fromkeys(errors)))
    return found


def _unclear(number: int, line: Mapping[str, Any], *, is_ambiguous: bool) -> FieldError:
    """Return the error of a line that names no product, or several."""
    name = next((one for one in ("product_id", "supplier_sku", "gtin") if line[one]), "product_id")
    if is_ambiguous:
        message = "Several suppliers have this GTIN: name one by supplier_id."
        return FieldError(f"lines.{number}.{name}", "ambiguous_product", message)
    return FieldError(f"lines.{number}.{name}", "unknown_product", "There is no such product.")


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
    """Tell whether what is known of a place's temperatures lies within the product's range.

    A place without temperatures suits what needs no cold chain (at most 8 degrees).
    """
    if place.min_c is None and place.max_c is None:
        return product.max_c is None or product.max_c > 8
    known = [one for one in (place.min_c, place.max_c) if one is not None]
    is_too_cold = product.min_c is not None and min(known) < product.min_c
    is_too_warm = product.max_c is not None and max(known) > product.max_c
    return not (is_too_cold or is_too_warm)
