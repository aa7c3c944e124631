"""Drawing an invoice up in memory, of a body and the order that it is for. Source: contract, supply-invoice.md 2."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from core.errors import FieldError, InvalidFields, InvalidTransition
from core.ids import uuid7
from core.pipeline import Call, Rows, Statement
from suppliers.inventory.states import Unit
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.states import OrderStatus

from .amounts import MOST, check_places, check_stated, in_places, line_net, totals
from .billed import Billed
from .matching import is_by_order, price_variance
from .models import Invoice, InvoiceLine
from .refusals import OverInvoiced
from .states import InvoiceType

_ENDED: Final = (OrderStatus.REJECTED.value, OrderStatus.CANCELLED.value)
_MOST_PRICE: Final = Decimal(10) ** 13  # what unit prices stay below
_DELIVERED = Statement.of(
    "SELECT d.id::text, l.id::text, l.order_line_id::text FROM suppliers_delivery d JOIN suppliers_deliveryline l"
    " ON l.tenant_id = d.tenant_id AND l.delivery_id = d.id AND l.tenant_id = $1 WHERE d.tenant_id = $1 AND d.order_id = $2"
)

_RETURN = Statement.of(
    "SELECT r.id::text FROM suppliers_return r WHERE r.tenant_id = $1 AND r.order_id = $2 AND r.id = $3"
    " AND r.status NOT IN ('declined', 'cancelled')"
)


def delivered_call(order: PurchaseOrder) -> Call:
    """Return the statement that reads the lines of all deliveries of an order, bound to its buyer; `check_delivered` reads it."""
    return Call(_DELIVERED, [str(order.tenant_id), str(order.pk)])


def return_call(order: PurchaseOrder, key: UUID) -> Call:
    """Return the statement that looks for a return of an order, bound to its buyer; `require_return` reads it."""
    return Call(_RETURN, [str(order.tenant_id), str(order.pk), str(key)])


def check_delivered(data: Mapping[str, Any], found: Rows) -> list[str]:
    """Require that the deliveries which a body names are the order's; return their ids, those of its lines included.

    :raises InvalidFields: names each that is not.
    """
    rows = [[(found.value(n, place) or b"").decode() for place in range(3)] for n in range(len(found))]
    lines, deliveries, errors = {one[1]: one for one in rows}, {one[0] for one in rows}, list[FieldError]()
    named = [str(one) for one in data["delivery_ids"]]
    for number, key in enumerate(named):
        if key not in deliveries:
            errors.append(FieldError(f"delivery_ids.{number}", "unknown_delivery", "The order has no such delivery."))
    for number, one in enumerate(data["lines"]):
        if one["delivery_line_id"] is None:
            continue
        line = lines.get(str(one["delivery_line_id"]))
        if line is None or line[2] != str(one["order_line_id"]):
            message = "The order's line has no such line of a delivery."
            errors.append(FieldError(f"lines.{number}.delivery_line_id", "unknown_line", message))
        else:
            named.append(line[0])
    if errors:
        raise InvalidFields(errors=errors)
    return [*dict.fromkeys(named)]


def require_return(found: Rows) -> None:
    """Require that the order has the return which a credit note names.

    :raises InvalidFields: it has not.
    """
    if not len(found):
        message = "The order has no such return."
        raise InvalidFields(errors=[FieldError("return_id", "unknown_return", message)])


def require_billable(order: PurchaseOrder) -> None:
    """Require that an order was accepted, and was not ended before anything was shipped.

    :raises InvalidTransition: it was not.
    """
    if order.accepted_at is None or order.status in _ENDED:
        raise InvalidTransition(state=str(order.status), action="invoices", allowed=[])


def check_amounts(data: Mapping[str, Any], currency: str) -> None:
    """Require amounts that the currency has.

    :raises InvalidFields: one has more decimals than the currency; names each.
    """
    errors = [
        error
        for number, one in enumerate(data["lines"])
        for error in check_places(one["allowance"], currency, f"lines.{number}.allowance")
    ]
    for name in ("charges", "allowances"):
        for number, one in enumerate(data[name]):
            errors += check_places(Decimal(one["amount"]), currency, f"{name}.{number}.amount")
    if errors:
        raise InvalidFields(errors=errors)


def draw_up(  # noqa: PLR0913  # what it says, and what was found of it
    billed: Billed,
    data: Mapping[str, Any],
    key: UUID,
    at: datetime,
    *,
    services: Collection[UUID] = (),
    deliveries: Sequence[str] = (),
    recorded_by: UUID | None = None,
    return_id: UUID | None = None,
) -> tuple[Invoice, list[InvoiceLine]]:
    """Return a new document with its lines; nothing is counted yet. Totals of credit notes are taken once they are placed.

    :raises InvalidFields: a line, an amount or a total is wrong.
    """
    order = billed.order
    check_amounts(data, order.currency)
    lines = _lines(billed, data, key, services, at)
    invoice = Invoice(
        id=key, tenant_id=order.tenant_id, number=data["invoice_number"], supplier_tenant_id=order.supplier_tenant_id,
        type=data["type"], order_id=order.pk, po_number=order.number, order_number=order.order_number,
        delivery_location_id=order.delivery_location_id, delivery_ids=[*deliveries], issue_date=data["issue_date"],
        due_date=_due(order, data), currency=order.currency, charges=_entries(data["charges"], order.currency),
        allowances=_entries(data["allowances"], order.currency),
        discount=_discount(order, data), original_id=data["original_invoice_id"], return_id=return_id,
        file_ids=[str(one) for one in data["file_ids"]], stated_totals=_stated(data), lines_total=len(lines), issued_at=at,
        recorded_by_id=recorded_by, created_at=at, updated_at=at,
    )  # fmt: skip
    if not invoice.is_credit_note:
        take_totals(invoice, lines, data)
    return invoice, lines


def take_totals(invoice: Invoice, lines: Sequence[InvoiceLine], data: Mapping[str, Any]) -> None:
    """Let a document have the totals of its lines.

    :raises InvalidFields: they are below nothing or too great, or differ from what the body states.
    """
    made = totals(lines, data["charges"], data["allowances"], invoice.currency)
    check_stated(data["stated_totals"], made)
    invoice.net_total, invoice.tax_total, invoice.gross_total, invoice.taxes = made


def _stated(data: Mapping[str, Any]) -> dict[str, str | None] | None:
    stated = data["stated_totals"]
    return None if stated is None else {name: None if one is None else f"{one:f}" for name, one in stated.items()}


def _entries(given: Sequence[Mapping[str, Any]], currency: str) -> list[dict[str, Any]]:
    return [{**one, "amount": f"{in_places(one['amount'], currency):f}"} for one in given]


def _is_note(data: Mapping[str, Any]) -> bool:
    return str(data["type"]) == InvoiceType.CREDIT_NOTE.value


def _due(order: PurchaseOrder, data: Mapping[str, Any]) -> date | None:
    """Return when an invoice is due: as it says, else by the order's payment terms; a credit note never."""
    terms = order.payment_terms or {}
    if _is_note(data) or data["due_date"] is not None or "net_days" not in terms:
        found: date | None = data["due_date"]
        return found
    try:
        due: date = data["issue_date"] + timedelta(days=int(terms["net_days"]))
    except OverflowError:
        return None
    return due


