"""Sending an order: its number and its copy at the supplier, reservations that become its own, and who is told.

At a managed supplier, who reads nothing, the order is accepted in the same moment.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from core import rows
from core.db import bind_call, needs_transaction
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, Rows
from ledger.public import Occurrence
from organizations.public import Part
from suppliers.files.handing_over import received_calls
from suppliers.inventory.events import ReservationExtended
from suppliers.inventory.models import Reservation
from suppliers.inventory.reservations import changes

from . import limits, reserved
from .allocating import Allocated, Stock, allocate, missing, refuse_short, stock_calls, stock_of
from .course import ACCEPTED, SENT, Place, Who
from .models import ORDERS, PriceTrace, PurchaseOrder, PurchaseOrderLine
from .naming import Seller
from .numbers import claim_calls, number_of
from .refusals import SupplierNotQualified
from .states import Backorders, DocumentKind, Party

LINE_COLUMNS = (
    "own_code", "name", "supplier_sku", "gtin", "category", "packaging", "base_unit", "units_per_pack", "license_type",
    "unit_price", "price_base_quantity", "list_price", "list_net", "net", "tax_category", "tax_rate", "price_source",
    "price_source_id", "agreement", "redeemed", "trace", "offer_id", "accepted", "tolerance",
)  # fmt: skip
BOTH = ("version", "shared_version")
_LOCKED, _CLAIMED = 2, 2  # statements: of reservations, of the number


class Sent(NamedTuple):
    """Where a sent order goes, which of its columns change, what is written in the supplier's rows, and told of its stock.

    `buyer` and `supplier` are the types of events of the order that each side is told.
    """

    place: Place
    columns: list[str]
    part: Part
    told: Mapping[UUID, Sequence[Occurrence]]
    buyer: tuple[str, ...]
    supplier: tuple[str, ...]


def number_calls(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], seller: Seller, at: datetime) -> list[Call]:
    """Return the statements that lock what sending needs at the supplier, and claim its number; they bind the supplier.

    That is all stock of the products where the supplier allocates at once, else what the order has reserved.
    """
    numbers = claim_calls(row.supplier_tenant_id, DocumentKind.ORDER, row.id)
    stock = stock_calls(row, lines, at) if _allocates(seller) else []
    return [bind_call(row.supplier_tenant_id), *stock, *reserved.lock_calls(row), *numbers]


def _allocates(seller: Seller) -> bool:
    return seller.auto_allocate and not seller.is_managed


def hold_calls(row: PurchaseOrder) -> list[Call]:
    """Return the statements that lock what the order has reserved, without sending it; they bind the supplier."""
    return [bind_call(row.supplier_tenant_id), *reserved.lock_calls(row)] if row.reservation_ids else []


def hold(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], found: Sequence[Rows], at: datetime
) -> tuple[Part, dict[UUID, list[Occurrence]]]:
    """Let what the order has reserved last until it is approved, a day at most; return what is written in the supplier's
    rows, and told. `found` are the rows of `hold_calls`.

    :raises ReservationNotActive, InvalidFields: as `reserved.bind_to_lines`.
    """
    held = reserved.hold(row, lines, found[2], at) if found else []
    part = Part(row.supplier_tenant_id, changes.touched(held), changes.holding_calls(held, at))
    return part, changes.told_of(ReservationExtended, held, Party.BUYER.value)


def check_takes_orders(seller: Seller) -> None:
    """Require that the supplier takes new orders.

    :raises SupplierNotQualified: it is suspended, or not qualified.
    """
    if seller.status != "active" or not seller.is_qualified:
        raise SupplierNotQualified


@needs_transaction
def send(  # what the order is, who gets it, and what was locked there
    row: PurchaseOrder,
    lines: Sequence[PurchaseOrderLine],
    seller: Seller,
    found: Sequence[Rows],
    at: datetime,
    *,
    was_held: bool = False,
) -> Sent:
    """Let the order go to its supplier, in memory, with stock where the supplier allocates at once.

    `found` are the rows of `number_calls`. The caller moves the order to the place that is returned. With `was_held` its
    reservations may have ended meanwhile; it then goes without them.

    :raises ReservationNotActive, InvalidFields: as `reserved.bind_to_lines`.
    :raises InsufficientStock: names each line of which too little is free, where the buyer takes no backorders.
    """
    held = reserved.bind_to_lines(row, lines, found[-_LOCKED - _CLAIMED + 1], at, may_have_ended=was_held)
    row.order_number, row.sent_at = number_of(found[-1]), at
    columns = ["order_number", "sent_at", "accept_by", "accepted_at"]
    own = row.supplier_tenant_id
    calls = reserved.hardening_calls(held, at)
    allocated = (
        _allocate(row, lines, stock_of(found[1 : -_LOCKED - _CLAIMED]), held, at) if _allocates(seller) else None
    )
    if seller.is_managed:
        row.accepted_at = at
        for line in lines:
            line.accepted = line.ordered
    else:
        calls += received_calls(own, row.tenant_id, row.files, at, bound_id=own)
        row.accept_by = at + timedelta(hours=seller.accept_within_hours)
        trace = PriceTrace(id=row.id, tenant_id=own, traces=limits.traces_of(lines), created_at=at, updated_at=at)
        calls.append(rows.insert(trace))
    calls += allocated.calls if allocated else []
    part = Part(own, changes.touched([*held, *(allocated.rows if allocated else [])]), calls)
    of_stock = allocated.told if allocated else {}
    if seller.is_managed:
        return Sent(ACCEPTED, columns, part, of_stock, ("purchase_order.sent", "purchase_order.accepted"), ())
    return Sent(SENT, columns, part, of_stock, ("purchase_order.sent",), ("order.placed",))


@needs_transaction
def _allocate(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], stock: Stock, held: Sequence[Reservation], at: datetime
) -> Allocated:
    """Allocate what the lines do not hold by the buyer's own reservations.

    :raises InsufficientStock: as `send`.
    """
    for one in held:
        assert one.purchase_order_line_id is not None
        stock.held[one.purchase_order_line_id] = stock.of_id(one.purchase_order_line_id) + one.base_quantity
    allocated = allocate(row, lines, stock, missing(lines, stock), at, by=Who.BUYER)
    if row.backorder_policy == Backorders.REFUSE:
        refuse_short(lines, stock, as_told=True)
    return allocated


def saving_calls(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], columns: Sequence[str], at: datetime, *names: str
) -> list[Call]:
    """Return the statements that save an order with some columns of its lines, by default all that a price moves.

    They are bound to the buyer. The change that hands the order over makes the first version of the copy.
    """
    return [save_all_call(lines, *(names or LINE_COLUMNS), at=at), header_call(row, columns, at)]


def header_call(row: PurchaseOrder, columns: Sequence[str], at: datetime) -> Call:
    """Return the statement that saves an order without its lines; see `saving_calls`."""
    is_first = row.sent_at is None or row.sent_at == at
    return save_call(row, *dict.fromkeys(columns), at=at, versions=BOTH[:1] if is_first else BOTH)


def order_part(row: PurchaseOrder, calls: Sequence[Call]) -> Part:
    """Return what is written in the buyer's rows of an order."""
    return Part(row.tenant_id, [(ORDERS, row.id)], calls)
