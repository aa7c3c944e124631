"""A hospital with invoices that are released for payment, and short ways to pay them and to look at both sides."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django.db import transaction

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from core.invariants import breaches
from ledger.public import Event
from organizations.public import write_documents
from suppliers.invoices.models import INVOICES, Invoice, InvoiceLine
from suppliers.invoices.settling import Work
from suppliers.invoices.states import TERMINAL
from suppliers.orders.models import ORDERS, PurchaseOrder, PurchaseOrderLine
from suppliers.payments.models import Payment, ReceivedPayment
from tests import factories
from tests.factories import Api
from tests.procurement.purchasing import orders
from tests.procurement.purchasing.orders import Trade, submitted
from tests.suppliers.orders.answers import accepted

PATH = "/v1/procurement/payments"
Balance = tuple[str, str, str, str]


def plain(amount: Decimal) -> str:
    """Return an amount without zeros behind it."""
    return f"{amount.normalize():f}"


@dataclass
class Till:
    """A trade with an accepted order, and a client of a member of the buyer that pays."""

    trade: Trade
    order: UUID
    payer: Api

    @property
    def buyer(self) -> Any:
        return self.trade.buyer

    @property
    def shelf(self) -> Any:
        return self.trade.shelf

    def client(self) -> Api:
        """Return a further client of the member that pays, for a thread of its own."""
        api = Api()
        api.headers = self.payer.headers
        return api

    def invoice(
        self, gross: str = "100", *, currency: str = "EUR", status: str = "approved", due: date | None = None,
        order: UUID | None = None, place: UUID | None = None, supplier: UUID | None = None,
    ) -> str:  # fmt: skip
        """Make an invoice as a row, with its copy; return its id."""
        at, amount = now(), Decimal(gross)
        row = Invoice(
            id=uuid7(), tenant_id=self.buyer.id, number=f"INV-{factories.suffix()}", type="invoice",
            supplier_tenant_id=supplier or self.shelf.id, order_id=order or self.order, po_number="PO-1", order_number="SO-1",
            delivery_location_id=place or self.trade.ward, issue_date=at.date(), due_date=due, currency=currency,
            net_total=amount, tax_total=Decimal(0), gross_total=amount, lines_total=1, issued_at=at, created_at=at,
            updated_at=at,
        )  # fmt: skip
        for one in {"issued": []}.get(status, ["matched", status] if status != "matched" else ["matched"]):
            row.become(one)
        row.approved_at = at if status == "approved" else None
        row.ended_at = at if status == "rejected" else None
        with tenant_context(self.buyer.id), transaction.atomic():
            row.save(force_insert=True)
            self._bill(row, status)
            self._copy(row)
        return str(row.id)

    def _bill(self, row: Invoice, status: str) -> None:
        """Bill one unit of the first line of the order, so that all counters agree."""
        line = PurchaseOrderLine.objects.filter(tenant_id=self.buyer.id, order_id=row.order_id).order_by("line_no")[0]
        InvoiceLine.objects.create(
            tenant_id=self.buyer.id, invoice_id=row.id, line_no=1, order_line_id=line.id, order_line_no=1, name="Masks",
            base_unit="EA", unit="base", base_quantity=1, currency=row.currency, unit_price=row.net_total, net=row.net_total,
            tax_rate=Decimal(0), result="ok",
        )  # fmt: skip
        if status not in TERMINAL:
            line.invoiced += 1
            line.save_version("invoiced", at=now())
            order = PurchaseOrder.objects.get(tenant_id=self.buyer.id, pk=row.order_id)
            order.billing_status = "invoiced" if line.invoiced == line.ordered else "partially_invoiced"
            order.shared_version += 1
            order.save_version("billing_status", "shared_version", at=now())

    def _copy(self, row: Invoice) -> None:
        """Write the supplier's copy."""
        write_documents(
            system_actor(self.buyer.id),
            self.buyer.id,
            [(INVOICES, row.id), (ORDERS, row.order_id)],
            [],
            told={},
            at=now(),
        )

    def credit(self, key: str, amount: str) -> None:
        """Credit a part of the price of an invoice, as a credit note does."""
        at, off = now(), Decimal(amount)
        with tenant_context(self.buyer.id), transaction.atomic():
            order = Invoice.objects.filter(tenant_id=self.buyer.id, pk=key).values_list("order_id", flat=True)[0]
            PurchaseOrder.objects.select_for_update().get(tenant_id=self.buyer.id, pk=order)  # before its invoices
            row = Invoice.objects.select_for_update().get(tenant_id=self.buyer.id, pk=key)
            line = InvoiceLine.objects.get(tenant_id=self.buyer.id, invoice_id=key)
            row.credited_total += off
            line.credited_net += off
            Work(cast("Any", None), at).pay_off(row, by="supplier")
            row.shared_version += 1
            row.save_version("credited_total", "status", "paid_at", "shared_version", at=at)
            line.save_version("credited_net", at=at)
            note = self._note(row, line, off, at)
            self._copy(row)
            self._copy(note)

    def _note(self, row: Invoice, line: InvoiceLine, off: Decimal, at: datetime) -> Invoice:
        """Make a credit note of one line that takes no units back."""
        note = Invoice(
            id=uuid7(), tenant_id=self.buyer.id, number=f"CN-{factories.suffix()}", type="credit_note", original_id=row.id,
            supplier_tenant_id=row.supplier_tenant_id, order_id=row.order_id, po_number="PO-1", order_number="SO-1",
            delivery_location_id=row.delivery_location_id, issue_date=at.date(), currency=row.currency, net_total=off,
            tax_total=Decimal(0), gross_total=off, lines_total=1, issued_at=at, created_at=at, updated_at=at,
        )  # fmt: skip
        note.save(force_insert=True)
        InvoiceLine.objects.create(
            tenant_id=self.buyer.id, invoice_id=note.id, line_no=1, order_line_id=line.order_line_id, order_line_no=1,
            name="Masks", base_unit="EA", unit="base", base_quantity=1, currency=row.currency, unit_price=off, net=off,
            tax_rate=Decimal(0), frees=False,
        )  # fmt: skip
        return note

    def body(self, *parts: tuple[str, str], sources: Any = (), **changes: Any) -> dict[str, Any]:
        """Return the body of a payment of invoices by amounts."""
        return {
            "supplier_id": str(self.shelf.id), "currency": "EUR",
            "amount": plain(sum((Decimal(amount) for _, amount in parts), Decimal(0))),
            "allocations": [{"invoice_id": key, "amount": amount} for key, amount in parts],
        } | ({"method": "offset", "credit_sources": [{"invoice_id": key, "amount": one} for key, one in sources]}
             if sources else {}) | changes  # fmt: skip

    def post(self, *parts: tuple[str, str], api: Api | None = None, **changes: Any) -> Any:
        """Ask for a payment."""
        return (api or self.payer).post(PATH, json=self.body(*parts, **changes))

    def pay(self, *parts: tuple[str, str], **changes: Any) -> dict[str, Any]:
        """Create a payment; return it as its buyer reads it."""
        answer = self.post(*parts, **changes)
        assert answer.status_code == 201, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def confirm(self, key: str, status: str, *, api: Api | None = None, **body: Any) -> Any:
        """Ask for a confirmation, or a cancellation."""
        action, given = ("cancel", body) if status == "cancel" else ("confirm", {"status": status} | body)
        return (api or self.payer).post(f"{PATH}/{key}/{action}", json=given)

    def settled(self, key: str, *outcomes: str) -> None:
        """Confirm outcomes, one after the other."""
        for one in outcomes:
            answer = self.confirm(key, one)
            assert answer.status_code == 200, answer.content

    def paid(self, *parts: tuple[str, str], **changes: Any) -> dict[str, Any]:
        """Create a payment that succeeds."""
        made = self.pay(*parts, **changes)
        self.settled(made["id"], "succeeded")
        return made

    def balance(self, key: str) -> Balance:
        """Return of an invoice: status, held, paid, balance due."""
        with tenant_context(self.buyer.id):
            row = Invoice.objects.get(tenant_id=self.buyer.id, pk=key)
        return str(row.status), plain(row.held_total), plain(row.paid_total), plain(row.balance_due)

    def billing(self, order: UUID | None = None) -> str:
        """Return how far the bills of the order are."""
        with tenant_context(self.buyer.id):
            return str(PurchaseOrder.objects.get(tenant_id=self.buyer.id, pk=order or self.order).billing_status)

    def stored(self) -> list[tuple[str, int]]:
        """Return the payments as stored: status and version; each has its copy, and every rule holds on both sides."""
        assert [*breaches(self.buyer.id), *breaches(self.shelf.id)] == []
        with tenant_context(self.buyer.id):
            own = [*Payment.objects.filter(tenant_id=self.buyer.id).order_by("created_at", "id")]
        with tenant_context(self.shelf.id):
            copies = [*ReceivedPayment.objects.filter(tenant_id=self.shelf.id).order_by("received_at", "id")]
        assert [(row.id, row.status, row.shared_version) for row in own] == [
            (row.id, row.status, row.version) for row in copies
        ]
        return [(str(row.status), row.version) for row in own]

    def facts(self, tenant: Any, *of: str) -> list[tuple[str, str]]:
        """Return what a party was told: type, state."""
        with tenant_context(tenant.id):
            rows = Event.objects.filter(tenant_id=tenant.id, resource_type__in=of or ("payment", "invoice"))
            return [(row.type, row.data["status"]) for row in rows.order_by("occurred_at", "id")]


def read(api: Api, key: str, query: str = "") -> dict[str, Any]:
    """Read a payment."""
    answer = api.get(f"{PATH}/{key}{query}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def till() -> Till:
    """Make a trade with an accepted order, and a member of the buyer that pays."""
    trade = orders.trade()
    trade.shelf.stock(trade.masks, 1_000)
    order = submitted(trade, (trade.masks, 990))["id"]
    accepted(trade, order)
    return Till(trade, UUID(order), factories.as_member(trade.buyer.tenant, ["finance"]))
