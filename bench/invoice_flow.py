"""The course of invoices in `./dev bench invoice`: issued for what was received, matched, released and paid, of one line and of fifty."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from . import workload
from .order_flow import LINES
from .prescriptions_report import Taken

if TYPE_CHECKING:
    from .invoice import Bench
    from .supply import Work

_INVOICES, _PAYMENTS = "/v1/procurement/invoices", "/v1/procurement/payments"
_TO_BILL: Final = """
SELECT o.id::text, json_agg(json_build_object('order_line_id', l.id, 'quantity', l.received, 'unit', 'base',
  'unit_price', trim_scale(l.unit_price)::text, 'price_base_quantity', l.price_base_quantity) ORDER BY l.line_no)
FROM suppliers_purchaseorder o JOIN suppliers_purchaseorderline l ON l.tenant_id = o.tenant_id AND l.order_id = o.id
WHERE o.tenant_id = ANY(%(buyers)s::uuid[]) AND o.supplier_tenant_id = %(supplier)s AND o.lines_total = %(lines)s
  AND o.status = 'accepted' AND o.fulfilment_status = 'received' AND o.billing_status = 'not_invoiced'
  AND o.created_at >= %(since)s GROUP BY 1 ORDER BY 1
"""
_BILLED: Final = """
SELECT i.tenant_id::text, i.id::text, trim_scale(i.gross_total)::text FROM suppliers_invoice i
WHERE i.tenant_id = ANY(%(buyers)s::uuid[]) AND i.supplier_tenant_id = %(supplier)s AND i.lines_total = %(lines)s
  AND i.status = %(status)s AND i.held_total = 0 AND i.issued_at >= %(since)s ORDER BY i.id
"""
_PENDING: Final = """
SELECT p.tenant_id::text, p.id::text FROM suppliers_payment p
WHERE p.tenant_id = ANY(%(buyers)s::uuid[]) AND p.supplier_tenant_id = %(supplier)s AND p.status = 'pending'
  AND p.created_at >= %(since)s AND EXISTS (SELECT 1 FROM suppliers_paymentallocation a
    JOIN suppliers_invoice i ON i.tenant_id = a.tenant_id AND i.id = a.invoice_id
    WHERE a.tenant_id = p.tenant_id AND a.payment_id = p.id AND i.lines_total = %(lines)s) ORDER BY p.id
"""
Asked = tuple[dict[str, Any], str, dict[str, Any]]  # who asks, where, and for what


class Money:
    """Takes the orders that a flow has brought to their receipt to the last cent. Of each step one is left to count its trips."""

    def __init__(self, bench: "Bench") -> None:
        self.bench, self.flow = bench, bench.flow

    def arrive(self) -> None:
        """Let orders of this round come to their receipts; nothing is measured."""
        with self.bench.longer(4):
            for lines in LINES:
                self.flow.draft(lines)
                self.flow.submit(lines)
                self.flow.accept(lines)
                self.flow.goods.ship(lines)
                self.flow.goods.receive(lines)

    def works(self) -> dict[str, "Work"]:
        """What is measured, each upon what the one before has left."""
        found: dict[str, Work] = {}
        for lines in LINES:
            name = self.flow.named(lines)
            found[f"issue, {name}, without its copy"] = partial(self.issue, lines, port=self.bench.copyless)
            found[f"issue, {name}"] = partial(self.issue, lines)
            for step in (self.matches, self.approvals, self.payments, self.confirmations):
                found[f"{_WORDS[step.__name__]}, {name}"] = partial(self.take, step, lines)
        return found

    def samples(self) -> dict[str, dict[str, Any]]:
        """One request of each work, whose trips are counted and which is not carried out."""
        found: dict[str, dict[str, Any]] = {}
        for lines in LINES:
            name = self.flow.named(lines)
            found[f"issue, {name}"] = self._sample(next(self.bills(lines)), 201)
            for step in (self.matches, self.approvals, self.payments, self.confirmations):
                status = 201 if step == self.payments else 200
                found[f"{_WORDS[step.__name__]}, {name}"] = self._sample(next(step(lines)), status)
        return found

    @staticmethod
    def _sample(asked: Asked, status: int) -> dict[str, Any]:
        caller, path, body = asked
        return {**caller, "method": "POST", "path": path, "status": status, "body": body}

    # -- requests ------------------------------------------------------------------------------------------------------

    def bills(self, lines: int) -> Iterator[Asked]:
        """Invoices of what was received in this round and is not billed."""
        day = self.bench.today()
        large = self.bench.world["suppliers"][0]
        for key, held in self._rows(_TO_BILL, lines):
            body = {"invoice_number": f"B-{key}", "issue_date": day, "lines": held}
            yield large, f"/v1/orders/{key}/invoices", body

    def matches(self, lines: int) -> Iterator[Asked]:
        """Invoices that are held against order and receipts again."""
        for payer, key, _ in self._billed(lines, "matched"):
            yield payer, f"{_INVOICES}/{key}/match", {}

    def approvals(self, lines: int) -> Iterator[Asked]:
        """Invoices that match and are released."""
        for payer, key, _ in self._billed(lines, "matched"):
            yield payer, f"{_INVOICES}/{key}/approve", {}

    def payments(self, lines: int) -> Iterator[Asked]:
        """Payments of one released invoice each."""
        supplier = self.bench.large["tenant"]
        for payer, key, gross in self._billed(lines, "approved"):
            part = {"invoice_id": key, "amount": gross}
            yield (
                payer,
                _PAYMENTS,
                {"supplier_id": supplier, "amount": gross, "currency": "EUR", "allocations": [part]},
            )

    def confirmations(self, lines: int) -> Iterator[Asked]:
        """Payments that the bank has made."""
        payers = self._payers()
        for tenant, key in self._rows(_PENDING, lines):
            yield payers[tenant], f"{_PAYMENTS}/{key}/confirm", {"status": "succeeded"}

    # -- measurements --------------------------------------------------------------------------------------------------

    def issue(self, lines: int, *, port: int = 0) -> Taken:
        """Issue invoices at the one supplier: of half of what came, or of all that is left but one."""
        found = [*self.bills(lines)]
        chosen = found[: len(found) // 2] if port else found[:-1]
        return self._sent(chosen, 201, port=port)

    def take(self, step: Any, lines: int) -> Taken:
        """Take a step with all that are ready for it but one."""
        found = [*step(lines)][:-1]
        return self._sent(found, 201 if step == self.payments else 200)

    def _sent(self, asked: list[Asked], status: int, *, port: int = 0) -> Taken:
        requests = [workload.post(*one) for one in asked]
        return self.bench.http(requests, status, once=True, port=port)

    def _billed(self, lines: int, status: str) -> Iterator[tuple[dict[str, Any], str, str]]:
        payers = self._payers()
        for tenant, key, gross in self._rows(_BILLED, lines, status=status):
            yield payers[tenant], key, gross

    def _payers(self) -> dict[str, dict[str, Any]]:
        return {one["tenant"]: {"tenant": one["tenant"], "token": one["payer"]} for one in self.bench.buyers}

    def _rows(self, sql: str, lines: int, **more: Any) -> list[tuple[Any, ...]]:
        return self.flow.rows(sql, lines, **more)


_WORDS: Final = {"matches": "match", "approvals": "approve", "payments": "pay", "confirmations": "confirm"}
