"""Sending an order: its number and its copy at the supplier, reservations that become its own, and who is told.

At a managed supplier, who reads nothing, the order is accepted in the same moment.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from core import rows
from core.db import bind_call
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, Rows
from organizations.public import Part
from suppliers.inventory.reservations import changes

from . import limits, reserved
from .course import ACCEPTED, SENT, Place
from .models import ORDERS, PriceTrace, PurchaseOrder, PurchaseOrderLine
from .naming import Seller
from .numbers import claim_calls, number_of
from .states import DocumentKind

LINE_COLUMNS = (
    "own_code", "name", "supplier_sku", "gtin", "category", "packaging", "base_unit", "units_per_pack", "license_type",
    "unit_price", "price_base_quantity", "list_price", "list_net", "net", "tax_category", "tax_rate", "price_source",
    "price_source_id", "agreement", "redeemed", "trace", "offer_id", "accepted",
)  # fmt: skip
BOTH = ("version", "shared_version")


def number_calls(row: PurchaseOrder) -> list[Call]:
    """Return the statements that lock what the order has reserved, and claim the supplier's number; they bind the supplier."""
    numbers = claim_calls(row.supplier_tenant_id, DocumentKind.ORDER, row.id)
    return [bind_call(row.supplier_tenant_id), *reserved.lock_calls(row), *numbers]


def send(
    row: PurchaseOrder,
    lines: Sequence[PurchaseOrderLine],
    seller: Seller,
    found: Sequence[Rows],
    at: datetime,
) -> tuple[Place, list[str], Part]:
    """Let the order go to its supplier, in memory; return the state before it is moved there, the columns that change, and
    what is written in the supplier's rows. `found` are the rows of `number_calls`.

    :raises ReservationNotActive, InvalidFields: as `reserved.bind_to_lines`.
    """
    held = reserved.bind_to_lines(row, lines, found[2], at)
    row.order_number, row.sent_at = number_of(found[-1]), at
    columns = ["order_number", "sent_at", "accept_by", "accepted_at"]
    own = row.supplier_tenant_id
    calls = reserved.hardening_calls(held, at)
    if seller.is_managed:
        row.accepted_at = at
        for line in lines:
            line.accepted = line.ordered
    else:
        row.accept_by = at + timedelta(hours=seller.accept_within_hours)
        trace = PriceTrace(id=row.id, tenant_id=own, traces=limits.traces_of(lines), created_at=at, updated_at=at)
        calls.append(rows.insert(trace))
    part = Part(own, changes.touched(held), calls)
    return (ACCEPTED if seller.is_managed else SENT), columns, part


def saving_calls(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], columns: Sequence[str], at: datetime, *names: str
) -> list[Call]:
    """Return the statements that save an order with some columns of its lines, by default all that a price moves.

    They are bound to the buyer. The change that hands the order over makes the first version of the copy.
    """
    is_first = row.sent_at is None or row.sent_at == at
    saved = save_all_call(lines, *(names or LINE_COLUMNS), at=at)
    versions = BOTH[:1] if is_first else BOTH
    return [saved, save_call(row, *dict.fromkeys(columns), at=at, versions=versions)]


def order_part(row: PurchaseOrder, calls: Sequence[Call]) -> Part:
    """Return what is written in the buyer's rows of an order."""
    return Part(row.tenant_id, [(ORDERS, row.id)], calls)
