"""A hospital with deliveries and bills of a supplier, and short ways to write them and to look at both sides."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from suppliers.invoices.models import Invoice, InvoiceLine, ReceivedInvoice
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from tests import factories
from tests.factories import Api
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.deliveries.receiving.arrivals import Dock

PATH = "/v1/procurement/invoices"
ISSUED = "2026-11-02"


@dataclass
class Desk:
    """A dock with members of the buyer who settle invoices, and one who releases them."""

    dock: Dock
    clerk: Api
    approver: Api

    @property
    def supplier(self) -> Api:
        api: Api = self.dock.shelf.api
        return api

    def clerk_of(self, *roles: str) -> Api:
        """Return a client of a further member of the buyer."""
        return factories.as_member(self.dock.buyer.tenant, list(roles))

    def ordered(self, *lines: Any) -> dict[str, Any]:
        """Order, accepted; by default 10 packs of 10 vials."""
        order = self.dock.order(*lines)
        found: dict[str, Any] = self.dock.trade.read(order["id"])
        return found

    def ship(self, order: dict[str, Any], units: int, *, line: int = 1) -> UUID:
        """Let goods of a line leave, in base units."""
        return self.dock.ship(order, {"line": line, "units": units, "lot": "L1"})

    def receive(self, delivery: UUID, units: int) -> dict[str, Any]:
        """Accept goods, in base units."""
        return self.dock.receive(delivery, {"accepted_quantity": units})

    def arrived(self, units: int = 100, *lines: Any) -> dict[str, Any]:
        """Order, ship and receive; return the order."""
        order = self.ordered(*lines)
        self.receive(self.ship(order, units), units)
        return order

    def line(self, order: dict[str, Any], number: int, units: int, **more: Any) -> dict[str, Any]:
        """Return a line of a body at the ordered price."""
        of = order["lines"][number - 1]
        price = {
            "unit_price": of["snapshot"]["unit_price"],
            "price_base_quantity": of["snapshot"]["price_base_quantity"],
        }
        return {"order_line_id": of["id"], "quantity": units, "unit": "base"} | price | more

    def body(self, order: dict[str, Any], *lines: Any, **more: Any) -> dict[str, Any]:
        """Return the body of an invoice: lines are base units of the first line, or mappings."""
        given = [self.line(order, 1, one) if isinstance(one, int) else one for one in lines]
        return {"invoice_number": f"INV-{factories.suffix()}", "issue_date": ISSUED, "lines": given} | more

    def post(self, order: dict[str, Any], *lines: Any, api: Api | None = None, **more: Any) -> Any:
        """Ask for an invoice."""
        return (api or self.supplier).post(f"/v1/orders/{order['id']}/invoices", json=self.body(order, *lines, **more))

    def issue(self, order: dict[str, Any], *lines: Any, **more: Any) -> dict[str, Any]:
        """Issue an invoice; return it as its supplier reads it."""
        answer = self.post(order, *lines, **more)
        assert answer.status_code == 201, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def credit(self, order: dict[str, Any], invoice: dict[str, Any], *lines: Any, **more: Any) -> dict[str, Any]:
        """Issue a credit note."""
        return self.issue(order, *lines, type="credit_note", original_invoice_id=invoice["id"], **more)

    def act(self, invoice: dict[str, Any], action: str, *, api: Api | None = None, **body: Any) -> Any:
        """Ask for an action on an invoice."""
        usual = {"approve": self.approver, "cancel": self.supplier}.get(action, self.clerk)
        return (api or usual).post(f"{PATH}/{invoice['id']}/{action}", json=body)

    def did(self, invoice: dict[str, Any], action: str, **more: Any) -> dict[str, Any]:
        """Take an action; return the invoice as whoever acted reads it."""
        answer = self.act(invoice, action, **more)
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def read(self, invoice: dict[str, Any], *, api: Api | None = None, query: str = "") -> dict[str, Any]:
        """Read an invoice, by default as its buyer."""
        answer = (api or self.clerk).get(f"{PATH}/{invoice['id']}{query}")
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def policies(self, **values: Any) -> None:
        """Let the buyer have policies."""
        answer = factories.as_member(self.dock.buyer.tenant).patch(
            f"/v1/tenants/{self.dock.buyer.id}/configuration", json={"policies": values}
        )
        assert answer.status_code == 200, answer.content

    def stored(self) -> list[tuple[str, str]]:
        """Return type and state of all documents, which each have a copy alike; and every rule holds on both sides."""
        for side in (self.dock.buyer, self.dock.shelf):
            assert list(breaches(side.id)) == []
        with tenant_context(self.dock.buyer.id):
            own = [*Invoice.objects.filter(tenant_id=self.dock.buyer.id).order_by("issued_at", "id")]
        with tenant_context(self.dock.shelf.id):
            copies = [*ReceivedInvoice.objects.filter(tenant_id=self.dock.shelf.id).order_by("received_at", "id")]
        assert [(one.id, one.status, one.shared_version) for one in own] == [
            (one.id, one.status, one.version) for one in copies
        ]
        return [(one.type, str(one.status)) for one in own]

    def results(self, invoice: dict[str, Any]) -> list[str]:
        """Return the results of the lines of an invoice."""
        with tenant_context(self.dock.buyer.id):
            found = InvoiceLine.objects.filter(tenant_id=self.dock.buyer.id, invoice_id=invoice["id"])
            return [one.result for one in found.order_by("line_no")]

    def billing(self, order: dict[str, Any]) -> tuple[str, str, list[int]]:
        """Return state and bills of an order, and how many base units of its lines are invoiced."""
        with tenant_context(self.dock.buyer.id):
            row = PurchaseOrder.objects.get(tenant_id=self.dock.buyer.id, pk=order["id"])
            lines = PurchaseOrderLine.objects.filter(tenant_id=self.dock.buyer.id, order=row).order_by("line_no")
            return str(row.status), row.billing_status, [one.invoiced for one in lines]

    def facts(self, side: Any, invoice: dict[str, Any]) -> list[tuple[str, str | None, str, str]]:
        """Return what a side was told of a document: type, state before and behind, who acted."""
        with tenant_context(side.id):
            held = Event.objects.filter(tenant_id=side.id, resource_id=invoice["id"]).order_by("occurred_at", "id")
            return [(one.type, one.data["was"], one.data["status"], one.data["by"]) for one in held]


def desk() -> Desk:
    """Make a supplier and a hospital."""
    dock = arrivals.dock()
    members = [factories.as_member(dock.buyer.tenant, ["finance"]) for _ in range(2)]
    return Desk(dock, *members)
