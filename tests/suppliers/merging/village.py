"""A village shop that only one hospital knows: what was bought of it, and short ways to merge it into a supplier on the platform."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from core.actor import system_actor
from core.clock import now, rfc3339
from core.db import tenant_context
from core.invariants import breaches
from suppliers.merging.actions import merge_supplier
from suppliers.merging.survey import Survey, survey
from suppliers.relationships.models import ManagedSupplier
from tests import factories
from tests.suppliers.invoices.bills import PATH as INVOICES
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.notifications.test_messages import a_file
from tests.suppliers.payments.tills import PATH as PAYMENTS
from tests.suppliers.returns.backs import PATH as RETURNS

ORDERS = "/v1/purchase-orders"


@dataclass
class Village:
    """The hospital's desk, the shop that it describes, and the documents by a name of their own."""

    desk: Desk
    id: UUID
    made: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def buyer(self) -> Any:
        return self.desk.dock.buyer

    @property
    def real(self) -> Any:
        """The supplier on the platform."""
        return self.desk.dock.shelf

    def draft(self, quantity: int = 10, **more: Any) -> dict[str, Any]:
        """Write down an order of curtains."""
        line = {"description": "Curtains", "quantity": quantity, "unit_price": "12.50", "own_code": None}
        del line["own_code"]
        found: dict[str, Any] = self.desk.dock.trade.draft(line, supplier_id=str(self.id), **more)
        return found

    def order(self, quantity: int = 10, **more: Any) -> dict[str, Any]:
        """Order curtains, which the shop accepts by being sent the order."""
        answer = self.desk.dock.trade.api.post(f"{ORDERS}/{self.draft(quantity, **more)['id']}/submit", json={})
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def asked_receipt(self, order: dict[str, Any], units: int, api: Any = None, **line: Any) -> Any:
        """Ask for a receipt of the first line of an order."""
        given = {"order_line_id": order["lines"][0]["id"], "accepted_quantity": units} | line
        body = {"received_at": rfc3339(now()), "location_id": self.desk.dock.place["id"], "lines": [given]}
        return (api or self.desk.dock.clerk).post(f"{ORDERS}/{order['id']}/receipts", json=body)

    def receive(self, order: dict[str, Any], units: int, **line: Any) -> dict[str, Any]:
        """Receive goods of the first line of an order."""
        return found(self.asked_receipt(order, units, **line), 201)

    def bill(self, order: dict[str, Any], units: int, **more: Any) -> dict[str, Any]:
        """Record an invoice."""
        body = self.desk.body(order, units, purchase_order_id=order["id"], **more)
        return found(self.desk.clerk.post(INVOICES, json=body), 201)

    def pay(self, invoice: dict[str, Any]) -> dict[str, Any]:
        """Release and pay an invoice."""
        self.desk.did(invoice, "approve")
        allocations = [{"invoice_id": invoice["id"], "amount": invoice["gross_total"]}]
        body = {
            "supplier_id": str(self.id), "amount": invoice["gross_total"], "currency": "EUR", "method": "check",
            "allocations": allocations,
        }  # fmt: skip
        paid = found(self.desk.clerk.post(PAYMENTS, json=body), 201)
        return found(self.desk.clerk.post(f"{PAYMENTS}/{paid['id']}/confirm", json={"status": "succeeded"}), 200)

    def send_back(self, delivery: str, units: int = 1) -> dict[str, Any]:
        """Request a return."""
        key = str(self.desk.dock.lines(UUID(delivery))[0].id)
        line = {"delivery_line_id": key, "quantity": units, "unit": "base", "reason_code": "quality"}
        return found(self.buyer.api.post(RETURNS, json={"delivery_id": delivery, "lines": [line]}), 201)

    def live(self) -> None:
        """Order, receive, bill, pay and send back, and leave some of it open."""
        paper = a_file(self.buyer.tenant)
        self.made["open"] = self.order(file_ids=[a_file(self.buyer.tenant)])
        self.made["receipt"] = self.receive(self.made["open"], 6, lot_number="M1", file_ids=[a_file(self.buyer.tenant)])
        self.made["invoice"] = self.bill(self.made["open"], 6, invoice_number="2026-1", file_ids=[paper])
        self.made["payment"] = self.pay(self.made["invoice"])
        self.made["return"] = self.send_back(self.made["receipt"]["delivery_id"])
        self.made["fresh"] = self.order(20)
        self.made["cancelled"] = self.order(2)
        self.did("cancelled", "cancel", reason="No need")
        self.made["draft"] = self.draft(3)

    def did(self, name: str, action: str, **body: Any) -> dict[str, Any]:
        """Take an action on an order."""
        return found(self.desk.dock.trade.api.post(f"{ORDERS}/{self.made[name]['id']}/{action}", json=body), 200)

    def row(self) -> ManagedSupplier:
        """Return the shop as the hospital describes it; the hospital is bound."""
        return ManagedSupplier.objects.get(tenant_id=self.buyer.id, supplier_id=self.id)

    def survey(self, into: UUID | None = None) -> Survey:
        """Look at what a merge would do."""
        with tenant_context(self.buyer.id):
            return survey(system_actor(self.buyer.id), self.row(), into or self.real.id)

    def merge(self, into: UUID | None = None) -> Survey:
        """Merge the shop."""
        with tenant_context(self.buyer.id):
            return merge_supplier(system_actor(self.buyer.id), self.row(), into or self.real.id, now())

    def sound(self) -> None:
        """Require that every rule holds on all sides."""
        for tenant_id in (self.buyer.id, self.real.id, self.id):
            assert list(breaches(tenant_id)) == []


def found(answer: Any, status: int) -> dict[str, Any]:
    """Return the object of an answer."""
    assert answer.status_code == status, answer.content
    one: dict[str, Any] = answer.json()["data"]
    return one


def village(desk: Desk, **more: Any) -> Village:
    """Describe a shop."""
    given = {"legal_name": f"Corner shop {factories.suffix()}", "country": "DE", "currencies": ["EUR"]} | more
    made = found(factories.as_member(desk.dock.buyer.tenant, ["buyer"]).post("/v1/suppliers", json=given), 201)
    return Village(desk, UUID(made["id"]))
