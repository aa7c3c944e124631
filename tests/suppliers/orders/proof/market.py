"""A supplier and two hospitals that trade in three currencies, with limits of every kind, for walks through all actions.

What a walk reads of rows it reads past the interface, so that each step of it costs one request.
"""

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from core.clock import now, rfc3339
from core.db import tenant_context
from ledger.public import Event
from suppliers.deliveries.models import Delivery, DeliveryLine
from suppliers.deliveries.receipt_models import Receipt
from suppliers.deliveries.shipment_models import ShipmentDraft
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from tests.factories import Api, as_member
from tests.procurement.approvals.desk import Desk, Person
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, Trade, approver, price, ward
from tests.suppliers.agreements.world import PATH as AGREEMENTS
from tests.suppliers.deliveries.receiving.arrivals import place
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import Shelf
from tests.suppliers.orders.answers import ORDERS
from tests.suppliers.terms.test_promotions import put as put_promotion

CURRENCIES = ("EUR", "JPY", "KWD")  # of 2, 0 and 3 decimals
EXPIRY = date(2031, 1, 31)
DELIVERIES = "/v1/procurement/deliveries"
POLICIES: tuple[list[dict[str, Any]], ...] = (
    [],
    [{"over_amount": "60.00", "approvals": 1}],
    [{"over_amount": "30.00", "approvals": 1}, {"over_amount": "90.00", "approvals": 2}],
)
_PRICES = {
    "EUR": (("4.905", "4.555"), ("0.333333", "0.3"), ("1.99", "1.5")),
    "JPY": (("490", "455.5"), ("33.4", "30"), ("199", "150")),
    "KWD": (("1.4905", "1.25"), ("0.1115", "0.1"), ("0.6665", "0.5")),
}


@dataclass
class House:
    """One of the hospitals: its trade with the supplier, and its people."""

    trade: Trade
    desk: Desk
    people: list[Person]
    clerk: Api
    hall: str

    @property
    def id(self) -> Any:
        return self.trade.buyer.id

    def orders(self, *states: str) -> list[PurchaseOrder]:
        """Return the orders in some states, or all, in the order in which they were made."""
        with tenant_context(self.id):
            found = PurchaseOrder.objects.filter(tenant_id=self.id).order_by("created_at", "id")
            return [*(found.filter(status__in=states) if states else found)]

    def lines(self, order: Any) -> list[PurchaseOrderLine]:
        """Return the lines of an order."""
        with tenant_context(self.id):
            return [*PurchaseOrderLine.objects.filter(tenant_id=self.id, order_id=order).order_by("line_no")]

    def deliveries(self, *states: str) -> list[Delivery]:
        """Return the deliveries in some states."""
        with tenant_context(self.id):
            found = Delivery.objects.filter(tenant_id=self.id, status__in=states)
            return [*found.order_by("created_at", "id")]

    def goods(self, delivery: Any) -> list[DeliveryLine]:
        """Return the lines of a delivery."""
        with tenant_context(self.id):
            return [*DeliveryLine.objects.filter(tenant_id=self.id, delivery_id=delivery).order_by("line_no")]

    def receipts(self) -> list[Receipt]:
        """Return the receipts that are no reversals."""
        with tenant_context(self.id):
            found = Receipt.objects.filter(tenant_id=self.id, reverses=None)
            return [*found.order_by("created_at", "id")]


@dataclass
class Market:
    """The supplier, what it sells, and the hospitals."""

    shelf: Shelf
    products: list[dict[str, Any]]
    houses: list[House]
    depot: str
    stocked: dict[str, int] = field(default_factory=dict)

    def goods(self, currency: str) -> list[dict[str, Any]]:
        """Return what is sold in a currency: gloves, vials, masks."""
        first = 3 * CURRENCIES.index(currency)
        return self.products[first : first + 3]

    @property
    def sides(self) -> list[Any]:
        """Return all tenants."""
        return [self.shelf, *(one.trade.buyer for one in self.houses)]

    def drafts(self) -> list[ShipmentDraft]:
        """Return what the supplier prepares."""
        with tenant_context(self.shelf.id):
            found = ShipmentDraft.objects.filter(tenant_id=self.shelf.id, status="preparing")
            return [*found.order_by("created_at", "id")]

    def facts(self) -> list[int]:
        """Return how many facts each tenant was told."""
        counts = []
        for side in self.sides:
            with tenant_context(side.id):
                counts.append(Event.objects.filter(tenant_id=side.id).count())
        return counts

    def bring(self, which: int, quantity: int) -> Any:
        """Let goods come to the supplier's depot, by its own request."""
        product = self.products[which]
        lot = {"lot_number": f"L{quantity % 3}", "expiry_date": EXPIRY.isoformat()} if which % 3 == 1 else {}
        line = {
            "product_id": product["id"], "location_id": self.depot, "mode": "delta", "quantity": quantity,
            "reason_code": "receipt" if quantity > 0 else "correction", **lot,
        }  # fmt: skip
        return self.shelf.api.post("/v1/inventory/adjustments", json={"lines": [line]})

    def seller(self, order: Any, action: str = "", **body: Any) -> Any:
        """Ask for an action of the supplier."""
        return self.shelf.api.post(f"{ORDERS}/{order}/{action}", json=body)


