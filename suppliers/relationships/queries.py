"""Reads of relationships and managed suppliers."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.errors import NotFound
from core.pipeline import Call, Rows, Statement, run

from .models import Relationship

# So that of two who write the first relationship to a supplier, the second finds what the first has written.
_LOCK = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended('relationship ' || $1 || ' ' || $2, 0))")
# Bound to the supplier: its profile is its own. A managed one has none, and is its buyer's alone.
_IS_SEEN = Statement.of(
    "SELECT 1 FROM organizations_tenant n WHERE n.id = $1 AND n.id <> $2 AND n.status <> 'closed'"
    " AND 'supplier' = ANY(n.kinds) AND CASE WHEN n.managed_by_id IS NULL"
    " THEN EXISTS (SELECT 1 FROM suppliers_supplierprofile f WHERE f.tenant_id = $1) ELSE n.managed_by_id = $2 END"
)
_CATEGORIES = Statement.of(
    "SELECT c.code FROM suppliers_platformcategory c WHERE c.code = ANY($2::text[]) AND c.active"
    " UNION SELECT c.code FROM suppliers_category c WHERE c.tenant_id = $1 AND c.code = ANY($2::text[]) AND c.active"
)

_OWN_CODES = Statement.of(
    "SELECT DISTINCT i.own_code FROM suppliers_itemalias i WHERE i.tenant_id = $1 AND i.own_code = ANY($2::text[])"
)


@needs_transaction
def locked_relationship(actor: Actor, supplier_id: UUID) -> Relationship:
    """Return the tenant's relationship to a supplier, locked until the transaction ends; one that is not saved yet if there is none.

    :raises NotFound: the tenant sees no such supplier, or it is itself.
    """
    buyer, supplier = str(actor.tenant_id), str(supplier_id)
    _, _, seen, _ = run(
        [
            Call(_LOCK, [buyer, supplier]),
            bind_call(supplier_id),
            Call(_IS_SEEN, [supplier, buyer]),
            bind_call(actor.tenant_id),
        ]
    )
    if not len(seen):
        raise NotFound("No such supplier.")
    found: Relationship | None = (
        Relationship.objects.of(actor).select_for_update(no_key=True).filter(supplier_id=supplier_id).first()
    )
    return found or Relationship(tenant_id=actor.tenant_id, supplier_id=supplier_id)


def categories_call(supplier_id: UUID, codes: Collection[str]) -> Call:
    """Return the statement that answers those of the codes that are active categories of the platform or of a supplier.

    For a transaction bound to the supplier.
    """
    return Call(_CATEGORIES, [str(supplier_id), array_literal(codes)])


def own_codes_call(buyer_id: UUID, codes: Collection[str | None]) -> Call:
    """Return the statement that answers those of the codes by which the buyer, which is bound, names a product."""
    return Call(_OWN_CODES, [str(buyer_id), array_literal({one for one in codes if one})])


def own_codes_of(found: Rows) -> frozenset[str]:
    """Return the codes that `own_codes_call` has read."""
    return frozenset((found.value(number) or b"").decode() for number in range(len(found)))


def _item(table: str, members: str) -> str:
    return (
        f"(SELECT coalesce(json_agg({members}), '[]') FROM {table} i"
        " WHERE i.tenant_id = {buyer} AND i.supplier_id = {supplier})"
    )


ALIASES: Final = _item(
    "suppliers_itemalias",
    "json_build_object('product_id', i.product_id, 'own_code', i.own_code) ORDER BY i.own_code, i.product_id",
)
BLOCKED: Final = _item("suppliers_blockedproduct", "i.product_id ORDER BY i.product_id")
SUBSTITUTES: Final = _item(
    "suppliers_approvedsubstitute",
    "json_build_object('product_id', i.product_id, 'substitute_product_id', i.substitute_product_id)"
    " ORDER BY i.product_id, i.substitute_product_id",
)
