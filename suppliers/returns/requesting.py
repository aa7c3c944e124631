"""A buyer asks to send goods back. Source: contract, supply-invoice.md 4.

What is on a return counts in the line of the delivery from the request on, so that no two returns have the same goods.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, ReadBack, run
from organizations.public import write_documents
from suppliers.company.settings import settings_call, settings_of
from suppliers.deliveries.models import DELIVERIES, DeliveryLine
from suppliers.deliveries.receiving.judging import base_of
from suppliers.files.handing_over import binding_calls, received_calls
from suppliers.files.states import ResourceType
from suppliers.inventory.refusals import WrongSerial
from suppliers.orders.numbers import claim_calls, number_of
from suppliers.orders.sending import BOTH
from suppliers.orders.states import DocumentKind

from .counting import claim
from .course import AUTHORIZED, NONE, Who, require
from .delivered import Bought, bought
from .models import RETURNS, Return, ReturnLine
from .refusals import ReturnExceedsReceived, ReturnWindowClosed
from .states import ReturnType
from .telling import BUYER, told


class Asked(NamedTuple):
    """One line of a request: its place in the body, the line of the delivery, and what goes back, in base units."""

    number: int
    line: DeliveryLine
    quantity: int
    lot_number: str
    serials: Sequence[str]
    given: Mapping[str, Any]


@needs_transaction
def _check_order(found: Bought, order_id: UUID | None) -> None:
    if order_id not in (None, found.order.id):
        message = "The delivery is of another order."
        raise InvalidFields(errors=[FieldError("purchase_order_id", "unknown_order", message)])


def _handed_calls(actor: Actor, found: Bought, at: datetime) -> list[Call]:
    """Return the statements that hand the files of a return over to its supplier, unless nobody reads there."""
    if found.is_managed:
        return []
    handed = [one.as_received() for one in found.files.values()]
    return [*received_calls(found.row.supplier_tenant_id, actor.tenant_id, handed, at, bound_id=actor.tenant_id)]


def request_return(actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None) -> Return:
    """Request a return of goods of one delivery; a recall, and what goes to a managed supplier, is authorized at once.

    :raises InvalidFields: the delivery, a line, a lot or a file is unknown, or units are missing.
    :raises ReturnExceedsReceived, ReturnWindowClosed, WrongSerial: name each line.
    :raises PartyClosed: the supplier's tenant is closed.
    """
    named = {"file_ids": data["file_ids"]}
    found = bought(actor, data["delivery_id"], named)
    _check_order(found, data["purchase_order_id"])
    asked = _asked(found, data["lines"])
    key, supplier = uuid7(), found.row.supplier_tenant_id
    _, settings, _, *claimed = run(
        [
            bind_call(supplier), settings_call(supplier, actor.tenant_id), bind_call(actor.tenant_id),
            *claim_calls(actor.tenant_id, DocumentKind.RETURN, key),
        ]
    )  # fmt: skip
    _refuse(found, asked)
    if data["type"] != ReturnType.RECALL and not found.is_managed:
        _refuse_late(found, asked, settings_of(settings)["return_window_days"], at)
    step = require(NONE, "request", Who.BUYER)
    row = _row(found, data, number_of(claimed[-1]), key, at)
    lines = [_line(row, number, one) for number, one in enumerate(asked, 1)]
    is_authorized = data["type"] == ReturnType.RECALL or found.is_managed
    if is_authorized:
        row.become(AUTHORIZED)
        row.decided_at = at
    claim(lines, found.lines)
    calls = [
        *_counted_calls(found, asked, at), rows.insert(row), _lines_call(lines),
        *binding_calls(actor.tenant_id, named, ResourceType.RETURN.value, row.id, at), *_handed_calls(actor, found, at),
    ]  # fmt: skip
    names = step.told if is_authorized else step.told[:1]
    facts = told(row, names, lines, was=None, by=BUYER, heard=not found.is_managed)
    touched = [(RETURNS, row.id), (DELIVERIES, found.row.id)]
    write_documents(actor, actor.tenant_id, touched, calls, told=facts, at=at, reading=reading)
    return row


def _counted_calls(found: Bought, asked: Sequence[Asked], at: datetime) -> list[Call]:
    """Return the statements that save what the lines of the delivery count."""
    changed = [one.line for one in asked]
    return [save_call(found.row, at=at, versions=BOTH), save_all_call(changed, "returned", at=at)]


def _asked(found: Bought, lines: Sequence[Mapping[str, Any]]) -> list[Asked]:
    """Return the lines of a request.

    :raises InvalidFields: a line or its lot is unknown, it is named twice, or its units are missing.
    """
    errors, asked, seen = list[FieldError](), list[Asked](), set[UUID]()
    for number, given in enumerate(lines):
        key = given["delivery_line_id"]
        line = found.lines.get(key)
        if line is None:
            message = "The delivery has no such line."
            errors.append(FieldError(f"lines.{number}.delivery_line_id", "unknown_line", message))
        elif key in seen:
            message = "Another line of the return names it."
            errors.append(FieldError(f"lines.{number}.delivery_line_id", "duplicate", message))
        else:
            asked.append(_of_line(found, number, line, given))
            errors += _faults(found, asked[-1])
        seen.add(key)
    if errors:
        raise InvalidFields(errors=errors)
    return asked


def _of_line(found: Bought, number: int, line: DeliveryLine, given: Mapping[str, Any]) -> Asked:
    quantity = base_of(given["quantity"], given["unit"], line.units_per_pack)
    lots = [one.lot_number for one in found.accepted.get(line.id, ())]
    lot = given["lot_number"] or (lots[-1] if lots else line.lot_number)
    serials = given["serial_numbers"] or _all_left(found, line, quantity)
    return Asked(number, line, quantity, lot, serials, given)


def units_left(found: Bought, line: DeliveryLine) -> list[str]:
    """Return the units of a line that were accepted and are on no return."""
    held = found.claimed.get(line.id, frozenset())
    return [number for one in found.accepted.get(line.id, ()) for number in one.serial_numbers if number not in held]


def _all_left(found: Bought, line: DeliveryLine, quantity: int) -> list[str]:
    left = units_left(found, line)
    return left if quantity == len(left) else []


def _faults(found: Bought, one: Asked) -> Iterator[FieldError]:
    """Yield what is wrong with the lot, the label and the number of units of a line."""
    name, line = f"lines.{one.number}", one.line
    lots = {it.lot_number for it in found.accepted.get(line.id, ())} | {line.lot_number}
    if one.lot_number not in lots:
        yield FieldError(f"{name}.lot_number", "unknown_lot", "The line has brought no such lot.")
    gtin = one.given.get("gtin")
    if gtin and line.gtin and gtin.zfill(14) != line.gtin.zfill(14):
        yield FieldError(f"{name}.scan", "invalid_scan", "The label is of other goods.")
    if (line.serials_total or one.serials) and len(one.serials) != one.quantity:
        code, message = "count_mismatch", f"{one.quantity} units have as many serial numbers."
        if not one.given["serial_numbers"]:
            code, message = "required", "Name the units that go back by their serial numbers."
        yield FieldError(f"{name}.serial_numbers", code, message)


def _refuse(found: Bought, asked: Sequence[Asked]) -> None:
    """Refuse what was not received, or is on a return already.

    :raises ReturnExceedsReceived, WrongSerial: name each line.
    """
    left = {one.number: one.line.accepted - one.line.returned for one in asked}
    if errors := [
        FieldError(
            f"lines.{one.number}", ReturnExceedsReceived.code, f"{left[one.number]} base units are left to return."
        )
        for one in asked
        if one.quantity > left[one.number]
    ]:
        raise ReturnExceedsReceived(errors=errors)
    if errors := [
        FieldError(
            f"lines.{one.number}.serial_numbers", WrongSerial.code, f"{number} was not received, or is on a return."
        )
        for one in asked
        for number in one.serials
        if number not in units_left(found, one.line)
    ]:
        raise WrongSerial(errors=errors)


def _refuse_late(found: Bought, asked: Sequence[Asked], days: int, at: datetime) -> None:
    """Refuse goods whose last receipt is longer ago than the supplier takes them back.

    :raises ReturnWindowClosed: names each line.
    """
    errors = []
    for one in asked:
        last = found.accepted[one.line.id][-1].received_at
        if at > last + timedelta(days=days):
            message = f"Goods are taken back for {days} days after their receipt."
            errors.append(FieldError(f"lines.{one.number}", ReturnWindowClosed.code, message))
    if errors:
        raise ReturnWindowClosed(errors=errors)


def _row(found: Bought, data: Mapping[str, Any], number: str, key: UUID, at: datetime) -> Return:
    row = found.row
    return Return(
        id=key, tenant_id=row.tenant_id, number=number, supplier_tenant_id=row.supplier_tenant_id, order_id=row.order_id,
        delivery_id=row.id, po_number=row.po_number, order_number=row.order_number, delivery_number=row.number,
        delivery_location_id=row.delivery_location_id, type=data["type"], resolution=data["resolution"],
        currency=found.order.currency, note=data["note"] or "", file_ids=[str(one) for one in data["file_ids"]],
        requested_at=at, lines_total=len(data["lines"]), created_at=at, updated_at=at,
    )  # fmt: skip


def _line(row: Return, number: int, one: Asked) -> ReturnLine:
    line = one.line
    return ReturnLine(
        id=uuid7(), tenant_id=row.tenant_id, created_at=row.created_at, updated_at=row.created_at, document_id=row.id,
        line_no=number, delivery_line_id=line.id, order_line_id=line.order_line_id, product_id=line.product_id,
        name=line.name, supplier_sku=line.supplier_sku, gtin=line.gtin, category=line.category, packaging=line.packaging,
        base_unit=line.base_unit, units_per_pack=line.units_per_pack, unit=one.given["unit"], base_quantity=one.quantity,
        lot_id=line.lot_id if one.lot_number == line.lot_number else None, lot_number=one.lot_number,
        expiry_date=line.expiry_date if one.lot_number == line.lot_number else None, cold_chain=line.cold_chain,
        serial_numbers=[*one.serials], reason_code=one.given["reason_code"], condition=one.given["condition"],
    )  # fmt: skip


def _lines_call(lines: Sequence[ReturnLine]) -> Call:
    names = [one.attname for one in ReturnLine._meta.concrete_fields]
    return rows.insert_all(ReturnLine, [{name: getattr(one, name) for name in names} for one in lines])
