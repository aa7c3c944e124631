"""Prices and terms of a supplier as rows, and short ways to quote them."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connections

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from suppliers.agreements.models import AgreementAudience
from suppliers.marketplace.models import AudienceMember
from suppliers.marketplace.states import EVERYBODY
from suppliers.pricing.models import ListPrice, ListPriceTier
from suppliers.terms.models import PriceList, PriceListEntry, PricingRule
from suppliers.terms.promotions.models import Promotion
from tests.factories import suffix
from tests.suppliers.inventory.shelf import Buyer, Shelf

BUYERS = "/v1/procurement/quote"
SUPPLIERS = "/v1/pricing/quote"
BEGIN = date(2026, 1, 1)
_AGREEMENT = """
INSERT INTO suppliers_receivedagreement (id, tenant_id, owner_tenant_id, number, status, version, agreement_id, revision, currency,
  priority, valid_from, valid_to, scope, scope_id, group_code, received_at, updated_at, representation, lines)
VALUES (%(id)s, %(tenant)s, %(owner)s, %(number)s, %(status)s, 1, %(agreement_id)s, 1, %(currency)s, %(priority)s, %(valid_from)s,
  %(valid_to)s, 'tenant', %(owner)s, '', now(), now(), '{}', '[]')
"""
_LINE = """
INSERT INTO suppliers_receivedagreementline (id, tenant_id, document_id, line_no, product_id, category, packaging_id,
  price_base_quantity, tiers, max_quantity, consumed)
VALUES (%(id)s, %(tenant)s, %(document)s, 1, %(product_id)s, %(category)s, %(packaging_id)s, 1, %(tiers)s::jsonb, %(max_quantity)s,
  %(consumed)s)
