"""Receipts of orders to suppliers that are not on the platform: delivery and receipt are made at once.

Such a supplier has no products, so nothing comes to the buyer's stock. Source: contract, supply-order.md 4.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, InvalidTransition, NotFound
from core.ids import uuid7
from core.model_rows import lock_call, row_of, rows_of
from core.pipeline import Call, ReadBack, Rows, Statement, run
from core.targets import Located
from organizations.public import CounterpartyOnly, policies_call, policies_of
from suppliers.deliveries.filing import filing_calls, named_by_lines
from suppliers.deliveries.models import Delivery, DeliveryLine
from suppliers.deliveries.receipt_models import Receipt
from suppliers.deliveries.tally import most
from suppliers.files.handing_over import check_files, files_calls
from suppliers.inventory.movements.delivered import Landing, landings_call
from suppliers.orders.course import ACCEPTED, Who, allowed
from suppliers.orders.finding import WITHIN, lines_call
from suppliers.orders.models import ORDERS, PurchaseOrder, PurchaseOrderLine
from suppliers.orders.numbers import claim_calls, number_of
from suppliers.orders.progress import delivered, tolerated
from suppliers.orders.states import DocumentKind

from .finding import Receivable
from .judging import Judged, count_of, foreign_scan
from .recording import Recorded, record, refuse_future
from .refusals import OverReceipt

_BUYERS: Final = (Who.BUYER, Who.APPROVER)
_MANAGED = Statement.of(
    "SELECT n.managed_by_id IS NOT NULL FROM organizations_tenant n WHERE n.id ="
    " (SELECT o.supplier_tenant_id FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id = $2)"
)


@dataclass(frozen=True, slots=True, eq=False)
class ManagedOrder:
    """An order of the caller's tenant to a managed supplier, locked, with its lines."""

    row: PurchaseOrder
    lines: Sequence[PurchaseOrderLine]
    tolerance_bp: int

    @property
    def version(self) -> int:
        """The version that the caller's ETag of the order shows."""
        return int(self.row.version)


@dataclass(frozen=True, slots=True, eq=False)
class OwnManagedOrder(Located):
    """The `find` of a receipt without a delivery."""

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the order's owner in the trip of the proof."""
        return Call(ORDERS.located, [str(path[0]), str(tenant_id)])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> ManagedOrder:
        """Lock the order and read its lines.

        :raises NotFound: the tenant has no such order in the actor's reach.
        :raises CounterpartyOnly: it is the supplier of the order, or its supplier is on the platform and ships it.
        """
        if not len(located):
            raise NotFound(f"No such {ORDERS.name}.")
        if UUID((located.value() or b"").decode()) != actor.tenant_id:
            raise CounterpartyOnly
        found, lines, managed, policies = run(
            [
                lock_call(PurchaseOrder, actor.tenant_id, path[0]),
                lines_call(actor.tenant_id, path[0]),
                Call(_MANAGED, [str(actor.tenant_id), str(path[0])]),
                policies_call(actor.tenant_id),
            ]
        )
        row = row_of(PurchaseOrder, found)
        if row is None or not WITHIN.holds(actor, row.delivery_location_id):
            raise NotFound(f"No such {ORDERS.name}.")
        if managed.value() != b"t":
            raise CounterpartyOnly("The supplier ships this order: receive its deliveries.")
        return ManagedOrder(row, rows_of(PurchaseOrderLine, lines), policies_of(policies)["over_receipt_tolerance_bp"])