def buy(house: House, order: Any, action: str, *, api: Api | None = None, **body: Any) -> Any:
    """Ask for an action of a hospital."""
    return (api or house.trade.api).post(f"{PATH}/{order}/{action}", json=body)


def receive(house: House, delivery: Any, *lines: dict[str, Any], **more: Any) -> Any:
    """Ask for a receipt in base units, or for a reversal."""
    body = more
    if lines:
        given = [{"unit": "base", **one} for one in lines]
        body = {"received_at": rfc3339(now()), "location_id": house.hall, "lines": given} | more
    return house.clerk.post(f"{DELIVERIES}/{delivery}/receipts", json=body)


def agree(trade: Trade, product: dict[str, Any], most: int) -> None:
    """Let both agree on a price in euros, for so many base units at most."""
    api = as_member(trade.buyer.tenant, ["buyer", "approver"])
    line = {
        "product_id": product["id"], "packaging_id": product["packagings"][0]["id"], "max_quantity": most,
        "tiers": [{"min_quantity": 1, "unit_price": "4.105"}],
    }  # fmt: skip
    body = {
        "title": "Gloves", "scope": "tenant", "currency": "EUR", "valid_from": "2026-01-01", "valid_to": "2199-01-01",
        "supplier_id": str(trade.shelf.id), "lines": [line],
    }  # fmt: skip
    made = api.post(AGREEMENTS, json=body)
    assert made.status_code == 201, made.content
    key = made.json()["data"]["id"]
    assert api.post(f"{AGREEMENTS}/{key}/propose").status_code == 200
    assert trade.shelf.api.post(f"{AGREEMENTS}/{key}/accept").status_code == 200


def _house(shelf: Shelf, products: list[dict[str, Any]]) -> House:
    buyer = shelves.buyer()
    made = Trade(shelf, buyer, ward(buyer), products[0], products[2])
    desk = Desk(made)
    for code in CURRENCIES:
        found = put_budget(approver(made), code.lower(), amount={"EUR": "600", "JPY": "60000", "KWD": "200"}[code],
                           currency=code)  # fmt: skip
        assert found.status_code == 201, found.content
    agree(made, products[0], 4_000)
    clerk = as_member(buyer.tenant, ["receiving_clerk"])
    return House(made, desk, [desk.person() for _ in range(3)], clerk, place(buyer)["location_id"])


def market() -> Market:
    """Make a supplier with gloves in boxes of 100, vials in lots and masks, and two hospitals with budgets and agreements."""
    shelf = shelves.shelf()
    shelf.settle(reservation_cap_percent=100)
    products: list[dict[str, Any]] = []
    for code in CURRENCIES:  # a packaging has one offer, so each currency has goods of its own
        made = [
            shelf.product(units=100), shelf.product(name="Vials", units=10, tracking="lot"), shelf.product(name="Masks"),
        ]  # fmt: skip
        for product, (dear, cheap) in zip(made, _PRICES[code], strict=True):
            shelf.offer(product, currency=code, tiers=price((1, dear), (20, cheap)))
        products += made
    for code in CURRENCIES:
        running = {"status": "active", "conditions": {"currencies": [code]}, "max_redemptions": 4}
        put = put_promotion(shelf.api, f"p-{code.lower()}", **running)
        assert put.status_code == 201, put.content
    depot = place(shelf, ["supplier_admin"])["location_id"]
    return Market(shelf, products, [_house(shelf, products) for _ in range(2)], depot)
