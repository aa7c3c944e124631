"""Actions on pricing rules, put under the supplier's own code. Source: contract, supply-price.md 1."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, InvalidTransition
from core.pipeline import Call, Statement, run
from ledger import public as ledger

from .assignment import audience_of_buyers
from .events import PricingRuleUpdated
from .models import PricingRule
from .states import TermStatus

_PLAIN = ("name", "status", "priority", "valid_from", "valid_to", "floor_price", "exclusive", "applies_to_offers")
_PRODUCTS = Statement.of("SELECT p.id::text FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])")
_CATEGORIES = Statement.of(
    "SELECT c.code FROM suppliers_platformcategory c WHERE c.code = ANY($2::text[])"
    " UNION SELECT o.code FROM suppliers_category o WHERE o.tenant_id = $1 AND o.code = ANY($2::text[])"
)


@needs_transaction
def put_pricing_rule(
    actor: Actor, target: PricingRule | None, data: Mapping[str, Any], at: datetime, *, code: str
) -> PricingRule:
    """Create a rule under a code, or replace the locked one; if nothing differs, nothing is written.

    :raises InvalidFields: the conditions name a product, category, buyer or group that there is not.
    :raises InvalidTransition: the rule is archived.
    """
    if target is not None and target.status == TermStatus.ARCHIVED:
        raise InvalidTransition(state=target.status, action="replace", allowed=[])
    found = target or PricingRule(tenant_id=actor.tenant_id, code=code, created_at=at, updated_at=at)
    conditions = data["conditions"]
    _check_named(actor.tenant_id, conditions)
    changed = found.assign(
        {
            **{name: data[name] for name in _PLAIN},
            "conditions": _stored(conditions),
            "audience_id": audience_of_buyers(actor.tenant_id, conditions),
            "action_type": data["action"]["type"],
            "action_value": data["action"]["value"],
        }
    )
    if target is None:
        found.save(force_insert=True)
    elif changed:
        found.save_version(*changed, at=at)
    if target is None or changed:
        event = PricingRuleUpdated(code=code, status=found.status)
        ledger.record(actor=actor, event=event, resource_id=found.id, at=at, resource_version=found.version)
    return found


def _stored(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """Return conditions as they are kept and answered: lists in order, each member once, amounts as decimal strings."""
    lists = {name: sorted({str(one) for one in value}) for name, value in conditions.items() if isinstance(value, list)}
    least = conditions["min_amount"]
    return {**lists, "min_quantity": conditions["min_quantity"], "min_amount": None if least is None else f"{least:f}"}


def _check_named(tenant_id: UUID, conditions: Mapping[str, Any]) -> None:
    """Require the products and categories that conditions name.

    :raises InvalidFields: names each one that there is not.
    """
    mine = str(tenant_id)
    products, categories = conditions["product_ids"], conditions["categories"]
    found = run(
        [Call(_PRODUCTS, [mine, array_literal(products)]), Call(_CATEGORIES, [mine, array_literal(categories)])]
    )
    known = {(rows.value(number) or b"").decode() for rows in found for number in range(len(rows))}
    errors = [
        FieldError(f"conditions.{name}.{number}", f"unknown_{kind}", f"There is no such {kind}.")
        for name, kind in (("product_ids", "product"), ("categories", "category"))
        for number, one in enumerate(conditions[name])
        if str(one) not in known
    ]
    if errors:
        raise InvalidFields(errors=errors)
