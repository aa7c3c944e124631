"""Reads of the supplier and its profile."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction, tenant_context
from core.pipeline import Call, Statement, run

from .models import SupplierProfile
from .profiles import COUNTRY


class _Tenant(NamedTuple):
    """What a tenant's profile begins with."""

    name: str
    country: str


_LOCK_TENANT = Statement.of(
    f"SELECT n.name, {COUNTRY} AS country FROM organizations_tenant n"
    " JOIN organizations_organization o ON o.id = n.organization_id WHERE n.id = $1 FOR NO KEY UPDATE OF n",
    row=_Tenant,
)
_CATEGORIES = Statement.of(
    "SELECT c.code FROM suppliers_platformcategory c WHERE c.code = ANY($1::text[]) AND c.active"
)
_TENANTS = Statement.of(
    "SELECT n.id::text FROM organizations_tenant n WHERE n.id = ANY($1::uuid[]) AND n.managed_by_id IS NULL"
)
_ORGANIZATIONS = Statement.of("SELECT o.id::text FROM organizations_organization o WHERE o.id = ANY($1::uuid[])")
_IS_OPEN = Statement.of(
    "SELECT 1 FROM organizations_tenant n WHERE n.id = $1 AND n.status <> 'closed' AND 'supplier' = ANY(n.kinds)"
)


@needs_transaction
def locked_profile(actor: Actor) -> SupplierProfile:
    """Return the supplier's profile, locked until the transaction ends.

    A supplier that has stored nothing gets a profile which is not saved yet; its tenant is locked instead, so that of two
    callers the second finds what the first has saved.
    """
    stored = SupplierProfile.objects.of(actor).select_for_update(no_key=True)
    found: SupplierProfile | None = stored.first()
    if found is None:
        (rows,) = run([Call(_LOCK_TENANT, [str(actor.tenant_id)])])
        found = stored.first()
    if found is None:
        (tenant,) = rows.of(_Tenant)
        found = SupplierProfile(tenant_id=actor.tenant_id, legal_name=tenant.name, country=tenant.country)
    return found


def known_categories(codes: Collection[str]) -> Call:
    """Return the statement that answers those of the codes that are active categories of the platform."""
    return Call(_CATEGORIES, [array_literal(codes)])


def known_tenants(ids: Collection[UUID]) -> Call:
    """Return the statement that answers those of the ids that are tenants."""
    return Call(_TENANTS, [array_literal(ids)])


def known_organizations(ids: Collection[UUID]) -> Call:
    """Return the statement that answers those of the ids that are organizations."""
    return Call(_ORGANIZATIONS, [array_literal(ids)])


def is_open_supplier(tenant_id: UUID) -> bool:
    """Tell whether a tenant is a supplier that is not closed."""
    with tenant_context(tenant_id):
        (found,) = run([Call(_IS_OPEN, [str(tenant_id)])])
    return bool(len(found))