@needs_transaction
def receive_managed(
    actor: Actor, target: ManagedOrder, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Receipt:
    """Record what has come of an order to a managed supplier.

    :raises InvalidFields: a line, the place or a file is unknown, or serial numbers do not match.
    :raises InvalidTransition: the order is not accepted.
    :raises OverReceipt: more has come than is open; names each line.
    """
    refuse_future(data["received_at"], at)
    delivery_id, own = uuid7(), actor.tenant_id
    named = named_by_lines(data["lines"])
    asked = files_calls(own, named)
    landings, *found = run(
        [
            landings_call(actor, [data["location_id"]], data["location_id"]),
            *asked,
            *claim_calls(own, DocumentKind.DELIVERY, delivery_id),
        ]
    )
    _check(target, data, landings)
    check_files(named, found[: len(asked)])
    row = target.row
    if row.place != ACCEPTED:
        raise InvalidTransition(state=row.status, action="receipts", allowed=allowed(row.place, *_BUYERS))
    delivery = _delivery(target, data, delivery_id, number_of(found[-1]), at)
    lines = _judged(target, data, delivery, at)
    names = [one.attname for one in DeliveryLine._meta.concrete_fields]
    made = [{name: getattr(one.line, name) for name in names} for one in lines]
    filed = filing_calls(own, named, delivery_id, at)
    calls = [rows.insert(delivery), rows.insert_all(DeliveryLine, made), *filed]
    receivable = Receivable(
        actor, delivery, [one.line for one in lines], row, {one.id: one for one in target.lines}, True, target.tolerance_bp
    )  # fmt: skip
    receipt = Receipt(
        id=uuid7(), tenant_id=own, delivery_id=delivery_id, supplier_tenant_id=row.supplier_tenant_id,
        received_at=data["received_at"], location_id=data["location_id"], temperature_ok=data["temperature_ok"],
        received_by_id=actor.subject_id, created_at=at, updated_at=at,
    )  # fmt: skip
    return record(actor, receivable, Recorded(receipt, lines, calls=calls), at, reading)


def _check(target: ManagedOrder, data: Mapping[str, Any], landings: Rows) -> None:
    """Require a place and lines that are there.

    :raises InvalidFields: as `receive_managed`.
    """
    known, errors = {one.id for one in target.lines}, list[FieldError]()
    if not any(one.is_named for one in landings.of(Landing)):
        errors.append(FieldError("location_id", "unknown_location", "There is no such location."))
    units = {one.id: one.units_per_pack for one in target.lines}
    gtins = {one.id: one.gtin for one in target.lines}
    for number, one in enumerate(data["lines"]):
        if one["order_line_id"] not in known:
            message = "The order has no such line."
            errors.append(FieldError(f"lines.{number}.order_line_id", "unknown_line", message))
        elif (
            one["serial_numbers"] and len(one["serial_numbers"]) != count_of(one, units[one["order_line_id"]]).accepted
        ):
            message = "Accepted units have as many serial numbers."
            errors.append(FieldError(f"lines.{number}.serial_numbers", "count_mismatch", message))
        elif one.get("gtin") and gtins[one["order_line_id"]] not in ("", one["gtin"]):
            errors.append(foreign_scan(number))
    if errors:
        raise InvalidFields(errors=errors)


def _delivery(target: ManagedOrder, data: Mapping[str, Any], key: UUID, number: str, at: datetime) -> Delivery:
    row = target.row
    return Delivery(
        id=key, tenant_id=row.tenant_id, number=number, supplier_tenant_id=row.supplier_tenant_id, order_id=row.id,
        po_number=row.number, order_number=row.order_number, delivery_location_id=row.delivery_location_id,
        delivery_address=row.delivery_address, shipped_at=data["received_at"], lines_total=len(data["lines"]),
        created_at=at, updated_at=at,
    )  # fmt: skip


def _judged(target: ManagedOrder, data: Mapping[str, Any], delivery: Delivery, at: datetime) -> list[Judged]:
    """Make the lines of the delivery of what was received, and count them as shipped.

    :raises OverReceipt: names each line.
    """
    ordered = {one.id: one for one in target.lines}
    sent: dict[UUID, int] = defaultdict(int)  # by this receipt, without what is open again
    found, errors = list[Judged](), list[FieldError]()
    for number, asked in enumerate(data["lines"]):
        of = ordered[asked["order_line_id"]]
        count = count_of(asked, of.units_per_pack)
        due = of.accepted + tolerated(of) - delivered(of) - sent[of.id]
        if due <= 0 or count.total > most(due, target.tolerance_bp):
            left = max(due, 0)
            errors.append(FieldError(f"lines.{number}", OverReceipt.code, f"{left} base units are left to receive."))
            continue
        shipped = min(count.total, due)
        sent[of.id] += shipped - max(count.rejected + count.short - (count.total - shipped), 0)
        line = _line(delivery, of, number + 1, shipped, asked, at)
        found.append(
            Judged(number, line, count, asked, line.lot_number, line.expiry_date, False, asked["serial_numbers"])
        )
    if errors:
        raise OverReceipt(errors=errors)
    for one in found:
        ordered[one.line.order_line_id].shipped += one.line.base_quantity
    return found


def _line(
    delivery: Delivery, of: PurchaseOrderLine, number: int, shipped: int, asked: Mapping[str, Any], at: datetime
) -> DeliveryLine:
    return DeliveryLine(
        id=uuid7(), tenant_id=delivery.tenant_id, delivery_id=delivery.id, line_no=number, order_line_id=of.id,
        product_id=of.product_id, packaging_id=of.packaging_id, name=of.name, supplier_sku=of.supplier_sku, gtin=of.gtin,
        category=of.category, packaging=of.packaging, base_unit=of.base_unit, units_per_pack=of.units_per_pack,
        unit=asked["unit"], base_quantity=shipped, lot_number=asked["lot_number"] or "", expiry_date=asked["expiry_date"],
        created_at=at, updated_at=at,
    )  # fmt: skip
