"""What a payment moves, locked and read in one trip: the orders of its invoices with all that is billed of them.

Every write of an invoice works under the lock of its order. Lock order: orders by id, invoices by id, then the payment.
Source: contract, supply.md 5.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from core.arrays import array_literal
from core.model_rows import rows_of
from core.pipeline import Call, Rows, Statement
from organizations.public import policies_call, policies_of
from suppliers.invoices.billed import Billed, Rules, replaced_of, replaced_statement
from suppliers.invoices.models import Invoice, InvoiceLine
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine


class Parties(NamedTuple):
    """What is to be known of both parties: what the relationship stops, whether the buyer manages the supplier, its currency and zone."""

    blocks: Any
    is_managed: bool
    currency: str
    time_zone: str


def columns(model: Any, alias: str) -> str:
    """Write the SQL of all columns of a model, in its order."""
    return ", ".join(f'{alias}."{one.column}"' for one in model._meta.concrete_fields)


GIVEN: Final = "= ANY($2::uuid[])"
OF_PAYMENT: Final = (
    "= ANY(ARRAY(SELECT x.invoice_id FROM suppliers_paymentallocation x WHERE x.tenant_id = $1 AND x.payment_id = $2"
    " UNION SELECT y.invoice_id FROM suppliers_creditsource y WHERE y.tenant_id = $1 AND y.payment_id = $2))"
)
_PAID: Final = "(SELECT p.supplier_tenant_id FROM suppliers_payment p WHERE p.tenant_id = $1 AND p.id = $2)"


def _parties(supplier: str) -> Statement:
    """Return the statement of what is to be known of both parties; `supplier` is SQL of the supplier's id."""
    return Statement.of(
        "SELECT coalesce((SELECT to_json(r.blocks) FROM suppliers_relationship r WHERE r.tenant_id = $1"
        f" AND r.supplier_id = {supplier}), '[]') AS blocks, coalesce((SELECT s.managed_by_id IS NOT NULL"
        f" FROM organizations_tenant s WHERE s.id = {supplier}), false) AS is_managed, b.currency, b.time_zone"
        " FROM organizations_tenant b WHERE b.id = $1",
        row=Parties,
    )


def _statements(which: str) -> tuple[Statement, ...]:
    """Return the statements of orders and invoices, which lock, and of their lines; `which` is SQL about the id of an invoice.

    Ids are gathered in arrays, each once, and looked up by an index: as nested IN they are joined, row by row.
    """
    orders = (
        f"= ANY(ARRAY(SELECT DISTINCT i.order_id FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.id {which}))"
    )
    invoices = f"= ANY(ARRAY(SELECT v.id FROM suppliers_invoice v WHERE v.tenant_id = $1 AND v.order_id {orders}))"
    return (
        Statement.of(
            f"SELECT {columns(PurchaseOrder, 'o')} FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id {orders}"
            " ORDER BY o.id FOR UPDATE"
        ),
        Statement.of(
            f"SELECT {columns(Invoice, 'v')} FROM suppliers_invoice v WHERE v.tenant_id = $1 AND v.order_id {orders}"
            " ORDER BY v.id FOR UPDATE"
        ),
        Statement.of(
            f"SELECT {columns(PurchaseOrderLine, 'l')} FROM suppliers_purchaseorderline l WHERE l.tenant_id = $1"
            f" AND l.order_id {orders} ORDER BY l.order_id, l.line_no"
        ),
        Statement.of(
            f"SELECT {columns(InvoiceLine, 'l')} FROM suppliers_invoiceline l WHERE l.tenant_id = $1"
            f" AND l.invoice_id {invoices} ORDER BY l.invoice_id, l.line_no"
        ),
        replaced_statement(orders),
    )


_READS: Final = {which: _statements(which) for which in (GIVEN, OF_PAYMENT)}
_PARTIES_GIVEN: Final = _parties("$2")
_PARTIES_OF: Final = _parties(_PAID)


@dataclass(frozen=True, slots=True, eq=False)
class Books:
    """The orders with all that is billed of them, and what is to be known of both parties."""

    billed: Mapping[UUID, Billed]
    parties: Parties

    def invoice(self, key: UUID) -> Invoice | None:
        """Return an invoice of the orders; None where they have no such one."""
        return next((one for billed in self.billed.values() if (one := billed.invoice(key))), None)

    def date_of(self, at: datetime) -> date:
        """Return the date at the buyer."""
        return at.astimezone(ZoneInfo(self.parties.time_zone)).date()


def lock_calls(tenant_id: UUID, payment_id: UUID) -> list[Call]:
    """Return the statements that lock the orders and invoices of a payment, which come before it."""
    return [Call(one, [str(tenant_id), str(payment_id)]) for one in _READS[OF_PAYMENT][:2]]


def of_payment_calls(tenant_id: UUID, payment_id: UUID) -> list[Call]:
    """Return the statements that lock and read the books of a payment; `books_of` reads them."""
    given = [str(tenant_id), str(payment_id)]
    return [*(Call(one, given) for one in (*_READS[OF_PAYMENT], _PARTIES_OF)), policies_call(tenant_id)]


def given_calls(tenant_id: UUID, supplier_id: UUID, invoice_ids: Iterable[UUID]) -> list[Call]:
    """Return the statements that lock and read the books of a payment that is to be made; `books_of` reads them."""
    own, named = str(tenant_id), array_literal(sorted({*invoice_ids}))
    reading = [Call(one, [own, named]) for one in _READS[GIVEN]]
    return [*reading, Call(_PARTIES_GIVEN, [own, str(supplier_id)]), policies_call(tenant_id)]


def books_of(found: Sequence[Rows]) -> Books:
    """Return what was locked and read: orders, invoices, lines of both, parties, policies."""
    orders, invoices, lines, billed_lines, replaced, parties, policies = found
    of, said, others = parties.of(Parties)[0], policies_of(policies), replaced_of(replaced)
    rules = Rules(
        said["match_quantity_tolerance_bp"], said["match_price_tolerance_bp"], Decimal(said["match_price_tolerance_amount"]),
        Decimal(said["match_tax_tolerance_amount"]), Decimal(said["invoice_auto_approve_limit"]), of.currency,
        "invoices" in of.blocks, of.is_managed,
    )  # fmt: skip
    by_order, lines_of = defaultdict[UUID, list[Invoice]](list), defaultdict[UUID, list[PurchaseOrderLine]](list)
    for invoice in rows_of(Invoice, invoices):
        by_order[invoice.order_id].append(invoice)
    for line in rows_of(PurchaseOrderLine, lines):
        lines_of[line.order_id].append(line)
    by_invoice = defaultdict[UUID, list[InvoiceLine]](list)
    for one in rows_of(InvoiceLine, billed_lines):
        by_invoice[one.invoice_id].append(one)
    billed = {
        order.pk: Billed(
            order, {line.pk: line for line in lines_of[order.pk]}, by_order[order.pk],
            {one.pk: by_invoice[one.pk] for one in by_order[order.pk]}, rules, others,
        )
        for order in rows_of(PurchaseOrder, orders)
    }  # fmt: skip
    return Books(billed, of)
