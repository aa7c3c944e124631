"""A hospital that orders of a supplier with a shelf: short ways to make and read orders."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from organizations.models import Location
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from tests import factories
from tests.factories import Api
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import Buyer, Shelf

PATH = "/v1/purchase-orders"


@dataclass
class Trade:
    """A supplier with two products on offer, and a buyer with a ward."""

    shelf: Shelf
    buyer: Buyer
    ward: UUID
    gloves: dict[str, Any] = field(default_factory=dict)
    masks: dict[str, Any] = field(default_factory=dict)

    @property
    def api(self) -> Api:
        return self.buyer.api

    def body(self, *lines: Any, **changes: Any) -> dict[str, Any]:
        """Return the body of an order; a line is a product with a quantity, or a mapping."""
        given = [
            one if isinstance(one, dict) else {"product_id": one[0]["id"], "quantity": one[1]}
            for one in lines or [(self.gloves, 10)]
        ]
        return {
            "supplier_id": str(self.shelf.id), "currency": "EUR", "delivery_location_id": str(self.ward), "lines": given,
        } | changes  # fmt: skip

    def draft(self, *lines: Any, **changes: Any) -> dict[str, Any]:
        """Create a draft."""
        answer = self.api.post(PATH, json=self.body(*lines, **changes))
        assert answer.status_code == 201, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def read(self, key: str, query: str = "") -> dict[str, Any]:
        """Read one order."""
        answer = self.api.get(f"{PATH}/{key}{query}")
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def stored(self) -> list[tuple[str, int, int, str]]:
        """Return the orders as stored: status, revision, version, net; and every rule holds."""
        assert list(breaches(self.buyer.id)) == []
        assert list(breaches(self.shelf.id)) == []
        with tenant_context(self.buyer.id):
            rows = PurchaseOrder.objects.filter(tenant_id=self.buyer.id).order_by("created_at", "id")
            return [(row.status, row.revision, row.version, str(row.net.normalize())) for row in rows]

    def lines(self) -> list[tuple[int, int, str]]:
        """Return the stored lines: number, base units, net."""
        with tenant_context(self.buyer.id):
            rows = PurchaseOrderLine.objects.filter(tenant_id=self.buyer.id).order_by("order__created_at", "line_no")
            return [(row.line_no, row.ordered, str(row.net.normalize())) for row in rows]

    def facts(self, tenant: Any = None) -> list[tuple[str, int | None, dict[str, Any]]]:
        """Return what a party was told of orders: type, version, payload."""
        tenant_id = tenant.id if tenant else self.buyer.id
        with tenant_context(tenant_id):
            rows = Event.objects.filter(tenant_id=tenant_id, resource_type__in=["purchase_order", "order"])
            return [(row.type, row.resource_version, row.data) for row in rows.order_by("occurred_at", "id")]


def ward(buyer: Buyer, name: str = "Ward 3", *, parent: UUID | None = None, **more: Any) -> UUID:
    """Make a location of a buyer in Germany."""
    with tenant_context(buyer.id):
        row = Location.objects.create(
            tenant_id=buyer.id,
            name=name,
            type="ward",
            parent_id=parent,
            address={"country": "DE", "city": "Bonn"},
            **more,
        )
    return row.id


def price(*tiers: tuple[int, str]) -> list[dict[str, Any]]:
    """Return tiers of an offer."""
    return [{"min_quantity": least, "unit_price": text} for least, text in tiers]


def trade() -> Trade:
    """Make a supplier that sells gloves in boxes of 100 and masks, and a buyer."""
    shelf, buyer = shelves.shelf(), shelves.buyer()
    made = Trade(shelf, buyer, ward(buyer))
    made.gloves, made.masks = shelf.product(units=100), shelf.product(name="Masks")
    shelf.offer(made.gloves, currency="EUR", tiers=price((1, "4.90"), (50, "4.55")))
    shelf.offer(made.masks, currency="EUR", tiers=price((1, "0.333333")))
    return made


def approver(one: Trade) -> Api:
    """Return a client of a member that approves."""
    return factories.as_member(one.buyer.tenant, ["approver"])


def act(trade: Trade, key: str, action: str, **body: Any) -> Any:
    """Ask for an action of the buyer."""
    return trade.api.post(f"{PATH}/{key}/{action}", json=body)


def submitted(trade: Trade, *lines: Any, **changes: Any) -> dict[str, Any]:
    """Create a draft and submit it; return the order."""
    answer = act(trade, trade.draft(*lines, **changes)["id"], "submit")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found
