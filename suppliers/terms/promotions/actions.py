"""Actions on promotions, put under the supplier's own code. Source: contract, supply-price.md 1."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django.db.models import Sum

from core.actor import Actor
from core.db import needs_transaction
from core.search_terms import words_of
from ledger import public as ledger
from suppliers.terms.adjusting import opened, shared_columns

from .course import before_change, news, state_of, told_of, turn_of
from .events import PromotionUpdated
from .models import Promotion, PromotionRedemption
from .refusals import LimitBelowRedeemed
from .states import Told

_OWN: Final = ("starts_at", "ends_at", "max_redemptions", "max_per_buyer", "combinable", "applies_to_contracts")


@needs_transaction
def put_promotion(
    actor: Actor, target: Promotion | None, data: Mapping[str, Any], at: datetime, *, code: str
) -> Promotion:
    """Create a promotion under a code, or replace the locked one; if nothing differs, nothing is written.

    :raises InvalidFields: the conditions name a product, category, buyer or group that there is not.
    :raises InvalidTransition: the promotion is archived.
    :raises LimitBelowRedeemed: orders have redeemed more than a limit allows.
    """
    found = opened(Promotion, actor, target, at, code)
    before = (Told.OVER.value, False) if target is None else before_change(found, at)
    changed = found.assign(
        {
            **shared_columns(actor.tenant_id, data),
            **{name: data[name] for name in _OWN},
            **_budget(data),
            "words": "".join(f" {word}" for word in words_of(f"{code} {data['name']}")),
        }
    )
    if target is not None and "budget_currency" in changed:
        found.spent = _spent(found)
    _check_limits(found)
    found.told = told_of(state_of(found, at)).value
    if target is None:
        found.save(force_insert=True)
    elif changed:
        found.save_version(*changed, "spent", "told", at=at)
    if target is None or changed:
        updated = PromotionUpdated(code=code, state=state_of(found, at).value)
        told = [ledger.Occurrence(updated, found.id, found.version), *news([turn_of(found, before, at)])]
        ledger.record_many(actor=actor, occurrences=told, at=at)
    return found


def _budget(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the budget; its currency is that of the conditions, if there is one only, budget or not."""
    budget, currencies = data["budget_amount"], sorted(set(data["conditions"]["currencies"]))
    return {
        "budget_amount": None if budget is None else Decimal(budget["amount"]),
        "budget_currency": currencies[0] if len(currencies) == 1 else None,
    }


def _spent(promotion: Promotion) -> Decimal:
    """Return what orders save by a promotion in its currency."""
    held = PromotionRedemption.objects.filter(
        tenant_id=promotion.tenant_id,
        promotion_id=promotion.id,
        currency=promotion.budget_currency,
        given_back_at__isnull=True,
    )
    found: Decimal | None = held.aggregate(spent=Sum("amount"))["spent"]
    return found or Decimal(0)


def _check_limits(promotion: Promotion) -> None:
    """Require that no limit is below what orders have redeemed.

    :raises LimitBelowRedeemed: names each limit that is.
    """
    budget, most = promotion.budget_amount, promotion.max_redemptions
    below = {
        "budget_amount": budget is not None and budget < promotion.spent,
        "max_redemptions": most is not None and most < promotion.redemptions,
    }
    if any(below.values()):
        raise LimitBelowRedeemed(fields=[name for name, is_below in below.items() if is_below])
