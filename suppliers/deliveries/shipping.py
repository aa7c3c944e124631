"""A supplier makes a shipment of an accepted order: in preparation, or leaving at once. Source: contract, supply-order.md 3."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields, InvalidTransition
from core.ids import uuid7
from core.pipeline import Call, ReadBack, Statement, run
from organizations.public import SharedDocument
from suppliers.files.handing_over import Named, check_files, files_calls
from suppliers.orders.course import Who as OrderWho
from suppliers.orders.course import allowed, shown
from suppliers.orders.finding import lines_of
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.progress import Prepared, prepared_of
from suppliers.orders.states import OrderStatus

from .filing import MEMBER, Known, filing_calls, named_by, texts_of
from .finding import FROM
from .leaving import Leaving, leave
from .models import TEMPERATURE, Delivery, Transport
from .packing import check_packed
from .shipment_models import ShipmentDraft
from .stock import Goods, goods_call, goods_of, places_call, places_of
from .wanting import Want, check_goods, check_open, wants_of

_AHEAD: Final = timedelta(minutes=5)  # clocks differ
# By line, what is in preparation of an order $2 at its supplier $1, one shipment aside.
_PREPARED = Statement.of(
    "SELECT l.order_line_id AS line_id, sum(l.base_quantity)::bigint AS base_quantity FROM suppliers_shipmentdraft d"
    " CROSS JOIN LATERAL jsonb_to_recordset(d.lines) AS l (order_line_id uuid, base_quantity bigint)"
    " WHERE d.tenant_id = $1 AND d.order_id = $2 AND d.status = 'preparing' AND d.id IS DISTINCT FROM $3::uuid"
    " GROUP BY d.tenant_id, l.order_line_id",
    row=Prepared,
)


def prepared_call(supplier_id: UUID, order_id: UUID, but: UUID | None = None) -> Call:
    """Return the statement that reads what of an order is in preparation, bound to the supplier, one shipment aside."""
    return Call(_PREPARED, [str(supplier_id), str(order_id), str(but) if but else None])


def transport_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of what a body says of the way; what it does not name is left out."""
    found = {name: data[name] for name in Transport.TRANSPORT if name in data}
    if "temperature" in data:
        temperature = data["temperature"] or {}
        found |= {name: temperature.get(name) for name in TEMPERATURE}
    texts = ("carrier", "service", "tracking_number", "tracking_url", "logger_id")
    return {name: (value or "") if name in texts else value for name, value in found.items()}


def packages_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the packages of a body as they are kept."""
    return [
        {
            "sscc": one["sscc"], "parent_sscc": one["parent_sscc"] or None, "level": one["level"],
            "lines": [{"line_no": of["line_no"], "base_quantity": of["base_quantity"]} for of in one["lines"]],
        }
        for one in data["packages"]
    ]  # fmt: skip


@needs_transaction
def ship(
    actor: Actor, target: SharedDocument, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Delivery | ShipmentDraft:
    """Prepare a shipment, or with `dispatched_at` let it leave at once.

    :raises InvalidTransition: the order is not accepted.
    :raises InvalidFields: a line, its goods or the place are unknown, or do not fit.
    :raises OverShipment: more than is accepted would be shipped.
    :raises WrongSerial, LotConflict, LotNotShippable, InsufficientStock: as `leaving.leave`.
    """
    order: PurchaseOrder = target.row
    require_accepted(order)
    lines = lines_of(target.read[0])
    wants = wants_of(data["lines"], lines)
    named = named_by(data)
    goods, places, known = read_ground(actor, order, wants, data["from_location_id"], None, named)
    check_goods(wants, data["lines"], goods)
    packages = packages_of(data) if "packages" in data else []
    check_packed(packages, wants)
    notes = data.get("picking_notes") or ""
    if data["dispatched_at"] is None:
        draft = _draft(actor, order, wants, data, packages, at)
        _insert(draft, filing_calls(draft.tenant_id, named, draft.id, at), reading)
        return draft
    what = Leaving(
        order=order, order_lines=lines, wants=wants, goods=goods, places=places,
        from_location_id=data["from_location_id"], shipped_at=left_at(data["dispatched_at"], at),
        transport=transport_of(data), packages=packages, picking_notes=notes, files=named,
        known=known,
    )  # fmt: skip
    return leave(actor, what, at, reading)


def require_accepted(order: PurchaseOrder) -> None:
    """Require that goods of an order may be prepared or leave.

    :raises InvalidTransition: it is not accepted.
    """
    if order.status != OrderStatus.ACCEPTED:
        state = shown(order.place, OrderWho.SUPPLIER)
        raise InvalidTransition(state=state, action="shipments", allowed=allowed(order.place, OrderWho.SUPPLIER))


def left_at(said: datetime | None, at: datetime) -> datetime:
    """Return when a shipment has left: now, where nothing is said.

    :raises InvalidFields: it lies ahead.
    """
    if said is not None and said > at + _AHEAD:
        raise InvalidFields(errors=[FieldError("dispatched_at", "invalid", "Lies in the future.")])
    return min(said or at, at)


@needs_transaction
def read_ground(
    actor: Actor,
    order: PurchaseOrder,
    wants: Sequence[Want],
    location_id: UUID,
    draft_id: UUID | None,
    named: Named,
) -> tuple[dict[UUID, Goods], frozenset[UUID], Known]:
    """Read the goods of wants, the place they leave from and the files that are named, and hold the wants to what is open.

    The buyer stays bound.

    :raises InvalidFields: there is no such place in the membership's reach, or a file that is named cannot be handed over.
    :raises OverShipment: more than is accepted would be shipped.
    """
    own = order.supplier_tenant_id
    lines: list[PurchaseOrderLine] = [one.line for one in wants]
    _, found, places, prepared, *files, _ = run(
        [
            bind_call(own), goods_call(own, lines), places_call(own, location_id),
            prepared_call(own, order.id, draft_id), *files_calls(own, named), bind_call(order.tenant_id),
        ]
    )  # fmt: skip
    there = places_of(places)
    if not there or not FROM.holds(actor, location_id):
        raise InvalidFields(errors=[FieldError("from_location_id", "unknown_location", "There is no such location.")])
    known = check_files(named, files)
    check_open(wants, prepared_of([prepared]))
    return goods_of(found), there, known


def _draft(
    actor: Actor,
    order: PurchaseOrder,
    wants: Sequence[Want],
    data: Mapping[str, Any],
    packages: Sequence[Mapping[str, Any]],
    at: datetime,
) -> ShipmentDraft:
    return ShipmentDraft(
        id=uuid7(), tenant_id=actor.tenant_id, order_id=order.id, buyer_tenant_id=order.tenant_id,
        order_number=order.order_number, from_location_id=data["from_location_id"],
        picking_notes=data.get("picking_notes") or "", lines=[one.as_json() for one in wants], packages=[*packages],
        file_ids=texts_of(data.get(MEMBER) or ()), lines_total=len(wants), created_at=at, updated_at=at, **transport_of(data),
    )  # fmt: skip


@needs_transaction
def _insert(draft: ShipmentDraft, filed: Sequence[Call], reading: ReadBack | None) -> None:
    """Write a new draft and read the answer, bound to the supplier."""
    calls = [bind_call(draft.tenant_id), rows.insert(draft), *filed]
    found = run([*calls, *([reading.call(draft.id)] if reading else [])])
    if reading is not None:
        reading.rows = found[-1]
