"""What follows from every change of invoices: matching, approval of small ones, counters of the order, and what is told.

`settle` works in memory under the lock of the order and returns the statements that save all that has become different;
whoever changes an invoice, receives goods or pays calls it last. Source: contract, supply-invoice.md 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from core import rows
from core.model_rows import save_all_call
from core.pipeline import Call
from ledger.public import Occurrence
from organizations.public import ReceivedKind
from suppliers.inventory.reservations.changes import joined
from suppliers.orders.billing import billing_of
from suppliers.orders.ending import close_if_complete
from suppliers.orders.events import PurchaseOrderPriceDiffers
from suppliers.orders.models import ORDERS
from suppliers.orders.telling import SYSTEM
from suppliers.orders.telling import told as told_of_order

from .billed import Billed
from .events import EVENTS
from .matching import match
from .models import INVOICES, Invoice, InvoiceLine
from .price_checks import check_prices
from .states import OPEN, PAYABLE, RELEASED, InvoiceStatus, MatchStatus

_BOTH: Final = ("version", "shared_version")
_SHARED: Final = (
    "status", "credited_total", "held_total", "paid_total", "offset_total", "match_status", "match_checked_at",
    "dispute_reason", "dispute_note", "disputed_at", "approved_at", "reason", "ended_at", "paid_at",
)  # fmt: skip
_OWN: Final = ("approved_by_id", "override_reason")
_LINE: Final = ("credited", "credited_net", "result", "quantity_variance", "price_variance")
_ORDER: Final = ("billing_status", "status", "closed_at", "price_differs")
_ORDER_LINE: Final = ("invoiced", "price_check")
_LINE_SHARED: Final = ("credited", "credited_net", "result")


class News(NamedTuple):
    """What is told of an invoice: the type of the event, and the state before and behind it."""

    invoice: Invoice
    name: str
    was: str | None
    status: str
    by: str
    reason: str = ""
    reason_code: str | None = None


@dataclass(slots=True)
class Settled:
    """What a change of invoices has made different: the statements that save it, the documents touched, what is told."""

    calls: list[Call] = field(default_factory=list)
    touched: list[tuple[ReceivedKind, UUID]] = field(default_factory=list)
    told: Mapping[UUID, Sequence[Occurrence]] = field(default_factory=dict)


@dataclass(slots=True)
class Work:
    """A change of invoices under way: new documents, and the news so far in their order.

    With `of_inspection` it follows from the inspection of goods that came back, and not from what a supplier has written.
    """

    billed: Billed
    at: datetime
    news: list[News] = field(default_factory=list)
    new: list[Invoice] = field(default_factory=list)
    of_inspection: bool = False

    def tell(self, invoice: Invoice, name: str, *, was: str | None, by: str, reason: str = "", code: str = "") -> None:
        """Note what both parties are told of an invoice as it is now."""
        self.news.append(News(invoice, name, was, str(invoice.status), by, reason, code or None))

    def rematch(self, invoice: Invoice, *, asked: bool = False) -> None:
        """Match an open invoice, and release it where it is right and small enough; what changes is told.

        A match that finds what the last one has found leaves the invoice as it is, unless it was asked for.
        """
        if str(invoice.status) not in OPEN:
            return
        status, before = str(invoice.status), invoice.match_status
        match(self.billed, invoice)
        is_new = invoice.match_status != before or status == InvoiceStatus.ISSUED
        lines = self.billed.of[invoice.pk]
        if is_new or asked or any(self.billed.changed(one, ("result",)) for one in lines):
            invoice.match_checked_at = self.at
        invoice.become(invoice.match_status)
        if is_new:
            self.tell(invoice, f"invoice.{invoice.match_status}", was=status, by=SYSTEM)
        if invoice.match_status == MatchStatus.MATCHED and self._is_small(invoice):
            self.approve(invoice, by=SYSTEM)

    def _is_small(self, invoice: Invoice) -> bool:
        rules = self.billed.rules
        is_bounded = rules.approve_limit > 0 and invoice.currency == rules.currency and not rules.is_blocked
        return is_bounded and invoice.gross_total <= rules.approve_limit

    def approve(self, invoice: Invoice, *, by: str, reason: str = "") -> None:
        """Release an invoice for payment; one that is wholly credited is paid with that."""
        was = str(invoice.status)
        invoice.become(InvoiceStatus.APPROVED.value)
        invoice.approved_at, invoice.override_reason = self.at, reason
        self.tell(invoice, "invoice.approved", was=was, by=by)
        self.pay_off(invoice, by=SYSTEM)

    def resolve(self, invoice: Invoice, *, by: str) -> None:
        """End a dispute: the invoice is as issued, and is matched again."""
        was, issued = str(invoice.status), InvoiceStatus.ISSUED.value
        invoice.dispute_reason = invoice.dispute_note = ""
        invoice.disputed_at = None
        match(self.billed, invoice)
        invoice.match_checked_at = self.at
        invoice.become(invoice.match_status)
        self.news.append(News(invoice, "invoice.dispute_resolved", was, issued, by))
        self.tell(invoice, f"invoice.{invoice.match_status}", was=issued, by=SYSTEM)
        if invoice.match_status == MatchStatus.MATCHED and self._is_small(invoice):
            self.approve(invoice, by=SYSTEM)

    def pay_off(self, invoice: Invoice, *, by: str) -> None:
        """Let a released invoice be paid where nothing is left to pay; what is left makes it partially paid, or approved again."""
        was = str(invoice.status)
        if was not in RELEASED:
            return
        is_touched = invoice.paid_total > 0 or invoice.credited_total > 0 or was == InvoiceStatus.PAID
        if invoice.balance_due <= 0 and is_touched:
            target = InvoiceStatus.PAID
        else:
            target = InvoiceStatus.PARTIALLY_PAID if invoice.paid_total > 0 else InvoiceStatus.APPROVED
        invoice.become(target.value)
        invoice.paid_at = (invoice.paid_at or self.at) if target == InvoiceStatus.PAID else None
        if target == InvoiceStatus.PAID and was != target.value:
            self.tell(invoice, "invoice.paid", was=was, by=by)


def settle(work: Work) -> Settled:
    """Match all open invoices of the order, count what is invoiced, and return what is to be saved and told."""
    billed = work.billed
    for invoice in billed.live():
        work.rematch(invoice)
    news = [PurchaseOrderPriceDiffers.type] if check_prices(billed) else []
    buyer, supplier = _count(work)
    made = Settled()
    _save_invoices(work, made)
    order, was = billed.order, billed.was[billed.order.pk]
    _save_order(work, made)
    told, news = _told(work), [*news, *buyer]
    if news:
        heard = [] if billed.rules.is_managed else supplier
        kept = [vars(one) for one in billed.lines.values()]
        told = joined(told, told_of_order(order, news, heard, was=was["status"], by=SYSTEM, lines=kept))
    made.told = told
    return made


def _count(work: Work) -> tuple[list[str], list[str]]:
    """Count by line what is invoiced less what is credited, and say how far the bills of the order are; it may close."""
    billed = work.billed
    counts: dict[UUID, int] = {}
    for invoice in billed.live():
        for line in billed.of[invoice.pk]:
            counts[line.order_line_id] = counts.get(line.order_line_id, 0) + line.base_quantity - line.credited
    for one in billed.lines.values():
        one.invoiced = counts.get(one.pk, 0)
    paid = all(str(one.status) in RELEASED and one.balance_due <= 0 for one in billed.live())
    billed.order.billing_status = billing_of(billed.lines.values(), paid=paid).value
    return close_if_complete(billed.order, [*billed.lines.values()], work.at)


def _save_order(work: Work, made: Settled) -> None:
    """Save what has become different of the order and its lines."""
    billed, order = work.billed, work.billed.order
    lines = [one for one in billed.lines.values() if billed.changed(one, _ORDER_LINE)]
    if lines:
        made.calls.append(save_all_call(lines, *_ORDER_LINE, at=work.at))
    if lines or billed.changed(order, _ORDER):
        made.calls.append(save_all_call([order], *_ORDER, at=work.at, versions=_BOTH))
        made.touched.append((ORDERS, order.pk))


def _save_invoices(work: Work, made: Settled) -> None:
    """Save the invoices and lines that have become different; credit notes are never changed."""
    billed, at = work.billed, work.at
    made.touched += [(INVOICES, one.pk) for one in work.new]
    made.calls += [_insert_lines_call(billed, one) for one in work.new]  # as the match has left them
    invoices = [one for one in billed.invoices if not one.is_credit_note]
    shared = [one for one in invoices if _differs(billed, one, _SHARED, _LINE_SHARED)]
    own = [one for one in invoices if one not in shared and _differs(billed, one, _OWN, _LINE)]
    kept = [one for one in invoices if one not in work.new]
    moved = [line for one in kept for line in billed.of[one.pk] if billed.changed(line, _LINE)]
    if moved:
        made.calls.append(save_all_call(moved, *_LINE, at=at))
    if shared:
        made.calls.append(save_all_call(shared, *_SHARED, *_OWN, at=at, versions=_BOTH))
        named = {key for _, key in made.touched}
        made.touched += [(INVOICES, one.pk) for one in shared if one.pk not in named]
    if own:
        made.calls.append(save_all_call(own, *_OWN, at=at))


def _differs(billed: Billed, invoice: Invoice, names: Sequence[str], of_lines: Sequence[str]) -> bool:
    return billed.changed(invoice, names) or any(billed.changed(one, of_lines) for one in billed.of[invoice.pk])


def insert_call(invoice: Invoice) -> Call:
    """Return the statement that inserts a new document, which must not have left its first state yet; `settle` adds its lines."""
    return rows.insert(invoice)


def _insert_lines_call(billed: Billed, invoice: Invoice) -> Call:
    names = [one.attname for one in InvoiceLine._meta.concrete_fields]
    lines = [{name: _json(getattr(line, name)) for name in names} for line in billed.of[invoice.pk]]
    return rows.insert_all(InvoiceLine, lines)


def _json(value: Any) -> Any:
    return f"{value:f}" if isinstance(value, Decimal) else value


def _told(work: Work) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of the invoices, once their new versions stand in the rows; a managed supplier nothing."""
    order = work.billed.order
    found: dict[UUID, list[Occurrence]] = {order.tenant_id: []}
    if not work.billed.rules.is_managed:
        found[order.supplier_tenant_id] = []
    for one in work.news:
        row, given = one.invoice, _members(work.billed, one)
        kind = EVENTS[one.name]
        found[order.tenant_id].append(
            Occurrence(kind(**given, variance=_variance(work.billed, row)), row.pk, row.version)
        )
        if order.supplier_tenant_id in found:
            found[order.supplier_tenant_id].append(Occurrence(kind(**given), row.pk, row.shared_version))
    return found


