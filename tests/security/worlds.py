"""Two tenants that hold one of everything, and the platform's operations as the OpenAPI document lists them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

from core.clock import now
from core.ids import uuid7
from organizations.models import Membership
from tests import factories
from tests.contract import document
from tests.factories import Api
from tests.security import trades

EVERYTHING = (
    "tenant_admin",
    "org_admin",
    "supplier_admin",
    "prescriber",
    "pharmacist",
    "buyer",
    "receiving_clerk",
    "approver",
    "finance",
    "auditor",
)


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    method: str
    path: str
    scope: str
    public: bool
    statuses: frozenset[int]
    parameters: frozenset[str]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def kinds(self) -> dict[str, str]:
        """What kind of thing each parameter of the path names: its own name, or the segment before it."""
        found = {}
        for before, segment in pairwise(self.path.split("/")):
            if segment.startswith("{"):
                name = segment.strip("{}")
                found[name] = before if name in ("id", "pk") else f"code of {before}" if name == "code" else name
        return found


@lru_cache(maxsize=1)
def operations() -> tuple[Operation, ...]:
    """Every operation of the OpenAPI document."""
    return tuple(_operations())


def _operations() -> Iterator[Operation]:
    for described in document.operations():
        found = described.content
        yield Operation(
            method=described.method.upper(),
            path=described.path,
            scope=found.get("x-required-scope", ""),
            public=not found["security"],
            statuses=frozenset(int(status) for status in found["responses"]),
            parameters=frozenset(document.resolve(one)["name"] for one in found.get("parameters", ())),
        )


@dataclass
class World:
    """One tenant with a member who may do everything, a key, and one row of each kind."""

    tenant: Any
    person: Any
    membership: Membership
    token: str
    key: str
    canary: str
    ids: dict[str, str] = field(default_factory=dict)
    received: dict[str, str] = field(default_factory=dict)  # as the supplier: of documents of both sides

    @property
    def api(self) -> Api:
        """The member's client, with the tenant's header."""
        return Api(token=self.token, tenant=self.tenant)

    def names(self, operation: Operation, *, received: bool = False) -> dict[str, str]:
        """The parameters of the operation's path, with this world's ids; of what it has not, an id of nothing."""
        held = self.ids | (self.received if received else {})
        return {name: held.get(kind) or str(uuid7()) for name, kind in operation.kinds.items()}

    def path(self, operation: Operation, *, received: bool = False) -> str:
        """The operation's path with this world's ids."""
        return operation.path.format(**self.names(operation, received=received))


def product(canary: str) -> dict[str, Any]:
    """A small active-able product whose every text holds the canary."""
    return {
        "supplier_sku": f"SKU-{canary}",
        "name": f"Gloves {canary}",
        "description": f"Nitrile {canary}",
        "category": "consumables",
        "kind": "consumable",
        "base_unit": "EA",
        "brand": f"Brand {canary}",
        "packagings": [{"level": "each", "name": f"Each {canary}", "units_per_pack": 1, "orderable": True}],
    }


def make(canary: str = "") -> World:
    """Make a tenant with one of everything, through the interface itself."""
    canary = canary or f"canary{factories.suffix()}"
    tenant = factories.provision("supplier", also=("provider",), name=f"Supplier {canary}")
    person, membership = factories.member(tenant, EVERYTHING)
    world = World(tenant, person, membership, factories.bearer(person), factories.api_key(tenant), canary)
    api = world.api
    world.ids = {
        "organizations": str(tenant.organization_id),
        "tenants": str(tenant.id),
        "memberships": str(membership.id),
        "products": _made(api.post("/v1/products", json=product(canary))),
        "locations": _made(api.post("/v1/locations", json={"name": f"Ward {canary}", "type": "ward"})),
        "webhooks": _made(
            api.post(
                "/v1/webhooks",
                json={"url": "https://receiver.example.com/hook", "events": ["*"], "description": canary},
            )
        ),
        "api-keys": _made(
            api.post("/v1/api-keys", json={"name": f"Key {canary}", "partner": canary, "roles": ["supplier_admin"]})
        ),
    }
    world.ids["files"] = _made(api.post("/v1/files", json=_announced(canary)))
    offered = _made(api.post("/v1/price-agreements?side=supplier", json=_agreement(world)))
    world.ids |= _parts_of_webhook(api, world.ids["webhooks"]) | _stock(world)
    own, world.received = trades.both_ways(world)
    world.ids |= own
    world.received["price-agreements"] = offered
    return world


def _agreement(world: World) -> dict[str, Any]:
    """A draft of the world as a supplier, whose title holds the canary."""
    lines = [{"product_id": world.ids["products"], "tiers": [{"min_quantity": 1, "discount_percent": "5"}]}]
    buyer = factories.provision()
    told = {"title": world.canary, "scope": "tenant", "currency": "EUR", "buyer_id": str(buyer.id), "lines": lines}
    return {**told, "valid_from": "2026-01-01", "valid_to": "2027-01-01"}


def _announced(canary: str) -> dict[str, Any]:
    """A file whose content is yet to come."""
    digest = hashlib.sha256(canary.encode()).hexdigest()
    told = {"name": f"{canary}.pdf", "title": canary, "content_type": "application/pdf", "size": 100, "sha256": digest}
    return told | {"purpose": "certificate"}


def _stock(world: World) -> dict[str, str]:
    """A level, an offer, and a reservation with another supplier."""
    from tests.suppliers.inventory import shelf as shelves

    mine = shelves.Shelf(world.tenant, world.api)
    product = mine.product(name=f"Swabs {world.canary}")
    level = mine.stock(product, 10, lot=f"L{world.canary[-8:]}")
    found = {"levels": str(level), "offers": str(mine.offer(product, to=[])), "lots": str(mine.level(level).lot_id)}
    other = shelves.shelf()
    foreign = other.product()
    other.stock(foreign, 10)
    other.offer(foreign)
    (reserved,) = shelves.reserve(shelves.Buyer(world.tenant, world.api), other, (foreign, 1))
    return found | {"reservations": str(reserved["id"])}


def _parts_of_webhook(api: Api, endpoint_id: str) -> dict[str, str]:
    """One of each thing that hangs on an endpoint."""

    def first(path: str) -> str:
        answer = api.get(f"/v1/webhooks/{endpoint_id}/{path}").json()
        return str(answer["data"][0]["id"])

    asked = api.post(f"/v1/webhooks/{endpoint_id}/replay", json={"since": now().isoformat()[:10]})
    replay_id = str(asked.json()["data"]["id"])
    return {"secret_id": first("secrets"), "delivery_id": first("deliveries"), "replay_id": replay_id}


def _made(response: Any) -> str:
    assert response.status_code == 201, (response.status_code, response.content)
    return str(response.json()["data"]["id"])
