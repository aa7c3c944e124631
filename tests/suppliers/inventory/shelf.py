"""A supplier with stock and offers, and buyers, for the tests of reservations."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from core.invariants import breaches
from core.pipeline import run
from organizations.models import Location, Tenant
from suppliers.catalog.availability import refresh_calls
from suppliers.catalog.market import market_calls
from suppliers.company.models import SupplierProfile
from suppliers.inventory.models import (
    Allocation,
    Lot,
    ReceivedReservation,
    Reservation,
    StockLevel,
    StockMovement,
    StockPlace,
)
from suppliers.inventory.movements.counters import count_call
from suppliers.marketplace.models import AudienceMember, Offer, OfferExclusion
from suppliers.marketplace.states import EVERYBODY
from tests import factories
from tests.factories import Api
from tests.suppliers import products

PATH = "/v1/stock/reservations"


@dataclass
class Buyer:
    """A hospital, and the client of a member that buys."""

    tenant: Tenant
    api: Api

    @property
    def id(self) -> UUID:
        return self.tenant.id

    def client(self) -> Api:
        """A further client of the same member, for a thread of its own."""
        api = Api()
        api.headers = self.api.headers
        return api


def buyer(kind: str = "provider", roles: tuple[str, ...] = ("buyer",)) -> Buyer:
    tenant = factories.provision(kind)
    return Buyer(tenant, factories.as_member(tenant, roles))


@dataclass
class Shelf:
    """A supplier; its products are made by its own API, its stock and offers as rows."""

    tenant: Tenant
    api: Api
    places: dict[str, UUID] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        return self.tenant.id

    def settle(self, **settings: Any) -> None:
        """Settle something about orders."""
        with tenant_context(self.id):
            SupplierProfile.objects.filter(tenant_id=self.id).update_versions(order_settings=settings, at=now())

    def product(self, *, units: int = 1, **changes: Any) -> dict[str, Any]:
        """Make an active product with one packaging of so many units."""
        packagings = changes.pop("packagings", [products.packaging(units_per_pack=units)])
        return products.create(self.api, status="active", packagings=packagings, **changes)

    def place(self, name: str = "Hall 1", *, sellable: bool = True, zone: str = "") -> UUID:
        with tenant_context(self.id):
            row = Location.objects.create(tenant_id=self.id, name=name, type="warehouse", time_zone=zone)
            StockPlace.objects.create(
                tenant_id=self.id, location=row, code=f"P-{factories.suffix()}", sellable=sellable
            )
        return row.id

    def stock(
        self, product: dict[str, Any], on_hand: int, *, lot: str = "", expiry: date | None = None, place: UUID | None = None,
        status: str = "released", threshold: int | None = None,
    ) -> UUID:  # fmt: skip
        """Put stock on the shelf; return the level's id."""
        place = place or self.places.setdefault("hall", self.places.get("hall") or self.place())
        with tenant_context(self.id):
            products.hold(self.tenant, product["id"])
            row = None
            if lot:
                row = Lot(tenant_id=self.id, product_id=product["id"], lot_number=lot, expiry_date=expiry)
                if status == "quarantined":
                    row.quarantine("suspect")
                    row._states_at_start["status"] = "released"
                row.save(force_insert=True)
            level = StockLevel.objects.create(
                tenant_id=self.id, product_id=product["id"], location_id=place, lot=row, on_hand=on_hand,
                low_stock_threshold=threshold,
            )  # fmt: skip
            self.movement(level, on_hand)
        self.refresh(product["id"])
        return level.id

    def movement(self, level: StockLevel, quantity: int, *, at: datetime | None = None) -> UUID:
        """Write a movement of the level as a row, and count it; the level stays. Return the movement's id."""
        with tenant_context(self.id), transaction.atomic():
            row = StockMovement.objects.create(
                tenant_id=self.id, product_id=level.product_id, location_id=level.location_id, level_id=level.id,
                type="receipt", quantity=quantity, balance_after=max(quantity, 0), reference_type="test",
                reference_id=level.id, actor_id=self.id, actor_kind="system", created_at=at or now(),
            )  # fmt: skip
            run([count_call(self.id, row.created_at, 1)])
        return row.id

    def refresh(self, product_id: str) -> None:
        """Let the product's availability follow rows that were written past the actions."""
        with tenant_context(self.id), transaction.atomic():
            run(refresh_calls(self.id, [UUID(product_id)], now()))

    def offer(self, product: dict[str, Any], *, to: list[Buyer] | None = None, **changes: Any) -> UUID:
        """Publish an offer of the first packaging, to everybody or to some buyers."""
        key = uuid7()
        audience = UUID(EVERYBODY) if to is None else key
        given = {
            "packaging_id": product["packagings"][0]["id"], "stock_display": "exact", "visibility_mode": "public",
        } | changes  # fmt: skip
        with tenant_context(self.id):
            row = Offer(id=key, tenant_id=self.id, product_id=product["id"], audience_id=audience, **given)
            row.publish()
            row.save(force_insert=True)
            run(market_calls(self.id, [UUID(product["id"])]))
            for one in to or ():
                AudienceMember.objects.create(tenant_id=self.id, audience_id=key, member_tenant_id=one.id)
        self.refresh(product["id"])
        return key

    def exclude(self, offer: UUID, one: Buyer) -> None:
        with tenant_context(self.id):
            OfferExclusion.objects.create(tenant_id=self.id, offer_id=offer, member_tenant_id=one.id)

    def level(self, key: UUID) -> StockLevel:
        with tenant_context(self.id):
            return StockLevel.objects.get(tenant_id=self.id, pk=key)

    def reservations(self) -> list[Reservation]:
        with tenant_context(self.id):
            return list(Reservation.objects.filter(tenant_id=self.id).order_by("id"))

    def allocations(self) -> list[Allocation]:
        with tenant_context(self.id):
            return list(Allocation.objects.filter(tenant_id=self.id).order_by("id"))


def shelf() -> Shelf:
    tenant = factories.provision("supplier")
    return Shelf(tenant, factories.as_member(tenant, ["supplier_admin"]))


def body(shelf: Shelf, *items: Any, **more: Any) -> dict[str, Any]:
    """Return the body of a reservation; an item is a product with a quantity, or a mapping."""
    lines = [one if isinstance(one, dict) else {"product_id": one[0]["id"], "quantity": one[1]} for one in items]
    return {"supplier_id": str(shelf.id), "items": lines} | more


def reserve(buyer: Buyer, shelf: Shelf, *items: Any, **more: Any) -> list[dict[str, Any]]:
    """Reserve and return the reservations."""
    answer = buyer.api.post(PATH, json=body(shelf, *items, **more))
    assert answer.status_code == 201, answer.content
    found: list[dict[str, Any]] = answer.json()["data"]["items"]
    return found


def copies(buyer: Buyer) -> list[ReceivedReservation]:
    with tenant_context(buyer.id):
        return list(ReceivedReservation.objects.filter(tenant_id=buyer.id).order_by("id"))


def broken(*sides: Any) -> list[Any]:
    """Every breach of an invariant in the tenants."""
    return [breach for one in sides for breach in breaches(one.id)]


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    found: dict[str, Any] = answer.json()
    assert (answer.status_code, found["code"]) == (status, code), answer.content
    return found
