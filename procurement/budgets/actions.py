"""The action on budgets: a PUT under the buyer's own code. Source: contract, supply-price.md 6."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldLocked
from core.search_terms import words_of
from ledger import public as ledger
from ledger.public import Occurrence

from .commitments import exceeded
from .events import BudgetThresholdReached, BudgetUpdated
from .models import Budget
from .states import Enforcement

_PLAIN: Final = (
    "name", "amount", "currency", "valid_from", "valid_to", "threshold_percent", "enforcement", "active",
)  # fmt: skip


@needs_transaction
def put_budget(actor: Actor, target: Budget | None, data: Mapping[str, Any], at: datetime, *, code: str) -> Budget:
    """Create a budget under a code, or replace the locked one; if nothing differs, nothing is written.

    :raises FieldLocked: something is committed or spent in another currency.
    :raises BudgetExceeded: the new amount is below what is committed and spent, or the enforcement becomes hard although it is.
    """
    if target is not None:
        _check(target, data)
    found = target or Budget(tenant_id=actor.tenant_id, code=code, created_at=at, updated_at=at)
    was_reached = found.is_reached if target else False
    changed = found.assign(
        {name: data[name] for name in _PLAIN}
        | {"cost_centers": sorted({*data["cost_centers"]}), "words": words_of(f"{code} {data['name']}")}
    )
    if target is None:
        found.save(force_insert=True)
    elif changed:
        found.save_version(*changed, at=at)
    else:
        return found
    told = [Occurrence(BudgetUpdated(code=code, active=found.active), found.id, found.version)]
    if found.is_reached and not was_reached:
        reached = BudgetThresholdReached(code=code, threshold_percent=found.threshold_percent)
        told.append(Occurrence(reached, found.id, found.version))
    ledger.record_many(actor=actor, occurrences=told, at=at)
    return found


def _check(budget: Budget, data: Mapping[str, Any]) -> None:
    """Hold a new amount to what is committed and spent of a locked budget."""
    if budget.used and data["currency"] != budget.currency:
        raise FieldLocked("The budget has commitments in its currency.", fields=["currency"])
    hardens = data["enforcement"] == Enforcement.HARD != budget.enforcement
    if (data["amount"] != budget.amount or hardens) and data["amount"] < budget.used:
        raise exceeded(budget.amount - budget.used, budget.currency)
