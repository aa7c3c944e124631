"""A hospital that sends goods back to their supplier, and short ways to do what both do with a return."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from suppliers.deliveries.models import DeliveryLine
from suppliers.inventory.models import StockLevel
from suppliers.orders.models import PurchaseOrderLine
from suppliers.returns.models import ReceivedReturn, Return, ReturnLine
from tests import factories
from tests.factories import Api
from tests.suppliers.deliveries.receiving import arrivals
from tests.suppliers.deliveries.receiving.arrivals import Dock

PATH = "/v1/procurement/returns"


@dataclass
class Back:
    """A dock with a delivery that was received, and the supplier's place of quarantine."""

    dock: Dock
    delivery: UUID
    apart: UUID

    @property
    def api(self) -> Api:
        """A buyer's client."""
        return self.dock.buyer.api  # type: ignore[no-any-return]

    @property
    def supplier(self) -> Api:
        """The supplier's client."""
        return self.dock.shelf.api  # type: ignore[no-any-return]

    def line(self, number: int = 0, delivery: UUID | None = None) -> DeliveryLine:
        """Return a line of the delivery."""
        return self.dock.lines(delivery or self.delivery)[number]

    def body(self, quantity: int = 10, *, delivery: UUID | None = None, line: int = 0, **more: Any) -> dict[str, Any]:
        """Return the body of a request for base units of one line."""
        header = {name: more.pop(name) for name in ("type", "resolution", "note", "file_ids") if name in more}
        key = str(self.line(line, delivery).id)
        given = {"delivery_line_id": key, "quantity": quantity, "unit": "base", "reason_code": "quality"}
        return {"delivery_id": str(delivery or self.delivery), "lines": [given | more]} | header

    def request(self, quantity: int = 10, **more: Any) -> dict[str, Any]:
        """Request a return."""
        return found(self.api.post(PATH, json=self.body(quantity, **more)), 201)

    def act(self, key: str, action: str, api: Api | None = None, **body: Any) -> Any:
        """Ask for an action, of the side that takes it unless a client is named."""
        by = api or (self.api if action in ("ship", "cancel") else self.supplier)
        return by.post(f"{PATH}/{key}/{action}", json=body)

    def done(self, key: str, action: str, **body: Any) -> dict[str, Any]:
        """Take an action."""
        return found(self.act(key, action, **body), 200)

    def brought(self, state: str, quantity: int = 10, **more: Any) -> dict[str, Any]:
        """Bring a return into a state."""
        one = self.request(quantity, **more)
        ways: dict[str, list[tuple[str, dict[str, Any]]]] = {
            "requested": [],
            "authorized": [("authorize", {})],
            "declined": [("authorize", {"decision": "declined", "reason": "Not ours"})],
            "cancelled": [("cancel", {})],
            "in_transit": [("authorize", {}), ("ship", {})],
        }
        ways["received"] = [*ways["in_transit"], ("receive", {"location_id": str(self.apart)})]
        ways["completed"] = [*ways["received"], ("inspect", {"lines": [("quarantine",)]})]
        for action, given in ways[state]:
            body = given if action != "inspect" else {"lines": [self.disposed(one, "quarantine")]}
            one = self.done(one["id"], action, **body)
        assert one["status"] == state
        return one

    def disposed(self, one: dict[str, Any], disposition: str, **more: Any) -> dict[str, Any]:
        """Return a line of an inspection of the first line of a return."""
        return {"return_line_id": one["lines"][0]["id"], "disposition": disposition, "unit": "base"} | more

    def read(self, key: str, api: Api | None = None) -> dict[str, Any]:
        """Read a return."""
        return found((api or self.api).get(f"{PATH}/{key}"), 200)

    def stored(self, key: str) -> tuple[Return, list[ReturnLine]]:
        """Return a return as stored with its lines; every rule holds on both sides, and its copy agrees."""
        self.sound()
        with tenant_context(self.dock.buyer.id):
            row = Return.objects.get(tenant_id=self.dock.buyer.id, pk=key)
            lines = list(ReturnLine.objects.filter(tenant_id=row.tenant_id, document_id=key).order_by("line_no"))
        with tenant_context(self.dock.shelf.id):
            copy = ReceivedReturn.objects.get(tenant_id=self.dock.shelf.id, pk=key)
        assert (copy.status, copy.version) == (row.status, row.shared_version)
        return row, lines

    def sound(self) -> None:
        """Require that every rule holds on both sides."""
        for side in (self.dock.buyer, self.dock.shelf):
            assert list(breaches(side.id)) == []

    def counted(self) -> tuple[int, int]:
        """Return what the line of the delivery, and that of its order, count as returned; every rule holds."""
        self.sound()
        line = self.line()
        with tenant_context(self.dock.buyer.id):
            ordered = PurchaseOrderLine.objects.get(tenant_id=self.dock.buyer.id, pk=line.order_line_id)
        return line.returned, ordered.returned

    def on_hand(self, side: Any, location_id: Any) -> int:
        """Return what a side has at a place."""
        with tenant_context(side.id):
            held = StockLevel.objects.filter(tenant_id=side.id, location_id=location_id)
            return sum(one.on_hand for one in held)

    def kept(self) -> tuple[int, int]:
        """Return what the buyer has on hand, and what the supplier has set apart."""
        buyer, shelf = self.dock.buyer, self.dock.shelf
        return self.on_hand(buyer, self.dock.place["location_id"]), self.on_hand(shelf, self.apart)

    def told(self, side: Any, key: str) -> list[tuple[str, str | None, str, str]]:
        """Return what a side was told of a return: type, state before and now, who acted."""
        with tenant_context(side.id):
            rows = Event.objects.filter(tenant_id=side.id, resource_id=key).order_by("occurred_at", "id")
            return [(one.type, one.data["was"], one.data["status"], one.data["by"]) for one in rows]


def found(answer: Any, status: int) -> dict[str, Any]:
    """Return the object of an answer."""
    assert answer.status_code == status, answer.content
    one: dict[str, Any] = answer.json()["data"]
    return one


def received(dock: Dock, units: int = 100, **line: Any) -> UUID:
    """Let the first line of a new order leave and be received whole; return the delivery."""
    delivery = dock.ship(dock.order(*line.pop("order", ())), {"units": units, "lot": "L1"} | line)
    dock.receive(delivery, {"accepted_quantity": units}, **({"temperature_ok": True} if line.get("cold") else {}))
    return delivery


def back() -> Back:
    """Make a supplier and a hospital that has received 100 of its vials."""
    dock = arrivals.dock()
    return Back(dock, received(dock), dock.shelf.place("Quarantine", sellable=False))


def clerk(one: Back, role: str) -> Api:
    """Return a client of a member of the buyer with a role."""
    return factories.as_member(one.dock.buyer.tenant, [role])
