"""What audiences follow: tenants that come below an organization or move with it, and the groups of a supplier's profile.

The handlers run in the transaction of the change, behind its facts. Source: contract, supply-shelf.md "Visibility".
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from core.db import needs_transaction, role_context, tenant_context
from core.pipeline import Call, run
from core.row_security import DISPATCHER
from ledger.public import Fact
from organizations.public import organizations_above

from . import audiences
from .models import AudienceOrganization

OF_ORGANIZATIONS = ("tenant.provisioned", "organization.moved")
OF_GROUPS = ("supplier.updated",)
_NAMES = ("organization_id", "from_parent_id", "to_parent_id")


@needs_transaction
def follow_organizations(facts: Sequence[Fact]) -> None:
    """Let the tenants that came below an organization join its audiences, and those that left it leave them."""
    places = {UUID(place) for fact in facts for name in _NAMES if (place := fact.data.get(name))}
    if not places:
        return
    run([Call(audiences.LOCK)])
    above = organizations_above(places)
    concerned: dict[UUID, list[UUID]] = defaultdict(list)
    with role_context(DISPATCHER):
        named: Any = AudienceOrganization.objects.filter(organization_id__in=above)
        for supplier_id, audience_id in named.values_list("tenant_id", "audience_id").distinct():
            concerned[supplier_id].append(audience_id)
    for supplier_id in sorted(concerned):
        with tenant_context(supplier_id):
            audiences.rebuild(supplier_id, concerned[supplier_id])


@needs_transaction
def follow_groups(facts: Sequence[Fact]) -> None:
    """Compute the audiences of a supplier anew that name one of its groups; the supplier is bound."""
    tenant_id = facts[0].tenant_id
    audiences.rebuild(tenant_id, audiences.audiences_of(tenant_id, with_groups=True))
