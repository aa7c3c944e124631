"""The lines of a shipment as they are asked for: goods of lines of the order, in base units, checked against both.

Source: contract, supply-order.md 3 "What may be shipped".
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from core.errors import FieldError, InvalidFields
from suppliers.inventory.movements.serials import Named
from suppliers.inventory.refusals import WrongSerial
from suppliers.inventory.states import Unit
from suppliers.orders.models import PurchaseOrderLine
from suppliers.orders.progress import delivered, tolerated

from .refusals import OverShipment
from .stock import Goods


@dataclass(frozen=True, slots=True)
class Want:
    """So many base units of a line of the order, of a lot or of whichever; `number` is the line's place in the body."""

    number: int
    line: PurchaseOrderLine
    unit: str
    base_quantity: int
    lot_number: str = ""
    expiry_date: date | None = None
    serial_numbers: Sequence[str] = field(default_factory=tuple)

    def fault(self, member: str, code: str, message: str, **details: Any) -> FieldError:
        """Return an error of the line."""
        return FieldError(f"lines.{self.number}{'.' if member else ''}{member}", code, message, details)

    def as_json(self) -> dict[str, Any]:
        """Return the line as a draft keeps and shows it."""
        line = self.line
        is_whole = self.base_quantity % line.units_per_pack == 0
        return {
            "line_no": self.number + 1, "order_line_id": str(line.id),
            "product_id": str(line.product_id) if line.product_id else None,
            "packaging_id": str(line.packaging_id) if line.packaging_id else None, "name": line.name,
            "supplier_sku": line.supplier_sku or None, "gtin": line.gtin or None, "packaging": line.packaging,
            "unit": self.unit, "quantity": self.base_quantity // line.units_per_pack if is_whole else None,
            "base_quantity": self.base_quantity, "base_unit": line.base_unit, "units_per_pack": line.units_per_pack,
            "lot_number": self.lot_number or None,
            "expiry_date": self.expiry_date.isoformat() if self.expiry_date else None,
            "serial_numbers": [*self.serial_numbers],
        }  # fmt: skip


def wants_of(asked: Sequence[Mapping[str, Any]], lines: Sequence[PurchaseOrderLine]) -> list[Want]:
    """Return what the lines of a body ask for.

    :raises InvalidFields: names each line that is none of the order's.
    """
    known = {one.id: one for one in lines}
    found, errors = list[Want](), list[FieldError]()
    for number, one in enumerate(asked):
        line = known.get(one["order_line_id"])
        if line is None:
            errors.append(FieldError(f"lines.{number}.order_line_id", "unknown_line", "The order has no such line."))
            continue
        units = line.units_per_pack if one["unit"] == Unit.PACK else 1
        found.append(
            Want(
                number,
                line,
                Unit(one["unit"]).value,
                one["quantity"] * units,
                one["lot_number"] or "",
                one["expiry_date"],
                tuple(one["serial_numbers"]),
            )
        )
    if errors:
        raise InvalidFields(errors=errors)
    return found


def wants_of_draft(kept: Sequence[Mapping[str, Any]], lines: Sequence[PurchaseOrderLine]) -> list[Want]:
    """Return what the kept lines of a draft ask for."""
    known = {str(one.id): one for one in lines}
    return [
        Want(
            one["line_no"] - 1,
            known[one["order_line_id"]],
            one["unit"],
            one["base_quantity"],
            one["lot_number"] or "",
            date.fromisoformat(one["expiry_date"]) if one["expiry_date"] else None,
            tuple(one["serial_numbers"]),
        )
        for one in kept
    ]