def _discount(order: PurchaseOrder, data: Mapping[str, Any]) -> dict[str, Any] | None:
    terms = order.payment_terms or {}
    if data["discount"] is not None or _is_note(data) or terms.get("discount_percent") is None:
        return None if data["discount"] is None else dict(data["discount"])
    return {"percent": terms["discount_percent"], "days": terms["discount_days"]}


def _lines(
    billed: Billed, data: Mapping[str, Any], key: UUID, services: Collection[UUID], at: datetime
) -> list[InvoiceLine]:
    """Return the lines of a document.

    :raises InvalidFields: the order has no such line, or an amount is below nothing or too great; names each.
    """
    lines, errors = list[InvoiceLine](), list[FieldError]()
    for number, asked in enumerate(data["lines"]):
        of = billed.lines.get(asked["order_line_id"])
        if of is None:
            message = "The order has no such line."
            errors.append(FieldError(f"lines.{number}.order_line_id", "unknown_line", message))
            continue
        line = _line(billed.order, of, asked, key, number + 1, at)
        line.is_service = of.product_id in services
        if line.net < 0:
            errors.append(FieldError(f"lines.{number}.allowance", "max_value", "Is more than the line's net."))
        elif line.net >= MOST:
            errors.append(FieldError(f"lines.{number}.unit_price", "max_value", "The amount is too great."))
        elif abs(price_variance(line, of)) >= _MOST_PRICE:
            message = "The ordered price of so many packs is too great."
            errors.append(FieldError(f"lines.{number}.price_base_quantity", "max_value", message))
        lines.append(line)
    if errors:
        raise InvalidFields(errors=errors)
    return lines


def _line(
    order: PurchaseOrder, of: PurchaseOrderLine, asked: Mapping[str, Any], key: UUID, number: int, at: datetime
) -> InvoiceLine:
    units = asked["quantity"] * (of.units_per_pack if asked["unit"] == Unit.PACK else 1)
    line = InvoiceLine(
        id=uuid7(), tenant_id=order.tenant_id, invoice_id=key, line_no=number, order_line_id=of.pk, order_line_no=of.line_no,
        delivery_line_id=asked["delivery_line_id"], product_id=of.product_id, packaging_id=of.packaging_id, name=of.name,
        supplier_sku=of.supplier_sku, gtin=of.gtin, category=of.category, base_unit=of.base_unit,
        units_per_pack=of.units_per_pack, unit=asked["unit"], base_quantity=units, currency=order.currency,
        unit_price=asked["unit_price"], price_base_quantity=asked["price_base_quantity"],
        allowance=in_places(asked["allowance"], order.currency),
        tax_category=asked["tax_category"] or of.tax_category,
        tax_rate=of.tax_rate if asked["tax_rate"] is None else asked["tax_rate"], created_at=at, updated_at=at,
    )  # fmt: skip
    line.net = line_net(line, order.currency)
    return line


def check_not_over(billed: Billed, invoice: Invoice, lines: Sequence[InvoiceLine]) -> None:
    """Require that with a new invoice no more is billed than was shipped, or of services and prepayments than is ordered.

    :raises OverInvoiced: names each line.
    """
    asked: dict[UUID, int] = {}
    errors = list[FieldError]()
    for number, line in enumerate(lines):
        of = billed.lines[line.order_line_id]
        most = of.ordered - of.cancelled if is_by_order(invoice, line) else of.shipped
        before = of.invoiced + asked.get(of.pk, 0)
        asked[of.pk] = asked.get(of.pk, 0) + line.base_quantity
        if before + line.base_quantity > most:
            left = max(0, most - before)
            message = f"{left} base units are left to invoice."
            errors.append(FieldError(f"lines.{number}", OverInvoiced.code, message, {"remaining": left}))
    if errors:
        raise OverInvoiced(errors=errors)
