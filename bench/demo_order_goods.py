"""The goods of the order story in `./dev demo`: two products that are offered to one hospital, one that replaces, their places."""

import secrets
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.demo_care import person
from bench.demo_hearing import Wanted
from bench.demo_http import Caller, DemoFailed, expect, once, step

UNITS_PER_PACK = 10
PRICES = {"set": "37.50", "dressing": "50.00", "foam": "48.00"}
LIST_PRICES = {"set": "40.00", "dressing": "55.00", "foam": "60.00"}  # what others pay
# Base units on the shelf by lot; of the dressings there are none.
LOTS = {"set": (("SOONER", "2031-01-31", 50), ("LATER", "2032-06-30", 30)), "foam": (("FOAM", "2033-03-31", 200),)}


@dataclass
class Story:
    """Who walks the story, and what it is about; `mark` is a word that only this walk's products have.

    `wanted` are the events that both parties are to be told, `bills` the ids of invoices and credit notes by a name.
    """

    supplier: Caller
    other_supplier: Caller
    buyer: Caller
    approver: Caller
    second: Caller
    clerk: Caller
    admin: Caller
    stranger: Caller
    finance: Caller
    tenants: dict[str, Any]
    mark: str
    products: dict[str, dict[str, Any]] = field(default_factory=dict)
    hall: str = ""
    ward: str = ""
    order: str = ""
    deliveries: dict[str, dict[str, Any]] = field(default_factory=dict)
    bills: dict[str, str] = field(default_factory=dict)
    apart: str = ""
    replacement: str = ""
    wanted: set[Wanted] = field(default_factory=set)
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def supplier_id(self) -> str:
        """The tenant of the supplier."""
        return str(self.tenants["supplier"]["id"])

    @property
    def hospital_id(self) -> str:
        """The tenant of the hospital."""
        return str(self.tenants["hospital"]["id"])

    @property
    def names(self) -> dict[str, str]:
        """The parties by their tenants."""
        return {self.supplier_id: "supplier", self.hospital_id: "hospital"}

    def will_hear(self, key: str, *kinds: str) -> None:
        """Expect events about something at both parties."""
        self.wanted |= {(party, kind, key) for party in self.names for kind in kinds}

    def own(self) -> dict[str, Any]:
        """Read the order as its buyer."""
        path = f"/v1/purchase-orders/{self.order}"
        found: dict[str, Any] = expect(self.buyer.call("GET", path), 200, "the hospital reads the order")["data"]
        return found

    def received(self) -> dict[str, Any]:
        """Read the order as its supplier."""
        path = f"/v1/orders/{self.order}"
        found: dict[str, Any] = expect(self.supplier.call("GET", path), 200, "the supplier reads the order")["data"]
        return found

    def act(self, caller: Caller, action: str, body: Any, what: str, status: int = 200) -> dict[str, Any]:
        """Take an action of the buyer's side on the order."""
        answer = caller.call("POST", f"/v1/purchase-orders/{self.order}/{action}", body, **once())
        found: dict[str, Any] = expect(answer, status, what)
        return found.get("data") or found

    def line(self, name: str) -> dict[str, Any]:
        """The line of a product in the order."""
        return next(one for one in self.own()["lines"] if one["product_id"] == self.products[name]["id"])


def story_of(demo: dict[str, Any]) -> Story:
    """Sign everybody in."""
    base, tenants = demo["base_url"], demo["tenants"]
    keys = {name: {"X-API-Key": key, "X-Tenant-Id": tenants[name]["id"]} for name, key in demo["api_keys"].items()}
    return Story(
        Caller(base, keys["supplier"]), Caller(base, keys["other_supplier"]), person(demo, "buyer"),
        person(demo, "approver"), person(demo, "second_approver"), person(demo, "receiving_clerk"),
        person(demo, "tenant_admin"), person(demo, "other_buyer"), person(demo, "finance"), tenants, secrets.token_hex(4),
    )  # fmt: skip


def signed_in_again(demo: dict[str, Any], story: Story) -> Story:
    """Return the story with fresh tokens, and no event that is still expected."""
    fresh = story_of(demo)
    return replace(
        fresh, mark=story.mark, products=story.products, hall=story.hall, ward=story.ward, order=story.order,
        deliveries=story.deliveries, begun=story.begun,
    )  # fmt: skip