def check_goods(wants: Sequence[Want], asked: Sequence[Mapping[str, Any]], goods: Mapping[UUID, Goods]) -> None:
    """Hold what lines name of their goods to the products; `asked` are the lines of the body.

    :raises InvalidFields: a lot or serial numbers of a product that has none, a GTIN of another product, a number twice.
    """
    errors, seen = list[FieldError](), set[Named]()
    for want, one in zip(wants, asked, strict=True):
        product_id = want.line.product_id
        if product_id is None:
            errors += _wrong_in_words(want, one)
            continue
        errors += _wrong_of_product(want, one, goods[product_id])
        named = {(product_id, number) for number in want.serial_numbers}
        if seen & named:
            errors.append(want.fault("serial_numbers", "duplicate", "A serial number is named twice."))
        seen |= named
    if errors:
        raise InvalidFields(errors=errors)


def _wrong_of_product(want: Want, one: Mapping[str, Any], product: Goods) -> list[FieldError]:
    """Return what a line names that its product does not have."""
    errors = []
    if want.lot_number and not product.has_lots:
        errors.append(want.fault("lot_number", "invalid", "The product has no lots."))
    if want.serial_numbers and not product.has_serials:
        errors.append(want.fault("serial_numbers", "invalid", "The product has no serial numbers."))
    if one["gtin"] and one["gtin"] not in product.gtins:
        errors.append(_foreign_gtin(want, one))
    if one["serial_numbers"] and len(want.serial_numbers) > want.base_quantity:
        errors.append(want.fault("serial_numbers", "count_mismatch", "More numbers than units."))
    return errors


def _wrong_in_words(want: Want, one: Mapping[str, Any]) -> list[FieldError]:
    """Return what is wrong with a line of goods in words: their lot is what the supplier says, and units are not kept of them."""
    errors = []
    if want.serial_numbers:
        message = "The order names these goods in words: no serial numbers are kept of them."
        errors.append(want.fault("serial_numbers", "invalid", message))
    if one["gtin"] and want.line.gtin not in ("", one["gtin"]):
        errors.append(_foreign_gtin(want, one))
    return errors


def _foreign_gtin(want: Want, one: Mapping[str, Any]) -> FieldError:
    member, code = ("scan", "invalid_scan") if one["scan"] else ("gtin", "invalid_gtin")
    return want.fault(member, code, "The GTIN is none of the product.")


def check_open(wants: Sequence[Want], prepared: Mapping[UUID, int]) -> None:
    """Require that no more leaves than is accepted and tolerated; `prepared` is what other shipments prepare of each line.

    :raises OverShipment: names each line with what is open.
    """
    asked: dict[UUID, int] = defaultdict(int)
    for want in wants:
        asked[want.line.id] += want.base_quantity
    errors = [
        want.fault("", OverShipment.code, f"{max(free, 0)} base units are open.", open=max(free, 0))
        for want in wants
        if asked[want.line.id] > (free := open_of(want.line) - prepared.get(want.line.id, 0))
    ]
    if errors:
        raise OverShipment(errors=errors)


def open_of(line: PurchaseOrderLine) -> int:
    """Return how much of a line may be shipped, in base units; what was rejected or short may be shipped again."""
    return line.accepted + tolerated(line) - delivered(line)


def check_numbered(wants: Sequence[Want], goods: Mapping[UUID, Goods]) -> None:
    """Require a serial number for each unit that leaves, of products that have them.

    :raises InvalidFields: names each line.
    """
    errors = [
        want.fault("serial_numbers", "count_mismatch", f"{want.base_quantity} units have as many serial numbers.")
        for want in wants
        if want.line.product_id
        and goods[want.line.product_id].has_serials
        and len(want.serial_numbers) != want.base_quantity
    ]
    if errors:
        raise InvalidFields(errors=errors)


def numbers_of(wants: Sequence[Want]) -> list[Named]:
    """Return the serial numbers that wants name, with their products."""
    return [(want.line.product_id, one) for want in wants if want.line.product_id for one in want.serial_numbers]


def wrong_serials(want: Want, numbers: Sequence[str]) -> list[FieldError]:
    """Return an error for each number that is not where the line takes it from."""
    message = "The serial number is not in stock there."
    return [want.fault("serial_numbers", WrongSerial.code, f"{number}: {message}") for number in numbers]
