"""The other party of a draft, and the group of buyers that it names. Source: contract, supply-price.md 5."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Statement, run
from organizations.public import tenants_below_sql
from suppliers.company.groups import Named, groups_call, groups_of

from .refusals import SelfTrade
from .states import Side

# As `orders.standing.beginning_call`: no agreement begins with a supplier that is merged into another one meanwhile.
_LOCK = Statement.of("SELECT pg_advisory_xact_lock_shared(hashtextextended('relationship ' || $1 || ' ' || $2, 0))")
# Bound to the supplier: its profile is its own. A managed one has none, and is its buyer's alone.
_IS_SUPPLIER = Statement.of(
    "SELECT 1 FROM organizations_tenant n WHERE n.id = $1 AND n.status <> 'closed' AND 'supplier' = ANY(n.kinds)"
    " AND CASE WHEN n.managed_by_id IS NULL"
    " THEN EXISTS (SELECT 1 FROM suppliers_supplierprofile f WHERE f.tenant_id = $1) ELSE n.managed_by_id = $2 END"
)
_IS_BUYER = Statement.of(
    "SELECT 1 FROM organizations_tenant n WHERE n.id = $1 AND n.status <> 'closed'"
    " AND n.kinds && ARRAY['provider', 'pharmacy']::varchar[]"
)
_BELONGS = Statement.of(
    f"SELECT 1 FROM organizations_tenant n WHERE n.id = $1 AND (n.id = ANY($2::uuid[]) OR {tenants_below_sql('$3::uuid[]')})"
)
_OTHER: Final = {Side.BUYER: "supplier_id", Side.SUPPLIER: "buyer_id"}


@needs_transaction
def other_party(actor: Actor, side: Side, data: Mapping[str, Any]) -> UUID:
    """Return the other party that the body of a new draft names; the caller stays bound.

    :raises SelfTrade: it is the caller itself.
    :raises InvalidFields: it is left out, is no such party, or the caller's own side is said to be somebody else.
    """
    named, own = _OTHER[side], _OTHER[side.other]
    party: UUID | None = data[named]
    if party is None:
        raise InvalidFields(errors=[FieldError(named, "required", "Name the other party.")])
    if party == actor.tenant_id:
        raise SelfTrade
    if data[own] not in (None, actor.tenant_id):
        raise InvalidFields(errors=[FieldError(own, "invalid", "Is your own tenant; it may be left out.")])
    if side is Side.BUYER:
        buyer = str(actor.tenant_id)
        locked, asked = Call(_LOCK, [buyer, str(party)]), Call(_IS_SUPPLIER, [str(party), buyer])
        _, _, found, _ = run([locked, bind_call(party), asked, bind_call(actor.tenant_id)])
    else:
        (found,) = run([Call(_IS_BUYER, [str(party)])])
    if not len(found):
        kind = side.other.value
        raise InvalidFields(errors=[FieldError(named, f"unknown_{kind}", f"There is no such {kind}.")])
    return party


@needs_transaction
def check_group(actor: Actor, side: Side, supplier_id: UUID, code: str) -> None:
    """Require a group of the supplier's profile; a buyer knows those alone that it belongs to. The caller stays bound.

    :raises InvalidFields: there is no such group.
    """
    _, stored, _ = run([bind_call(supplier_id), groups_call(supplier_id), bind_call(actor.tenant_id)])
    group = groups_of(stored).get(code)
    if group is None or (side is Side.BUYER and not _belongs(actor.tenant_id, group)):
        raise InvalidFields(errors=[FieldError("group", "unknown_group", "The supplier has no such group.")])


def _belongs(tenant_id: UUID, group: Named) -> bool:
    given = [str(tenant_id), array_literal(group.buyer_ids), array_literal(group.organization_ids)]
    (found,) = run([Call(_BELONGS, given)])
    return len(found) > 0
