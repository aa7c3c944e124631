"""Writes on tenants: change, suspend, resume, offboard, close."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.db import needs_transaction, tenant_context
from core.errors import Forbidden
from ledger import public as ledger
from organizations.events import TenantClosed, TenantOffboarding, TenantResumed, TenantSuspended, TenantUpdated
from organizations.models import Organization, Tenant
from organizations.policies import may_change_tenant_status


class OwnTenant(Forbidden):
    """From inside, a tenant that suspends itself could never come back."""

    code = "own_tenant"
    title = "A tenant's state is changed from outside of it."


@needs_transaction
def update_tenant(actor: Actor, tenant: Tenant, data: dict[str, Any], at: datetime) -> Tenant:
    """This function will change fields of a locked tenant, and its state where `status` is named.

    :raises StateScopeMissing: `status` is named, and the actor lacks the scope for it.
    :raises OwnTenant: the state is changed by a member of this very tenant.
    :raises InvalidTransition: its state does not allow the wanted one.
    """
    if "status" in data:
        may_change_tenant_status(actor)
    fields = {name: value for name, value in data.items() if name not in ("status", "suspended_reason")}
    changed = sorted(tenant.assign(fields))
    if changed:
        tenant.save_version(*changed, at=at)
        tell(actor, tenant, TenantUpdated(changed=changed), at)
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
    """This function will suspend a locked tenant: writes are refused, webhooks pause, jobs skip it, reads go by policy.

    :raises InvalidTransition: it is not active.
    """
    tenant.suspend(reason)
    tenant.save_version("status", "suspended_reason", at=at)
    tell(actor, tenant, TenantSuspended(), at)
    return tenant


@needs_transaction
def resume_tenant(actor: Actor, tenant: Tenant, at: datetime) -> Tenant:
    """This function will let a locked, suspended tenant work again.

    :raises InvalidTransition: it is not suspended.
    """
    tenant.resume()
    tenant.save_version("status", "suspended_reason", at=at)
    tell(actor, tenant, TenantResumed(), at)
    return tenant


@needs_transaction
def offboard_tenant(actor: Actor, tenant: Tenant, at: datetime) -> Tenant:
    """This function will begin the end of a locked tenant: nothing is written any more, the retention clock runs.

    :raises InvalidTransition: it is neither active nor suspended.
    """
    tenant.offboard(at)
    tenant.save_version("status", "offboarding_at", at=at)
    tell(actor, tenant, TenantOffboarding(), at)
    return tenant


@needs_transaction
def close_tenant(actor: Actor, tenant: Tenant, at: datetime) -> Tenant:
    """This function will close a locked, offboarded tenant; its rows are deleted by the caller, in batches.

    :raises InvalidTransition: it is not being offboarded.
    :raises LegalHold: its data must be kept.
    """
    tenant.close(at)
    tenant.save_version("status", "closed_at", at=at)
    tell(actor, tenant, TenantClosed(), at)
    return tenant


@needs_transaction
def tell(
    actor: Actor, tenant: Tenant, fact: ledger.EventType, at: datetime, *, about: Tenant | Organization | None = None
) -> None:
    """This function will record a fact about a tenant, or `about` another row, in that tenant's ledger, whoever's context we are in."""
    own = actor if actor.tenant_id == tenant.id else replace(actor, tenant_id=tenant.id)
    row = about or tenant
    with tenant_context(tenant.id):
        ledger.record(actor=own, event=fact, resource_id=row.id, at=at, resource_version=row.version)
