"""A shipment leaves: stock goes, what the order holds of it is used up, and the delivery is made in the buyer's tenant.

Source: contract, supply-order.md 3; supply.md 3.1 and 7, step 4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.model_rows import delete_call
from core.pipeline import Call, ReadBack, Rows, run
from ledger.public import Occurrence
from organizations.public import Part, write_together
from suppliers.catalog import availability
from suppliers.files.handing_over import Named, ids_of
from suppliers.inventory.levels import changed
from suppliers.inventory.models import Reservation
from suppliers.inventory.movements.serials import ship_calls
from suppliers.inventory.movements.shelving import Shelves
from suppliers.inventory.reservations import changes
from suppliers.inventory.states import MovementType
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.numbers import claim_calls, number_of
from suppliers.orders.progress import fulfilment_of
from suppliers.orders.sending import order_part, saving_calls
from suppliers.orders.states import DocumentKind

from .consuming import consume
from .filing import Known, filing_calls, sharing_calls, texts_of
from .models import DELIVERIES, MOST_LINES, Delivery, DeliveryLine, DeliverySerial, Transport
from .packing import package_calls
from .picking import Pick, pick
from .shipment_models import ShipmentDraft, ShipmentPrivate
from .stock import Goods, Stock, products_of, stock_calls, stock_of
from .telling import SUPPLIER, Happened, told
from .wanting import Want, check_numbered, numbers_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """What leaves: the order with its lines, what is wanted of them, from where, and what is said of the way.

    `files` are those that it names, `known` what was read of them.
    """

    order: PurchaseOrder
    order_lines: Sequence[PurchaseOrderLine]
    wants: Sequence[Want]
    goods: Mapping[UUID, Goods]
    places: frozenset[UUID]
    from_location_id: UUID
    shipped_at: datetime
    transport: Mapping[str, Any] = field(default_factory=dict)
    packages: Sequence[Mapping[str, Any]] = ()
    picking_notes: str = ""
    draft: ShipmentDraft | None = None
    files: Named = field(default_factory=dict)
    known: Known = field(default_factory=dict)


@needs_transaction
def leave(actor: Actor, what: Leaving, at: datetime, reading: ReadBack | None = None) -> Delivery:
    """Let a shipment leave; what may leave of each line was checked before.

    :raises InvalidFields: a unit of a product with serial numbers has none; or the goods are of too many lots.
    :raises WrongSerial, LotConflict, LotNotShippable, InsufficientStock: as `picking.pick`.
    """
    check_numbered(what.wants, what.goods)
    order, own = what.order, what.order.supplier_tenant_id
    key = what.draft.id if what.draft else uuid7()
    same = {one.line.product_id for one in what.wants}
    concerned = [one for one in what.order_lines if one.product_id in same]
    numbered = claim_calls(order.tenant_id, DocumentKind.DELIVERY, key)
    stocked = stock_calls(own, concerned, numbers_of(what.wants), at)
    over = changes.lock_lapsed_call(own, products_of(concerned), at)
    _, *found = run([bind_call(own), *stocked, over, bind_call(order.tenant_id), *numbered])
    stock = stock_of(found[: len(stocked)], what.places)
    lapsed = _let_lapse(order, stock, found[len(stocked)])
    picks = pick(what.wants, stock, what.goods, order.min_remaining_shelf_life_days, at)
    row = _delivery(what, key, number_of(found[-1]), at)
    if len(picks) > MOST_LINES:
        message = f"The goods are of more than {MOST_LINES} lots: make several shipments."
        raise InvalidFields(errors=[FieldError("lines", "too_many", message)])
    lines = [_line(row, number, one, what.goods) for number, one in enumerate(picks, 1)]
    row.lines_total, row.cold_chain = len(lines), any(one.cold_chain for one in lines)
    at_buyer = order_part(order, _buyer_calls(what, row, picks, lines, at))
    at_supplier, facts, counts = _supplier_part(actor, what, stock, picks, row, lapsed, at)
    # The supplier first: the counters are those of the first owner.
    parts = [at_supplier, at_buyer._replace(touched=[(DELIVERIES, row.id), *at_buyer.touched])]
    happened = Happened(was=None, by=SUPPLIER)  # no buyer hears that it was in preparation
    both = told(row, ["delivery.shipped"], lines, {one.id: one for one in what.order_lines}, happened)
    write_together(
        actor, parts, row.id, told=changes.joined(both, facts), at=at, reading=reading,
        counts=counts,
    )  # fmt: skip
    return row


@needs_transaction
def _let_lapse(order: PurchaseOrder, stock: Stock, found: Rows) -> list[Reservation]:
    """Take off the levels what reservations hold whose time is over, and which `found` has locked; the buyer stays bound."""
    lapsed = changes.reservations_of(found)
    if lapsed:
        own = order.supplier_tenant_id
        held = changes.held_call(own, [one.id for one in lapsed])
        _, rows_held, _ = run([bind_call(own), held, bind_call(order.tenant_id)])
        changes.give_back(stock.levels, changes.held_of(rows_held), lapsed=True)
    return lapsed


def _delivery(what: Leaving, key: UUID, number: str, at: datetime) -> Delivery:
    order = what.order
    return Delivery(
        id=key, tenant_id=order.tenant_id, number=number, supplier_tenant_id=order.supplier_tenant_id, order_id=order.id,
        po_number=order.number, order_number=order.order_number, delivery_location_id=order.delivery_location_id,
        delivery_address=order.delivery_address, shipped_at=what.shipped_at, file_ids=texts_of(ids_of(what.files)), created_at=at,
        updated_at=at,
        **{name: value for name, value in what.transport.items() if name in Transport.TRANSPORT},
    )  # fmt: skip


def _line(row: Delivery, number: int, one: Pick, goods: Mapping[UUID, Goods]) -> DeliveryLine:
    line = one.want.line
    lot_id, lot_number, expiry_date = _lot_of(one)
    is_cold = line.product_id is not None and goods[line.product_id].is_cold
    return DeliveryLine(
        id=uuid7(), tenant_id=row.tenant_id, delivery_id=row.id, line_no=number, order_line_id=line.id,
        product_id=line.product_id, packaging_id=line.packaging_id, name=line.name, supplier_sku=line.supplier_sku,
        gtin=line.gtin, category=line.category, packaging=line.packaging, base_unit=line.base_unit,
        units_per_pack=line.units_per_pack, unit=one.want.unit, base_quantity=one.base_quantity,
        lot_id=lot_id, lot_number=lot_number, expiry_date=expiry_date, cold_chain=is_cold,
        serials_total=len(one.serials), created_at=row.created_at, updated_at=row.created_at,
    )  # fmt: skip


def _lot_of(one: Pick) -> tuple[UUID | None, str, date | None]:
    """Return the lot of what was picked, with its number and expiry; of goods in words it is what the supplier says."""
    if one.level is not None:
        row = one.level.row
        return row.lot_id, row.lot_number or "", date.fromisoformat(row.expiry_date) if row.expiry_date else None
    if one.want.line.product_id is None:
        return None, one.want.lot_number, one.want.expiry_date
    return None, "", None


def _buyer_calls(
    what: Leaving, row: Delivery, picks: Sequence[Pick], lines: Sequence[DeliveryLine], at: datetime
) -> list[Call]:
    """Return the statements that write the delivery and count it in the order, bound to the buyer."""
    order = what.order
    shipped = [one for one in what.order_lines if one.id in {want.line.id for want in what.wants}]
    for want in what.wants:
        want.line.shipped += want.base_quantity
    order.fulfilment_status = fulfilment_of(what.order_lines).value
    names = [one.attname for one in DeliveryLine._meta.concrete_fields]
    numbered = [(one.want.number, line) for one, line in zip(picks, lines, strict=True)]
    serials = [
        {
            "id": str(uuid7()), "tenant_id": str(row.tenant_id), "created_at": at.isoformat(),
            "updated_at": at.isoformat(), "version": 1, "line_id": str(line.id), "product_id": str(line.product_id),
            "serial_number": unit.serial_number,
        }
        for one, line in zip(picks, lines, strict=True)
        for unit in one.serials
    ]  # fmt: skip
    return [
        *saving_calls(order, shipped, ["fulfilment_status"], at, "shipped"),
        rows.insert(row),
        rows.insert_all(DeliveryLine, [{name: getattr(line, name) for name in names} for line in lines]),
        *([rows.insert_all(DeliverySerial, serials)] if serials else []),
        *package_calls(row, what.packages, numbered, at),
        *sharing_calls(row.tenant_id, row.supplier_tenant_id, what.known, at, bound_id=row.tenant_id),
    ]


@needs_transaction
def _supplier_part(
    actor: Actor,
    what: Leaving,
    stock: Stock,
    picks: Sequence[Pick],
    row: Delivery,
    lapsed: Sequence[Reservation],
    at: datetime,
) -> tuple[Part, dict[UUID, list[Occurrence]], list[Call]]:
    """Return what is written in the supplier's rows, what is told of them, and the counters that come last."""
    own = what.order.supplier_tenant_id
    used = consume(own, stock, at, by=SUPPLIER)
    ended, expired = changes.expire([*lapsed], at)
    moved, news = changed(own, stock.levels.values(), at, by=SUPPLIER)
    shelves = _moved(stock, picks)
    reference = {"reference_type": "delivery", "reference_id": str(row.id), "reference_text": row.number}
    units = [(unit, one.level) for one in picks if one.level for unit in one.serials]
    private = ShipmentPrivate(
        id=row.id, tenant_id=own, from_location_id=what.from_location_id, picked=_picked(picks),
        picking_notes=what.picking_notes, created_at=at, updated_at=at,
    )  # fmt: skip
    calls = [
        *ended, *moved, *ship_calls(own, units, at), *used.calls, *shelves.movement_calls(actor, at, reference),
        *availability.refresh_calls(own, products_of(one.want.line for one in picks), at), rows.insert(private),
        *filing_calls(own, what.files, row.id, at),
        *([delete_call(what.draft)] if what.draft else []),
    ]  # fmt: skip
    facts = changes.joined({own: news}, used.told, expired)
    return Part(own, changes.touched([*used.rows, *lapsed]), calls), facts, shelves.count_calls(actor, at)


def _moved(stock: Stock, picks: Sequence[Pick]) -> Shelves:
    """Return the movements of what was picked: one for each line and level."""
    left: dict[UUID, int] = {}
    shelves = Shelves({}, {}, {})
    for one in picks:
        if one.level is None:
            continue
        level = one.level.row
        left[level.id] = left.get(level.id, level.on_hand) - one.base_quantity
        shelves.movements.append(
            {
                "level_id": str(level.id), "product_id": str(level.product_id), "location_id": str(level.location_id),
                "lot_id": str(level.lot_id) if level.lot_id else None, "lot_number": level.lot_number or "",
                "quantity": -one.base_quantity, "balance_after": left[level.id], "type": MovementType.SHIPMENT.value,
            }
        )  # fmt: skip
    return shelves


def _picked(picks: Sequence[Pick]) -> list[dict[str, Any]]:
    return [
        {
            "line_no": number, "level_id": str(one.level.row.id), "location_id": str(one.level.row.location_id),
            "base_quantity": one.base_quantity,
        }
        for number, one in enumerate(picks, 1)
        if one.level
    ]  # fmt: skip
