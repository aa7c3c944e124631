"""The order by which a supplier replaces or repairs what came back: at price 0, accepted from its first moment.

The order of the goods that came back does not reopen. Source: contract, supply-invoice.md 4.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from core import rows
from core.db import bind_call, needs_transaction
from core.ids import uuid7
from core.pipeline import Call, run
from ledger.public import Occurrence
from suppliers.inventory.states import Unit
from suppliers.orders.course import ACCEPTED
from suppliers.orders.finding import insert_lines_call
from suppliers.orders.models import PriceTrace, PurchaseOrder, PurchaseOrderLine
from suppliers.orders.numbers import claim_calls, number_of
from suppliers.orders.pricing import OrderedLine, Terms, totals
from suppliers.orders.states import RETURNED, DocumentKind
from suppliers.orders.telling import told

from .finding import Returned
from .telling import SUPPLIER

_SAME: Final = (
    "product_id", "packaging_id", "own_code", "name", "supplier_sku", "gtin", "category", "packaging", "base_unit",
    "units_per_pack", "license_type", "currency", "tax_category", "tax_rate",
)  # fmt: skip
_BUYER: Final = ("purchase_order.sent", "purchase_order.accepted")
_SUPPLIER: Final = ("order.placed", "order.accepted")


class Replacing(NamedTuple):
    """A new order: its row, what is written of it at the buyer and at the supplier, and what both are told."""

    row: PurchaseOrder
    at_buyer: Sequence[Call]
    at_supplier: Sequence[Call]
    told: Mapping[UUID, Sequence[Occurrence]]


@needs_transaction
def replace(target: Returned, at: datetime) -> Replacing | None:
    """Make the order for what the supplier has really got back; None where it is nothing. The buyer is bound afterwards."""
    lines = [_line(target.ordered(one), one.kept, target.row.id) for one in target.lines if one.kept]
    if not lines:
        return None
    buyer, supplier, key = target.row.tenant_id, target.row.supplier_tenant_id, uuid7()
    found = run(
        [
            *claim_calls(buyer, DocumentKind.PURCHASE_ORDER, key), bind_call(supplier),
            *claim_calls(supplier, DocumentKind.ORDER, key), bind_call(buyer),
        ]
    )  # fmt: skip
    row = _row(target, lines, key, at)
    row.number, row.order_number = number_of(found[1]), number_of(found[4])
    row.become(ACCEPTED)
    trace = PriceTrace(id=key, tenant_id=supplier, traces={}, created_at=at, updated_at=at)
    kept = [{**one.values, "line_no": number} for number, one in enumerate(lines, 1)]
    facts = told(row, _BUYER, _SUPPLIER, was=None, by=SUPPLIER, lines=kept)
    return Replacing(row, [rows.insert(row), insert_lines_call(key, buyer, lines, at)], [rows.insert(trace)], facts)


def _row(target: Returned, lines: Sequence[OrderedLine], key: UUID, at: datetime) -> PurchaseOrder:
    old = target.order
    terms = Terms(old.tenant_id, old.supplier_tenant_id, old.currency, None, None)
    return PurchaseOrder(
        id=key, tenant_id=old.tenant_id, supplier_tenant_id=old.supplier_tenant_id, currency=old.currency,
        delivery_location_id=old.delivery_location_id, delivery_address=old.delivery_address,
        payment_terms=old.payment_terms, incoterm=old.incoterm, priority=old.priority,
        substitution_policy=old.substitution_policy, backorder_policy=old.backorder_policy,
        min_remaining_shelf_life_days=old.min_remaining_shelf_life_days, external_reference=old.external_reference,
        requester_id=old.requester_id, return_id=target.row.id, sent_at=at, accepted_at=at, created_at=at, updated_at=at,
        **totals(terms, lines),
    )  # fmt: skip


def _line(old: PurchaseOrderLine, base_quantity: int, return_id: UUID) -> OrderedLine:
    """Return a line of the new order, in packs where it is a whole number of them."""
    packs, rest = divmod(base_quantity, old.units_per_pack)
    is_packed = not rest and old.packaging_id is not None
    values: dict[str, Any] = {
        **{name: getattr(old, name) for name in _SAME},
        "unit": Unit.PACK.value if is_packed else Unit.BASE.value, "quantity": packs if is_packed else base_quantity,
        "offer_id": None, "requested_date": None, "unit_price": Decimal(0), "price_base_quantity": 1, "list_price": None,
        "list_net": None, "net": Decimal(0), "price_source": RETURNED, "price_source_id": return_id, "agreement": None,
        "redeemed": [], "trace": [], "price_check": None, "ordered": base_quantity, "accepted": base_quantity,
    }  # fmt: skip
    return OrderedLine(values, None)
