"""What two tenants share, from an order to a payment and a return, and what else a path may name, each with a canary."""

from dataclasses import dataclass
from typing import Any

from core.db import tenant_context
from organizations.models import Job
from tests import factories
from tests.factories import Api
from tests.procurement.purchasing import orders
from tests.suppliers.catalog.test_categories_create import GLOVES
from tests.suppliers.deliveries.receiving.arrivals import place
from tests.suppliers.inventory.shelf import Buyer, Shelf

AT = "2026-11-01T08:00:00Z"
BILLS, PAYMENTS, RETURNS = (f"/v1/procurement/{one}" for one in ("invoices", "payments", "returns"))
DELIVERIES = "/v1/procurement/deliveries"


def both_ways(world: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Let the world buy of one tenant and sell to another; return the ids of what it owns, and of what it received."""
    from tests.security.worlds import EVERYTHING

    seller = factories.provision("supplier", name=f"Seller {factories.suffix()}")
    buyer = factories.provision("provider", name=f"Buyer {factories.suffix()}")
    partners = [factories.as_member(one, EVERYTHING) for one in (seller, buyer)]
    own = Story(Shelf(seller, partners[0]), Buyer(world.tenant, world.api), world.canary).told()
    received = Story(Shelf(world.tenant, world.api), Buyer(buyer, partners[1]), world.canary).told()
    return own | _apart(world, seller), received


@dataclass
class Story:
    """A supplier and a buyer that trade once; every text holds the canary."""

    shelf: Shelf
    buyer: Buyer
    canary: str

    def told(self) -> dict[str, str]:
        """Order, deliver, receive, invoice, pay and send back; return the ids by what a path names with them."""
        order, line = self._order()
        delivery, delivered = self._delivery(order, line)
        invoice = self._invoice(order, line)
        found = {"orders": order, "order": order, "purchase-orders": order, "item_id": line, "invoices": invoice}
        found |= {"deliveries": delivery, "shipments": delivery}
        return found | {"payments": self._payment(invoice), "returns": self._return(delivery, delivered)}

    def _order(self) -> tuple[str, str]:
        product = self.shelf.product(name=f"Masks {self.canary}")
        self.shelf.stock(product, 100)
        self.shelf.offer(product, to=[self.buyer], currency="EUR", tiers=orders.price((1, "4.90")))
        given = {
            "supplier_id": str(self.shelf.id), "currency": "EUR", "lines": [{"product_id": product["id"], "quantity": 10}],
            "delivery_location_id": str(orders.ward(self.buyer, f"Ward {self.canary}")), "internal_note": self.canary,
            "notes_to_supplier": self.canary,
        }  # fmt: skip
        order = made(self.buyer.api.post(orders.PATH, json=given))["id"]
        done(self.buyer.api.post(f"{orders.PATH}/{order}/submit", json={}))
        accepted = done(self.shelf.api.post(f"/v1/orders/{order}/accept", json={}))
        for api, text in ((self.buyer.api, "Ring"), (self.shelf.api, "Rang")):
            message = {"resource": {"type": "order", "id": order}, "body": f"{text} {self.canary}"}
            made(api.post("/v1/notifications", json=message))
        return order, accepted["items"][0]["id"]

    def _delivery(self, order: str, line: str) -> tuple[str, str]:
        given = {
            "from_location_id": str(self.shelf.places["hall"]), "dispatched_at": AT, "picking_notes": self.canary,
            "tracking_number": self.canary, "lines": [{"order_line_id": line, "quantity": 10}],
        }  # fmt: skip
        delivery = made(self.shelf.api.post(f"/v1/orders/{order}/shipments", json=given))["id"]
        delivered = done(self.buyer.api.get(f"{DELIVERIES}/{delivery}"))["lines"][0]["id"]
        hall = place(self.buyer, name=f"Hall {self.canary}")["location_id"]
        arrived = {"delivery_line_id": delivered, "accepted_quantity": 10}
        receipt = {"received_at": "2026-11-02T08:00:00Z", "location_id": hall, "lines": [arrived]}
        made(self.buyer.api.post(f"{DELIVERIES}/{delivery}/receipts", json=receipt))
        return delivery, delivered

    def _invoice(self, order: str, line: str) -> str:
        given = {
            "invoice_number": self.canary, "issue_date": "2026-11-03",
            "lines": [{"order_line_id": line, "quantity": 10, "unit_price": "4.90"}],
        }  # fmt: skip
        invoice = str(made(self.shelf.api.post(f"/v1/orders/{order}/invoices", json=given))["id"])
        done(self.buyer.api.post(f"{BILLS}/{invoice}/approve", json={}))
        return invoice

    def _payment(self, invoice: str) -> str:
        given = {
            "supplier_id": str(self.shelf.id), "amount": "1.00", "currency": "EUR", "bank_account": self.canary,
            "provider_reference": self.canary, "remittance_text": self.canary,
            "allocations": [{"invoice_id": invoice, "amount": "1.00"}],
        }  # fmt: skip
        return str(made(self.buyer.api.post(PAYMENTS, json=given))["id"])

    def _return(self, delivery: str, delivered: str) -> str:
        line = {"delivery_line_id": delivered, "quantity": 1, "reason_code": "quality"}
        given = {"delivery_id": delivery, "note": self.canary, "lines": [line]}
        return str(made(self.buyer.api.post(RETURNS, json=given))["id"])


def _apart(world: Any, seller: Any) -> dict[str, str]:
    """One of each thing of the world that no other tenant knows, such as the draft of an agreement with a seller."""
    api: Api = world.api
    agreement = {
        "title": world.canary, "scope": "tenant", "currency": "EUR", "supplier_id": str(seller.id),
        "lines": [{"category": "consumables", "tiers": [{"min_quantity": 1, "discount_percent": "5"}]}],
        "valid_from": "2026-01-01", "valid_to": "2027-01-01",
    }  # fmt: skip
    described = {"legal_name": f"Corner {world.canary}", "country": "DE", "currencies": ["EUR"]}
    category = {"name": f"Shelf {world.canary}", "code": f"own-{factories.suffix()}", "parent_id": GLOVES}
    prices = {"name": f"Prices {world.canary}", "currency": "EUR", "entries": []}
    code = f"list-{factories.suffix()}"
    made(api.put(f"/v1/price-lists/{code}", json=prices))
    with tenant_context(world.tenant.id):
        job = Job.objects.create(tenant_id=world.tenant.id, kind="export", total=4, started_by=world.person.id)
    return {
        "suppliers": made(api.post("/v1/suppliers", json=described))["id"],
        "categories": made(api.post("/v1/categories", json=category))["id"],
        "code of price-lists": code,
        "jobs": str(job.id),
        "reports": _data(api.post("/v1/analytics/reports", json={"type": "orders", "format": "csv"}), 202)["id"],
        "price-agreements": made(api.post("/v1/price-agreements?side=buyer", json=agreement))["id"],
        "notifications": api.get("/v1/notifications").json()["data"]["items"][0]["id"],
    }


def made(answer: Any) -> dict[str, Any]:
    """Return what was created."""
    return _data(answer, 201)


def done(answer: Any) -> dict[str, Any]:
    """Return what was read or changed."""
    return _data(answer, 200)


def _data(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, (answer.status_code, answer.content)
    found: dict[str, Any] = answer.json()["data"]
    return found
