"""Writes on tenants: change, suspend, resume, offboard and close."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction, tenant_context
from core.errors import Forbidden
from ledger import public as ledger
from organizations.events import TenantClosed, TenantOffboarding, TenantResumed, TenantSuspended, TenantUpdated
from organizations.models import Organization, Tenant
from organizations.policies import may_change_tenant_status
from organizations.tenant_keys import destroy_key

from .managed import managed_of


class OwnTenant(Forbidden):
    """A tenant's own members cannot change its state: once suspended, they could not resume it."""

    code = "own_tenant"
    title = "The state of your own tenant can only be changed from another tenant."


@needs_transaction
def update_tenant(actor: Actor, tenant: Tenant, data: dict[str, Any], at: datetime) -> Tenant:
    """Change fields of a locked tenant, and its state if `data` has `status`.

    :raises StateScopeMissing: `data` has `status`, and the actor lacks the scope for it.
    :raises OwnTenant: the actor is a member of the tenant whose state would change.
    :raises InvalidTransition: the tenant cannot change from its state to the wanted one.
    """
    if "status" in data:
        may_change_tenant_status(actor)
    fields = {name: value for name, value in data.items() if name not in ("status", "suspended_reason")}
    changed = sorted(tenant.assign(fields))
    if changed:
        tenant.save_version(*changed, at=at)
        record_event(actor, tenant, TenantUpdated(changed=changed), at)
    wanted = data.get("status", tenant.status)
    if wanted == tenant.status:
        return tenant
    if actor.tenant_id == tenant.id and actor.membership_id is not None:
        raise OwnTenant
    if wanted == Tenant.Status.SUSPENDED:
        return suspend_tenant(actor=actor, tenant=tenant, reason=data.get("suspended_reason", ""), at=at)
    return resume_tenant(actor=actor, tenant=tenant, at=at)


@needs_transaction
def suspend_tenant(actor: Actor, tenant: Tenant, at: datetime, reason: str) -> Tenant:
    """Suspend a locked tenant: it refuses writes, webhooks pause, jobs skip it, and a policy decides about reads.

    :raises InvalidTransition: the tenant is not active.
    """
    tenant.suspend(reason)
    tenant.save_version("status", "suspended_reason", at=at)
    record_event(actor, tenant, TenantSuspended(), at)
    return tenant


@needs_transaction
def resume_tenant(actor: Actor, tenant: Tenant, at: datetime) -> Tenant:
    """Resume a locked, suspended tenant.

    :raises InvalidTransition: the tenant is not suspended.
    """
    tenant.resume()
    tenant.save_version("status", "suspended_reason", at=at)
    record_event(actor, tenant, TenantResumed(), at)
    return tenant


@needs_transaction
def offboard_tenant(actor: Actor, tenant: Tenant, at: datetime) -> Tenant:
    """Begin the offboarding of a locked tenant: it refuses writes, and the retention time starts.

    The suppliers that it manages go with it.

    :raises InvalidTransition: the tenant is neither active nor suspended.
    """
    tenant.offboard(at)
    tenant.save_version("status", "offboarding_at", at=at)
    record_event(actor, tenant, TenantOffboarding(), at)
    for managed in managed_of(tenant):
        if managed.status != Tenant.Status.OFFBOARDING:
            offboard_tenant(actor, managed, at)
    return tenant


@needs_transaction
def close_tenant(actor: Actor, tenant: Tenant, at: datetime) -> Tenant:
    """Close a locked tenant after offboarding and destroy its key; the caller deletes its rows in batches.

    The suppliers that it manages, which have no rows of their own, are closed with it.

    :raises InvalidTransition: the tenant is not in offboarding.
    :raises LegalHold: the tenant's data, or those of a supplier that it manages, must be kept.
    """
    for managed in managed_of(tenant):
        if managed.status != Tenant.Status.OFFBOARDING:
            offboard_tenant(actor, managed, at)
        close_tenant(actor, managed, at)
    tenant.close(at)
    tenant.save_version("status", "closed_at", at=at)
    if tenant.managed_by_id is not None:
        _close_organization(tenant, at)
    destroy_key(tenant.id, at=at)
    record_event(actor, tenant, TenantClosed(), at)
    return tenant


@needs_transaction
def merge_managed_tenant(actor: Actor, managed_id: UUID, into_id: UUID, at: datetime) -> None:
    """Close the tenant of a managed supplier, whose documents a supplier on the platform has taken over.

    :raises InvalidTransition: it is closed already.
    :raises LegalHold: its data must be kept.
    """
    managed = Tenant.objects.select_for_update(no_key=True).get(pk=managed_id, managed_by__isnull=False)
    if managed.status != Tenant.Status.OFFBOARDING:
        offboard_tenant(actor, managed, at)
    close_tenant(actor, managed, at)
    managed.merged_into_id = into_id
    managed.save_version("merged_into", at=at)


def _close_organization(tenant: Tenant, at: datetime) -> None:
    """Close the organization that only a managed supplier has."""
    organization = Organization.objects.select_for_update(no_key=True).get(pk=tenant.organization_id)
    if organization.status != Organization.Status.CLOSED:
        organization.close()
        organization.save_version("status", at=at)


@needs_transaction
def record_event(
    actor: Actor, tenant: Tenant, fact: ledger.EventType, at: datetime, *, about: Tenant | Organization | None = None
) -> None:
    """Record an event about a tenant, or about another row, in that tenant's ledger, whichever tenant is bound."""
    own = actor if actor.tenant_id == tenant.id else replace(actor, tenant_id=tenant.id)
    row = about or tenant
    with tenant_context(tenant.id):
        ledger.record(actor=own, event=fact, resource_id=row.id, at=at, resource_version=row.version)