"""


def packaging_of(product: dict[str, Any]) -> str:
    """Return the first packaging."""
    found: str = product["packagings"][0]["id"]
    return found


def tiers(*steps: tuple[int, str]) -> list[dict[str, Any]]:
    """Return tiers as they are stored."""
    return [{"min_quantity": least, "unit_price": price} for least, price in steps]


def audience(shelf: Shelf, *buyers: Buyer) -> UUID:
    """Return an audience of these buyers; that of everybody without any."""
    if not buyers:
        return UUID(EVERYBODY)
    key = uuid7()
    with tenant_context(shelf.id):
        for one in buyers:
            AudienceMember.objects.create(tenant_id=shelf.id, audience_id=key, member_tenant_id=one.id)
    return key


def list_price(shelf: Shelf, product: dict[str, Any], *steps: tuple[int, str], **changes: Any) -> str:
    """Give the first packaging a list price."""
    given = {"currency": "EUR", "valid_from": BEGIN, "packaging_id": packaging_of(product), "on_market": True} | changes
    with tenant_context(shelf.id):
        row = ListPrice.objects.create(tenant_id=shelf.id, product_id=product["id"], **given)
        for least, price in steps:
            ListPriceTier.objects.create(tenant_id=shelf.id, price=row, min_quantity=least, unit_price=Decimal(price))
    return str(row.id)


def price_list(
    shelf: Shelf,
    product: dict[str, Any],
    *steps: tuple[int, str],
    to: tuple[Buyer, ...] = (),
    per: int = 1,
    **changes: Any,
) -> str:
    """Put a product into a list of its own, for everybody or for some; prices are for so many packs."""
    given = {"name": "Hospitals", "currency": "EUR", "status": "active"} | changes
    scope = changes.pop("scope", "tenants" if to else "public")
    with tenant_context(shelf.id):
        row = PriceList.objects.create(
            tenant_id=shelf.id, code=f"L-{suffix()}", audience_id=audience(shelf, *to), **given | {"scope": scope}
        )
        PriceListEntry.objects.create(
            tenant_id=shelf.id, price_list=row, product_id=product["id"], packaging_id=packaging_of(product),
            tiers=tiers(*steps), price_base_quantity=per,
        )  # fmt: skip
    return str(row.id)


def conditions(**given: Any) -> dict[str, Any]:
    """Return conditions as they are stored."""
    names = ("product_ids", "categories", "buyer_ids", "groups", "countries", "currencies")
    return {**{name: [] for name in names}, "min_quantity": None, "min_amount": None, **given}


def rule(
    shelf: Shelf,
    action: str,
    value: str,
    *,
    to: tuple[Buyer, ...] = (),
    when: dict[str, Any] | None = None,
    **changes: Any,
) -> str:
    """Make an active rule."""
    given = {"name": "Rule", "status": "active", "code": f"R-{suffix()}"} | changes
    with tenant_context(shelf.id):
        row = PricingRule.objects.create(
            tenant_id=shelf.id, audience_id=audience(shelf, *to), action_type=action, action_value=Decimal(value),
            conditions=conditions(**when or {}), **given,
        )  # fmt: skip
    return str(row.id)


def promotion(
    shelf: Shelf,
    action: str,
    value: str,
    *,
    to: tuple[Buyer, ...] = (),
    when: dict[str, Any] | None = None,
    **changes: Any,
) -> str:
    """Make a promotion that runs."""
    given = {
        "name": "Promotion", "status": "active", "code": f"P-{suffix()}", "starts_at": now() - timedelta(days=1),
        "ends_at": datetime(2100, 1, 1, tzinfo=UTC), "told": "running",
    } | changes  # fmt: skip
    with tenant_context(shelf.id):
        row = Promotion.objects.create(
            tenant_id=shelf.id, audience_id=audience(shelf, *to), action_type=action, action_value=Decimal(value),
            conditions=conditions(**when or {}), **given,
        )  # fmt: skip
    return str(row.id)


def agreement(
    shelf: Shelf, buyer: Buyer, product: dict[str, Any] | None = None, *steps: tuple[int, str], category: str | None = None,
    percent: str | None = None, to: tuple[Buyer, ...] = (), distance: int = 0, max_quantity: int | None = None, consumed: int = 0,
    **changes: Any,
) -> str:  # fmt: skip
    """Put a supplier's copy of an agreement, as its owner's module would have written it; return the agreement's id."""
    import orjson

    document, key = uuid7(), uuid7()
    given = {
        "status": "active", "currency": "EUR", "priority": 0, "valid_from": BEGIN, "valid_to": date(2100, 1, 1),
    } | changes  # fmt: skip
    stored = [{"min_quantity": 1, "discount_percent": percent}] if percent else tiers(*steps)
    line = {
        "product_id": product["id"] if product else None, "category": category,
        "packaging_id": packaging_of(product) if product else None, "tiers": orjson.dumps(stored).decode(),
        "max_quantity": max_quantity, "consumed": consumed,
    }  # fmt: skip
    with connections["owner"].cursor() as cursor:
        head = {"id": document, "tenant": shelf.id, "owner": buyer.id, "number": f"A-{suffix()}", "agreement_id": key}
        cursor.execute(_AGREEMENT, head | given)
        cursor.execute(_LINE, {"id": uuid7(), "tenant": shelf.id, "document": document} | line)
    with tenant_context(shelf.id):
        for one in to or (buyer,):
            AgreementAudience.objects.create(
                tenant_id=shelf.id, agreement_id=document, member_tenant_id=one.id, distance=distance
            )
    return str(key)


def line(product: dict[str, Any], quantity: int = 1, **more: Any) -> dict[str, Any]:
    """Return a line of a quote."""
    return {"product_id": product["id"], "quantity": quantity} | more


def asked(buyer: Buyer, *lines: dict[str, Any], **more: Any) -> Any:
    """Ask for a buyer's quote."""
    return buyer.api.post(BUYERS, json={"items": list(lines)} | more)


def quoted(buyer: Buyer, *lines: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a buyer's quote."""
    answer = asked(buyer, *lines, **more)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def asked_of(shelf: Shelf, buyer: Buyer, *lines: dict[str, Any], **more: Any) -> Any:
    """Ask for a supplier's quote."""
    body = {"buyer_id": str(buyer.id), "currency": "EUR", "items": list(lines)} | more
    return shelf.api.post(SUPPLIERS, json=body)


def quoted_of(shelf: Shelf, buyer: Buyer, *lines: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a supplier's quote."""
    answer = asked_of(shelf, buyer, *lines, **more)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def steps_of(found: dict[str, Any], number: int = 0) -> list[tuple[str, str | None, str | None]]:
    """Return source, reason and price of each step of a line's trace."""
    return [(one["source_type"], one["reason"], one["unit_price"]) for one in found["items"][number]["trace"]]


def price_of(found: dict[str, Any], number: int = 0) -> tuple[str, str]:
    """Return unit price and source of a line."""
    one = found["items"][number]
    return one["unit_price"], one["source"]