def days(count: int) -> str:
    """The date in so many days."""
    return (datetime.now(UTC) + timedelta(days=count)).date().isoformat()


def instant() -> str:
    """Now."""
    return datetime.now(UTC).isoformat()


def stock_up(story: Story) -> None:
    """Make the products, their stock and their offers to the hospital."""
    for name in PRICES:
        story.products[name] = _product(story, name)
        _list(story, name)
    given = {"name": "Hall 1", "type": "warehouse", "code": f"O-{story.mark}"}
    answer = story.supplier.call("POST", "/v1/inventory/locations", given, **once())
    story.hall = expect(answer, 201, "make a stock location")["data"]["id"]
    for name, lots in LOTS.items():
        for lot, expiry, quantity in lots:
            take_in(story, name, lot, expiry, quantity)
    for name in PRICES:
        _offer(story, name)
    given = {"name": "Ward store", "type": "warehouse", "code": f"WO-{story.mark}"}
    answer = story.clerk.call("POST", "/v1/inventory/locations", given, **once())
    story.ward = expect(answer, 201, "make a place of the hospital")["data"]["id"]
    step("three products offered to one hospital: 80 infusion sets in two lots, no dressings, 200 of another dressing")


def _product(story: Story, name: str) -> dict[str, Any]:
    body = {
        "supplier_sku": f"ORDER-{name}-{story.mark}",
        "name": f"{name.capitalize()} {story.mark}",
        "category": "consumables",
        "kind": "consumable",
        "tracking": "lot",
        "expiry_required": True,
        "base_unit": "EA",
        "packagings": [{"level": "case", "name": "Case of 10", "units_per_pack": UNITS_PER_PACK, "orderable": True}],
        "status": "active",
    }
    answer = story.supplier.call("POST", "/v1/products", body, **once())
    found: dict[str, Any] = expect(answer, 201, "create a product")["data"]
    return found


def _list(story: Story, name: str) -> None:
    """Set the list price, which the offer to the hospital is below."""
    product = story.products[name]
    price = {
        "packaging_id": product["packagings"][0]["id"], "currency": "EUR",
        "tiers": [{"min_quantity": 1, "unit_price": LIST_PRICES[name]}],
    }  # fmt: skip
    answer = story.supplier.call("PUT", f"/v1/products/{product['id']}/prices", {"prices": [price]}, **once())
    expect(answer, 200, "set the list price")


def take_in(story: Story, name: str, lot: str, expiry: str, quantity: int) -> None:
    """Let the supplier receive a lot."""
    line = {
        "product_id": story.products[name]["id"], "location_id": story.hall, "lot_number": lot, "expiry_date": expiry,
        "mode": "delta", "quantity": quantity, "reason_code": "receipt",
    }  # fmt: skip
    answer = story.supplier.call("POST", "/v1/inventory/adjustments", {"lines": [line]}, **once())
    expect(answer, 201, "take goods in")


def _offer(story: Story, name: str) -> None:
    product = story.products[name]
    body = {
        "product_id": product["id"], "packaging_id": product["packagings"][0]["id"], "currency": "EUR",
        "tiers": [{"min_quantity": 1, "unit_price": PRICES[name]}],
    }  # fmt: skip
    made = expect(story.supplier.call("POST", "/v1/marketplace/offers", body, **once()), 201, "draft an offer")["data"]
    path, seen = f"/v1/marketplace/offers/{made['id']}", {"mode": "selected", "tenant_ids": [story.hospital_id]}
    expect(story.supplier.call("PUT", f"{path}/visibility", seen, **once()), 200, "choose the audience")
    expect(story.supplier.call("POST", f"{path}/publish", None, **once()), 200, "publish the offer")


def search(story: Story) -> None:
    """Find what is offered in the market."""
    found = expect(story.buyer.call("GET", f"/v1/procurement/products?search={story.mark}"), 200, "search")["data"]
    if {one["id"] for one in found} != {one["id"] for one in story.products.values()}:
        raise DemoFailed(f"the search finds other products: {len(found)}")
    step(f"the hospital finds {len(found)} products by a word")


def levels(caller: Caller, product: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What a party holds of a product, by lot."""
    path = f"/v1/inventory/levels?product_id={product['id']}"
    return {one["lot_number"]: one for one in expect(caller.call("GET", path), 200, "read the levels")["data"]["items"]}
