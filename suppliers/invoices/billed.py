"""What is billed of an order: the order with all its invoices, locked, read in the trip that finds it.

Every write of an invoice works under the lock of its order, because what may be invoiced and what matches depends on all
others of the order. Source: contract, supply.md 5 and supply-invoice.md 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.model_rows import rows_of
from core.pipeline import Call, Rows, Statement
from organizations.public import policies_call, policies_of
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine

from .models import Invoice, InvoiceLine
from .states import LIVE


class Rules(NamedTuple):
    """What the buyer holds invoices against: tolerances of its policies, and whether the relationship stops approvals."""

    quantity_bp: int
    price_bp: int
    price_amount: Decimal
    tax_amount: Decimal
    approve_limit: Decimal
    currency: str
    is_blocked: bool
    is_managed: bool


class _Stands(NamedTuple):
    currency: str
    blocks: Any
    is_managed: bool


class Replaced(NamedTuple):
    """A line of an order, with how many base units of it came back and were replaced or repaired."""

    line_id: UUID
    units: int


def replaced_statement(orders: str) -> Statement:
    """Return the statement of what was replaced or repaired of orders; `orders` is SQL about the id of an order."""
    return Statement.of(
        "SELECT l.order_line_id AS line_id, sum(l.restocked + l.quarantined + l.destroyed + l.to_manufacturer)::bigint AS units"
        " FROM suppliers_return r JOIN suppliers_returnline l ON l.tenant_id = r.tenant_id AND l.document_id = r.id"
        f" AND l.tenant_id = $1 WHERE r.tenant_id = $1 AND r.order_id {orders} AND r.resolution <> 'credit'"
        " GROUP BY l.tenant_id, l.order_line_id",
        row=Replaced,
    )


def replaced_of(found: Rows) -> dict[UUID, int]:
    """Return what `replaced_statement` has read, by the ids of the lines."""
    return {one.line_id: one.units for one in found.of(Replaced)}


_COLUMNS: Final = ", ".join(f'v."{one.column}"' for one in Invoice._meta.concrete_fields)
_LINE_COLUMNS: Final = ", ".join(f'l."{one.column}"' for one in InvoiceLine._meta.concrete_fields)
_ORDER_LINES: Final = ", ".join(f'l."{one.column}"' for one in PurchaseOrderLine._meta.concrete_fields)
_ORDER_COLUMNS: Final = ", ".join(f'o."{one.column}"' for one in PurchaseOrder._meta.concrete_fields)
_BY_INVOICE: Final = "(SELECT x.order_id FROM suppliers_invoice x WHERE x.tenant_id = $1 AND x.id = $2)"
_BY_DELIVERY: Final = "(SELECT x.order_id FROM suppliers_delivery x WHERE x.tenant_id = $1 AND x.id = $2)"
_NAMED: Final = {"order": "$2", "invoice": _BY_INVOICE, "delivery": _BY_DELIVERY}


def _statements(order: str) -> tuple[Statement, ...]:
    return (
        Statement.of(f"SELECT {_ORDER_COLUMNS} FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id = {order} FOR UPDATE"),
        Statement.of(
            f"SELECT {_ORDER_LINES} FROM suppliers_purchaseorderline l WHERE l.tenant_id = $1 AND l.order_id = {order}"
            " ORDER BY l.line_no"
        ),
        Statement.of(
            f"SELECT {_COLUMNS} FROM suppliers_invoice v WHERE v.tenant_id = $1 AND v.order_id = {order} ORDER BY v.id FOR UPDATE"
        ),
        Statement.of(
            f"SELECT {_LINE_COLUMNS} FROM suppliers_invoiceline l WHERE l.tenant_id = $1 AND l.invoice_id IN"
            f" (SELECT i.id FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.order_id = {order}) ORDER BY l.invoice_id, l.line_no"
        ),
        Statement.of(
            "SELECT n.currency, coalesce((SELECT to_json(r.blocks) FROM suppliers_relationship r WHERE r.tenant_id = $1"
            " AND r.supplier_id = o.supplier_tenant_id), '[]') AS blocks, s.managed_by_id IS NOT NULL AS is_managed"
            " FROM suppliers_purchaseorder o JOIN organizations_tenant n ON n.id = o.tenant_id"
            f" JOIN organizations_tenant s ON s.id = o.supplier_tenant_id WHERE o.tenant_id = $1 AND o.id = {order}",
            row=_Stands,
        ),
        replaced_statement(f"= {order}"),
    )  # fmt: skip


_LOCK_ALL = Statement.of(
    f"SELECT v.id FROM suppliers_invoice v WHERE v.tenant_id = $1 AND v.order_id = {_BY_INVOICE} ORDER BY v.id FOR UPDATE"
)
_UNPAID = Statement.of(
    "SELECT EXISTS (SELECT 1 FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.order_id = $2 AND i.type <> 'credit_note'"
    " AND i.status NOT IN ('rejected', 'cancelled') AND NOT (i.status IN ('approved', 'partially_paid', 'paid')"
    " AND i.gross_total - i.credited_total - i.paid_total + i.offset_total <= 0))::text"
)
_READS: Final = {name: _statements(order) for name, order in _NAMED.items()}


def unpaid_call(tenant_id: UUID, order_id: UUID) -> Call:
    """Return the statement that tells whether an invoice of an order is not paid, bound to its buyer."""
    return Call(_UNPAID, [str(tenant_id), str(order_id)])


def order_call(tenant_id: UUID, key: UUID, *, by: str = "invoice") -> Call:
    """Return the statement that locks the order of an invoice, bound to its buyer."""
    return Call(_READS[by][0], [str(tenant_id), str(key)])


def lock_calls(tenant_id: UUID, key: UUID) -> list[Call]:
    """Return the statements that lock the order of an invoice and all its invoices by id, bound to its buyer."""
    return [order_call(tenant_id, key), Call(_LOCK_ALL, [str(tenant_id), str(key)])]


def billed_calls(tenant_id: UUID, key: UUID, *, by: str) -> list[Call]:
    """Return the statements that lock and read what is billed of an order, bound to its buyer; `billed_of` reads them.

    `by` says what the key is of: `order`, `invoice`, or `delivery`.
    """
    given = [str(tenant_id), str(key)]
    return [*(Call(one, given) for one in _READS[by]), policies_call(tenant_id)]


@dataclass(slots=True, eq=False)
class Billed:
    """An order with all its invoices and their lines, locked; `was` are their values as they were read.

    `replaced` are base units of its lines that came back and were replaced or repaired: the buyer has others for them.
    """

    order: PurchaseOrder
    lines: dict[UUID, PurchaseOrderLine]
    invoices: list[Invoice]
    of: dict[UUID, list[InvoiceLine]]
    rules: Rules
    replaced: dict[UUID, int]
    was: dict[UUID, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows: list[Any] = [self.order, *self.lines.values(), *self.invoices]
        for row in [*rows, *(one for lines in self.of.values() for one in lines)]:
            self.was[row.pk] = values_of(row)

    def invoice(self, key: UUID) -> Invoice | None:
        """Return the invoice with the id; None where the order has none."""
        return next((one for one in self.invoices if one.pk == key), None)

    def kept(self, of: PurchaseOrderLine) -> int:
        """Return how many base units of a line the buyer has received and kept, or has others for."""
        count: int = of.received - of.returned + self.replaced.get(of.pk, 0)
        return count

    def live(self) -> list[Invoice]:
        """Return the invoices that count: neither rejected nor withdrawn, and no credit notes; the oldest first."""
        found = [one for one in self.invoices if str(one.status) in LIVE and not one.is_credit_note]
        return sorted(found, key=lambda one: (one.issued_at, one.pk))

    def add(self, invoice: Invoice, lines: Sequence[InvoiceLine]) -> None:
        """Let a new document be one of the order's."""
        self.invoices.append(invoice)
        self.of[invoice.pk] = [*lines]

    def changed(self, row: Any, names: Sequence[str]) -> bool:
        """Tell whether one of the columns of a row that was read is another one now; of a new row, always."""
        before = self.was.get(row.pk)
        return before is None or any(before[name] != getattr(row, name) for name in names)


