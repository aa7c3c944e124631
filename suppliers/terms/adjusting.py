"""What pricing rules and promotions have in common when they are put under the supplier's own code. Source: contract, supply-price.md 1."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.errors import FieldError, InvalidFields, InvalidTransition
from core.pipeline import Call, Statement, run

from .assignment import audience_of_buyers
from .models import Adjustment
from .states import TermStatus

A = TypeVar("A", bound=Adjustment)

_PLAIN: Final = ("name", "status", "priority", "floor_price", "applies_to_offers")
_PRODUCTS = Statement.of("SELECT p.id::text FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])")
_CATEGORIES = Statement.of(
    "SELECT c.code FROM suppliers_platformcategory c WHERE c.code = ANY($2::text[])"
    " UNION SELECT o.code FROM suppliers_category o WHERE o.tenant_id = $1 AND o.code = ANY($2::text[])"
)


def opened(model: type[A], actor: Actor, target: A | None, at: datetime, code: str) -> A:
    """Return the locked row to replace, or a new one.

    :raises InvalidTransition: the row is archived.
    """
    if target is not None and target.status == TermStatus.ARCHIVED:
        raise InvalidTransition(state=target.status, action="replace", allowed=[])
    return target or model(tenant_id=actor.tenant_id, code=code, created_at=at, updated_at=at)


def shared_columns(tenant_id: UUID, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that the checked body gives a rule as well as a promotion.

    :raises InvalidFields: the conditions name a product, category, buyer or group that there is not.
    """
    conditions = data["conditions"]
    _check_named(tenant_id, conditions)
    return {
        **{name: data[name] for name in _PLAIN},
        "conditions": _stored(conditions),
        "audience_id": audience_of_buyers(tenant_id, conditions),
        "action_type": data["action"]["type"],
        "action_value": data["action"]["value"],
    }


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
