"""A supplier and a hospital that negotiate, for the tests of agreements."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from core.db import tenant_context
from ledger.public import Event
from organizations.models import Tenant
from suppliers.agreements.models import (
    AgreementAudience,
    AgreementDraft,
    PriceAgreement,
    PriceAgreementLine,
    ReceivedAgreement,
    ReceivedAgreementLine,
)
from tests.factories import Api, api_key, as_member, provision
from tests.suppliers.products import create

PATH = "/v1/price-agreements"
BUYING = ("buyer", "approver")
TABLES: tuple[Any, ...] = (
    AgreementDraft,
    PriceAgreement,
    PriceAgreementLine,
    ReceivedAgreement,
    ReceivedAgreementLine,
    AgreementAudience,
)


@dataclass
class World:
    """One supplier with a product, and one hospital; each with a client."""

    supplier: Tenant
    hospital: Tenant
    seller: Api
    buyer: Api
    product: dict[str, Any]

    def line(self, **changes: Any) -> dict[str, Any]:
        """Return a line of the product at one price."""
        named = {"product_id": self.product["id"], "packaging_id": self.product["packagings"][0]["id"]}
        return {**named, "tiers": [{"min_quantity": 1, "unit_price": "4.10"}]} | changes

    def body(self, by: str, **changes: Any) -> dict[str, Any]:
        """Return the body of a draft of one side."""
        other = {"supplier": {"buyer_id": self.hospital.id}, "buyer": {"supplier_id": self.supplier.id}}[by]
        terms = {
            "title": "Gloves", "scope": "tenant", "currency": "EUR", "valid_from": "2026-01-01", "valid_to": "2030-01-01",
            "lines": [self.line()],
        }  # fmt: skip
        return {**terms, **other, **changes}

    def api(self, by: str) -> Api:
        """Return the client of one side."""
        return {"supplier": self.seller, "buyer": self.buyer}[by]

    def drafted(self, by: str = "supplier", **changes: Any) -> str:
        """Create a draft; return its id."""
        made = self.api(by).post(PATH, json=self.body(by, **changes))
        assert made.status_code == 201, made.content
        return str(made.json()["data"]["id"])

    def proposed(self, by: str = "supplier", **changes: Any) -> str:
        """Create a draft and propose it; return its id."""
        key = self.drafted(by, **changes)
        sent = self.act(by, key, "propose")
        assert sent.status_code == 200, sent.content
        return key

    def active(self, by: str = "supplier", **changes: Any) -> str:
        """Negotiate an agreement; return its id."""
        key = self.proposed(by, **changes)
        accepted = self.act(other(by), key, "accept")
        assert accepted.status_code == 200, accepted.content
        return key

    def act(self, by: str, key: str, action: str, **more: Any) -> Any:
        """Ask for an action of one side."""
        return self.api(by).post(f"{PATH}/{key}/{action}", **more)

    def stored(self) -> list[Any]:
        """Return every row about agreements in both tenants, and their facts."""
        return [rows_of(tenant) for tenant in (self.supplier, self.hospital)]


def other(side: str) -> str:
    """Return the other side."""
    return {"supplier": "buyer", "buyer": "supplier"}[side]


def world() -> World:
    """Make a supplier with a product, and a hospital."""
    supplier, hospital = provision("supplier"), provision("provider")
    seller = Api(key=api_key(supplier), tenant=supplier)
    return World(supplier, hospital, seller, as_member(hospital, BUYING), create(seller))


def rows_of(tenant: Tenant) -> list[Any]:
    """Return every row about agreements in a tenant, and the types of its facts."""
    with tenant_context(tenant.id):
        found: list[Any] = [sorted(map(repr, model.objects.filter(tenant_id=tenant.id).values())) for model in TABLES]
        facts = Event.objects.filter(tenant_id=tenant.id, type__startswith="price_agreement.")
        return [*found, list(facts.order_by("occurred_at", "id").values_list("type", flat=True))]


def events(tenant: Tenant) -> list[str]:
    """Return the events of a tenant about agreements."""
    return list(rows_of(tenant)[-1])


def more_products(api: Api, count: int) -> list[dict[str, Any]]:
    """Create products of one packaging each."""
    return [create(api, supplier_sku=f"SKU-{number}-{uuid4()}") for number in range(count)]
