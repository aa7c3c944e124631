"""Promotions as orders redeem them and give them back."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from core import clock
from core.actor import system_actor
from core.db import tenant_context
from core.invariants import breaches
from core.pipeline import run
from ledger import public as ledger
from organizations.models import Tenant
from suppliers.terms.promotions.models import Promotion, PromotionBuyer
from suppliers.terms.promotions.redeeming import Wanted, give_back, given_back, redeem, redeemed
from suppliers.terms.promotions.refusals import PromotionExhausted
from tests.factories import Api
from tests.suppliers.terms.test_promotions import ONE, put

THREADS = 16
BUYER, OTHER = UUID(int=7), UUID(int=8)


def promotion(api: Api, code: str = "a", **changes: Any) -> UUID:
    """Return the id of a promotion in euros that runs."""
    made = put(api, code, **{"status": "active", "conditions": ONE} | changes)
    assert made.status_code == 201, made.content
    return UUID(made.json()["data"]["id"])


def budget(amount: str, currency: str = "EUR") -> dict[str, str]:
    """Return a budget as bodies have it."""
    return {"amount": amount, "currency": currency}


def take(
    supplier: Tenant,
    document: UUID,
    *wanted: tuple[UUID, str] | tuple[UUID, str, str],
    buyer: UUID = BUYER,
    at: datetime | None = None,
) -> None:
    """Redeem promotions for a document, as the submit of an order does it, or change nothing."""
    moment = at or clock.now()
    named = [Wanted(one[0], Decimal(one[1]), one[2] if len(one) > 2 else "EUR") for one in wanted]
    with tenant_context(supplier.id):
        calls = redeem(supplier.id, document_id=document, buyer_id=buyer, wanted=named, at=moment)
        told = redeemed(named, run(calls))
        ledger.record_many(actor=system_actor(supplier.id), occurrences=told, at=moment)


def back(supplier: Tenant, document: UUID, *, only: Sequence[UUID] | None = None, at: datetime | None = None) -> None:
    """Give back what a document holds."""
    moment = at or clock.now()
    with tenant_context(supplier.id):
        told = given_back(run(give_back(supplier.id, document_id=document, at=moment, only=only)))
        ledger.record_many(actor=system_actor(supplier.id), occurrences=told, at=moment)


def counted(supplier: Tenant, promotion_id: UUID) -> tuple[int, Decimal, dict[UUID, int]]:
    """Return redemptions and spending of a promotion and the redemptions of its buyers, and hold all rules."""
    with tenant_context(supplier.id):
        row = Promotion.objects.get(tenant_id=supplier.id, pk=promotion_id)
        buyers = PromotionBuyer.objects.filter(tenant_id=supplier.id, promotion_id=promotion_id, redemptions__gt=0)
        found = dict(buyers.values_list("buyer_tenant_id", "redemptions"))
    assert list(breaches(supplier.id)) == []
    return row.redemptions, row.spent, found


def refused(*arguments: Any, **more: Any) -> list[tuple[str | None, str]]:
    """Return code and reason of each promotion that a redemption is refused for."""
    with pytest.raises(PromotionExhausted) as found:
        take(*arguments, **more)
    return [(one["code"], one["reason"]) for one in found.value.extra["promotions"]]
