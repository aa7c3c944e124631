"""The lines of a receipt held against the lines of its delivery. Source: contract, supply-order.md 4."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from core.errors import FieldError, InvalidFields
from suppliers.deliveries.models import DeliveryLine
from suppliers.deliveries.tally import Count, admits, dealt_with, most
from suppliers.inventory.refusals import WrongSerial
from suppliers.inventory.states import Unit

from .finding import Receivable, SerialShipped
from .refusals import LotMismatch, OverReceipt


@dataclass(slots=True)
class Judged:
    """One line of a receipt: its number in the body, the line of the delivery, and what is received of it, in base units.

    `is_spoiled`: goods have come that were not kept cold. `is_quarantined`: goods are accepted and set apart.
    """

    number: int
    line: DeliveryLine
    count: Count
    asked: Mapping[str, Any]
    lot_number: str
    expiry_date: date | None
    differs: bool
    serials: Sequence[str] = ()
    is_quarantined: bool = False
    stock: list[dict[str, Any]] = field(default_factory=list)
    is_spoiled: bool = False


def base_of(quantity: int | None, unit: str, units_per_pack: int) -> int:
    """Return a quantity in base units."""
    return (quantity or 0) * (units_per_pack if unit == Unit.PACK else 1)


def count_of(asked: Mapping[str, Any], units_per_pack: int) -> Count:
    """Return what a line of a body says, in base units."""
    names = ("accepted_quantity", "rejected_quantity", "short_quantity")
    return Count(*(base_of(asked[name], asked["unit"], units_per_pack) for name in names))


def judge(target: Receivable, data: Mapping[str, Any]) -> list[Judged]:
    """Return the lines of a receipt.

    :raises InvalidFields: a line is unknown or named twice, serial numbers are missing, or nobody says whether the cold
        chain has held.
    """
    known = {one.id: one for one in target.lines}
    errors, found, seen = list[FieldError](), list[Judged](), set[UUID]()
    for number, asked in enumerate(data["lines"]):
        key = asked["delivery_line_id"]
        if key not in known:
            message = "The delivery has no such line."
            errors.append(FieldError(f"lines.{number}.delivery_line_id", "unknown_line", message))
        elif key in seen:
            message = "Another line of the receipt names it."
            errors.append(FieldError(f"lines.{number}.delivery_line_id", "duplicate", message))
        else:
            found.append(_judged(target, number, asked, known[key]))
            found[-1].is_spoiled = data["temperature_ok"] is False and _came_cold(found[-1])
        seen.add(key)
    if data["temperature_ok"] is None and any(one.line.cold_chain for one in found):
        message = "Say whether the goods have stayed cold."
        errors.append(FieldError("temperature_ok", "required", message))
    if errors := errors + [error for one in found for error in _miscounted(target, one)]:
        raise InvalidFields(errors=errors)
    return found


def _judged(target: Receivable, number: int, asked: Mapping[str, Any], line: DeliveryLine) -> Judged:
    count = count_of(asked, line.units_per_pack)
    lot, expiry = asked["lot_number"] or line.lot_number, asked["expiry_date"] or line.expiry_date
    differs = lot != line.lot_number or expiry != line.expiry_date
    serials = asked["serial_numbers"] or _all_of(target.serials.get(line.id, ()), count.accepted)
    return Judged(number, line, count, asked, lot, expiry, differs, serials)


def _came_cold(one: Judged) -> bool:
    """Tell whether goods have come that must stay cold, whatever became of them."""
    return one.line.cold_chain and one.count.accepted + one.count.rejected > 0


def _all_of(shipped: Sequence[SerialShipped], accepted: int) -> list[str]:
    """Return the units of a line that nobody has received, where so many are accepted that it must be all of them."""
    left = [one.serial_number for one in shipped if not one.is_received]
    return left if accepted and accepted == len(left) else []


def check_scanned(lines: Sequence[Judged], packed: Collection[tuple[UUID, str]]) -> None:
    """Require that what was scanned is what was shipped; `packed` are products with GTINs of theirs.

    :raises InvalidFields: a GTIN is of another product; names each line.
    """
    if errors := [
        foreign_scan(one.number)
        for one in lines
        if (gtin := one.asked.get("gtin")) and gtin != one.line.gtin and (one.line.product_id, gtin) not in packed
    ]:
        raise InvalidFields(errors=errors)


def foreign_scan(number: int) -> FieldError:
    """Return the error of a line whose scan is of another product."""
    return FieldError(f"lines.{number}.scan", "invalid_scan", "The GTIN is none of the product.")


def _miscounted(target: Receivable, one: Judged) -> Iterator[FieldError]:
    """Yield what is wrong with the number of serial numbers of a line."""
    if one.serials and not one.line.serials_total:
        message = "The goods were shipped without serial numbers."
        yield FieldError(f"lines.{one.number}.serial_numbers", "invalid", message)
    elif len(one.serials) != one.count.accepted and one.line.serials_total:
        code, message = "count_mismatch", f"{one.count.accepted} units have as many serial numbers."
        if not one.asked["serial_numbers"]:
            code, message = "required", "Name the units that are accepted by their serial numbers."
        yield FieldError(f"lines.{one.number}.serial_numbers", code, message)


def refuse(target: Receivable, lines: Sequence[Judged], *, confirmed: bool) -> None:
    """Refuse what differs and was not confirmed, what is too much, and units that were not shipped.

    :raises LotMismatch, OverReceipt, WrongSerial: name each line.
    """
    if not confirmed and (errors := [_different(one) for one in lines if one.differs]):
        raise LotMismatch(errors=errors)
    too_much = [one for one in lines if not admits(one.line, one.count, target.tolerance_bp)]
    if errors := [_too_much(one, target.tolerance_bp) for one in too_much]:
        raise OverReceipt(errors=errors)
    if errors := [error for one in lines for error in _foreign(target, one)]:
        raise WrongSerial(errors=errors)


def _different(one: Judged) -> FieldError:
    lot, expiry = one.line.lot_number or "no lot", one.line.expiry_date or "no expiry date"
    return FieldError(f"lines.{one.number}", LotMismatch.code, f"Shipped was {lot} with {expiry}.")


def _too_much(one: Judged, tolerance_bp: int) -> FieldError:
    left = max(most(one.line.base_quantity, tolerance_bp) - dealt_with(one.line), 0)
    return FieldError(f"lines.{one.number}", OverReceipt.code, f"{left} base units are left to receive.")


def _foreign(target: Receivable, one: Judged) -> Iterator[FieldError]:
    """Yield the units of a line that were not shipped with it, or are received already."""
    there = {unit.serial_number for unit in target.serials.get(one.line.id, ()) if not unit.is_received}
    for number in one.serials:
        if number not in there:
            message = f"{number} was not shipped with this line, or is received already."
            yield FieldError(f"lines.{one.number}.serial_numbers", WrongSerial.code, message)
