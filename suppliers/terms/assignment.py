"""Whom terms are for: the body's choice of buyers, and the audience that stands for it."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from core.errors import InvalidFields
from suppliers.marketplace.audiences import Choice, audience_of, unknown
from suppliers.marketplace.models import Audience
from suppliers.marketplace.states import EVERYBODY

from .models import PriceList
from .states import Scope

_LISTS: Final[Mapping[str, tuple[str, str, str]]] = {
    Scope.TENANTS.value: ("ids", "tenant", "tenant_ids"),
    Scope.ORGANIZATIONS.value: ("ids", "organization", "organization_ids"),
    Scope.GROUPS.value: ("codes", "group", "group_codes"),
}


def audience_for(tenant_id: UUID, assignment: Mapping[str, Any]) -> UUID:
    """Return the audience of a checked assignment; that of everybody for a public one.

    :raises InvalidFields: names each buyer, organization or group that there is not.
    """
    if assignment["scope"] == Scope.PUBLIC:
        return UUID(EVERYBODY)
    member, kind, column = _LISTS[assignment["scope"]]
    named = assignment[member]
    if errors := unknown(tenant_id, {f"assignment.{member}": (kind, named)}):
        raise InvalidFields(errors=errors)
    return audience_of(tenant_id, Choice.of({name: [] for name in Choice._fields} | {column: named}))


def assignment_of(price_list: PriceList) -> Mapping[str, Any]:
    """Return the assignment by which PUT would leave a list's buyers as they are; its supplier is bound."""
    empty: dict[str, Any] = {"scope": price_list.scope, "ids": [], "codes": []}
    if price_list.scope == Scope.PUBLIC:
        return empty
    member, _, column = _LISTS[price_list.scope]
    audience = Audience.objects.filter(tenant_id=price_list.tenant_id).get(id=price_list.audience_id)
    named = getattr(audience, column)
    return empty | {member: named if member == "codes" else [UUID(one) for one in named]}


def audience_of_buyers(tenant_id: UUID, conditions: Mapping[str, Any]) -> UUID:
    """Return the audience of the buyers and groups that checked conditions name; that of everybody where they name none.

    :raises InvalidFields: names each buyer or group that there is not.
    """
    buyers, groups = conditions["buyer_ids"], conditions["groups"]
    if not buyers and not groups:
        return UUID(EVERYBODY)
    named = {"conditions.buyer_ids": ("tenant", buyers), "conditions.groups": ("group", groups)}
    if errors := unknown(tenant_id, named):
        raise InvalidFields(errors=errors)
    return audience_of(tenant_id, Choice.of({"tenant_ids": buyers, "organization_ids": [], "group_codes": groups}))