def values_of(row: Any) -> dict[str, Any]:
    """Return the values of a row's columns."""
    return {one.attname: getattr(row, one.attname) for one in row._meta.concrete_fields}


def billed_of(found: Sequence[Rows]) -> Billed | None:
    """Return what `billed_calls` has read; None where there is no such order."""
    orders, lines, invoices, of, stands, replaced, policies = found
    rows = rows_of(PurchaseOrder, orders)
    if not rows:
        return None
    (how,), said = stands.of(_Stands), policies_of(policies)
    rules = Rules(
        said["match_quantity_tolerance_bp"], said["match_price_tolerance_bp"], Decimal(said["match_price_tolerance_amount"]),
        Decimal(said["match_tax_tolerance_amount"]), Decimal(said["invoice_auto_approve_limit"]), how.currency,
        "invoices" in (how.blocks or ()), how.is_managed,
    )  # fmt: skip
    held = rows_of(Invoice, invoices)
    by_invoice: dict[UUID, list[InvoiceLine]] = {one.pk: [] for one in held}
    for line in rows_of(InvoiceLine, of):
        by_invoice.setdefault(line.invoice_id, []).append(line)
    by_id = {one.pk: one for one in rows_of(PurchaseOrderLine, lines)}
    return Billed(rows[0], by_id, held, by_invoice, rules, replaced_of(replaced))