def _members(billed: Billed, one: News) -> dict[str, Any]:
    row = one.invoice
    return {
        "supplier_id": str(row.supplier_tenant_id), "buyer_id": str(row.tenant_id), "purchase_order_id": str(row.order_id),
        "invoice_number": row.number, "order_number": row.order_number, "po_number": row.po_number,
        "document_type": str(row.type), "original_invoice_id": str(row.original_id) if row.original_id else None,
        "status": one.status, "was": one.was, "by": one.by, "reason": one.reason, "reason_code": one.reason_code,
        "currency": row.currency, "net": f"{row.net_total:f}", "gross": f"{row.gross_total:f}",
        "tax": None if row.tax_total is None else f"{row.tax_total:f}",
        "lines": [
            {
                "line_no": line.line_no, "product_id": str(line.product_id) if line.product_id else None,
                "category": line.category, "base_quantity": line.base_quantity, "net": f"{line.net:f}",
            }
            for line in billed.of[row.pk]
        ],
    }  # fmt: skip


def _variance(billed: Billed, row: Invoice) -> str | None:
    """Return how much more an invoice asks than the order's prices come to; of a credit note nothing."""
    if row.is_credit_note:
        return None
    over = sum(
        (line.price_variance or Decimal(0)) * line.base_quantity / (line.units_per_pack * line.price_base_quantity)
        for line in billed.of[row.pk]
    )
    return f"{Decimal(over):.4f}"


__all__ = ["PAYABLE", "News", "Settled", "Work", "insert_call", "settle"]
