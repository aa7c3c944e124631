"""Actions on pricing rules, put under the supplier's own code. Source: contract, supply-price.md 1."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.db import needs_transaction
from ledger import public as ledger

from .adjusting import opened, shared_columns
from .events import PricingRuleUpdated
from .models import PricingRule

_OWN = ("valid_from", "valid_to", "exclusive")


@needs_transaction
def put_pricing_rule(
    actor: Actor, target: PricingRule | None, data: Mapping[str, Any], at: datetime, *, code: str
) -> PricingRule:
    """Create a rule under a code, or replace the locked one; if nothing differs, nothing is written.

    :raises InvalidFields: the conditions name a product, category, buyer or group that there is not.
    :raises InvalidTransition: the rule is archived.
    """
    found = opened(PricingRule, actor, target, at, code)
    changed = found.assign(shared_columns(actor.tenant_id, data) | {name: data[name] for name in _OWN})
    if target is None:
        found.save(force_insert=True)
    elif changed:
        found.save_version(*changed, at=at)
    if target is None or changed:
        event = PricingRuleUpdated(code=code, status=found.status)
        ledger.record(actor=actor, event=event, resource_id=found.id, at=at, resource_version=found.version)
    return found
