"""What the audiences of agreements follow: tenants that come below an organization, move with it or close, and groups.

The handlers run in the transaction of the change, behind its facts, as those of offers do (decision 84). Source: contract,
supply-price.md 5 "Scope".
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.db.models.expressions import RawSQL

from core.db import bind_call, needs_transaction, role_context
from core.pipeline import Call, run
from core.row_security import DISPATCHER
from ledger.public import Fact
from organizations.public import organizations_above
from suppliers.company.groups import groups_call, groups_of
from suppliers.marketplace.audiences import LOCK

from .audience import Scoped, clear_call, member_calls
from .models import ReceivedAgreement
from .states import ACCEPTED, AgreementScope

OF_ORGANIZATIONS: Final = ("tenant.provisioned", "organization.moved")
OF_GROUPS: Final = ("supplier.updated",)
OF_CLOSING: Final = ("tenant.closed",)
_NAMES: Final = ("organization_id", "from_parent_id", "to_parent_id")
_CLOSED: Final = "SELECT n.id FROM organizations_tenant n WHERE n.status = 'closed'"
_SCOPED: Final = ("tenant_id", "id", "scope_id", "group_code")


@needs_transaction
def follow_organizations(facts: Sequence[Fact]) -> None:
    """Let tenants that came below an organization join the audiences of its agreements, and those that left it leave them."""
    places = {UUID(place) for fact in facts for name in _NAMES if (place := fact.data.get(name))}
    if not places:
        return
    run([Call(LOCK)])
    above = organizations_above(places)
    concerned: dict[UUID, list[Scoped]] = defaultdict(list)
    with role_context(DISPATCHER):
        for one in _scoped().filter(scope_id__in=above).values_list(*_SCOPED):
            concerned[one[0]].append(Scoped(*one))
    for supplier_id in sorted(concerned):
        rebuild(supplier_id, concerned[supplier_id])
    run([bind_call(facts[0].tenant_id)])


@needs_transaction
def follow_groups(facts: Sequence[Fact]) -> None:
    """Compute the audiences of agreements anew that name a group of the supplier; the supplier is bound."""
    supplier_id = facts[0].tenant_id
    named = _scoped().filter(tenant_id=supplier_id).exclude(group_code="")
    rebuild(supplier_id, [Scoped(*one) for one in named.values_list(*_SCOPED)])


@needs_transaction
def follow_closing(facts: Sequence[Fact]) -> None:
    """Take the audiences of a closed buyer's agreements away: the lines that count what is ordered at them are gone.

    The suppliers' copies stay in the shape that they have.
    """
    run([Call(LOCK)])
    owners = [fact.resource_id for fact in facts]
    with role_context(DISPATCHER):
        held = ReceivedAgreement.objects.filter(owner_tenant_id__in=owners, status__in=ACCEPTED)
        found = sorted(held.values_list("tenant_id", "id"))
    calls = [call for supplier_id, key in found for call in (bind_call(supplier_id), clear_call(supplier_id, key))]
    run([*calls, bind_call(facts[0].tenant_id)])


@needs_transaction
def rebuild(supplier_id: UUID, versions: Sequence[Scoped]) -> None:
    """Bring the audiences of some versions of one supplier up to date; the supplier stays bound."""
    if not versions:
        return
    *_, stored = run([bind_call(supplier_id), Call(LOCK), groups_call(supplier_id)])
    groups = groups_of(stored)
    run([call for one in sorted(versions) for call in member_calls(one, groups)])


def scoped_of(supplier_id: UUID) -> list[Scoped]:
    """Return the accepted agreements of a supplier, which is bound, that hold for an organization."""
    return [Scoped(*one) for one in _scoped().filter(tenant_id=supplier_id).values_list(*_SCOPED)]


def _scoped() -> Any:
    accepted = ReceivedAgreement.objects.filter(scope=AgreementScope.ORGANIZATION, status__in=ACCEPTED)
    return accepted.exclude(owner_tenant_id__in=RawSQL(_CLOSED, ()))  # noqa: S611  # nosec B611 - a constant without parameters
