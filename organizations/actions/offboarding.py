"""The end of all access to a tenant that is about to be closed."""

from datetime import datetime

from core.actor import Actor
from core.db import needs_transaction, tenant_context
from ledger import public as ledger
from organizations.events import ApiKeyRevoked, MembershipRevoked
from organizations.models import LIVE, ApiKey, Membership, PharmacyListing, Tenant


@needs_transaction
def end_access(*, actor: Actor, tenant: Tenant, at: datetime) -> None:
    """Revoke all keys and memberships of a tenant, also the last administrator's, and unlist its pharmacies."""
    PharmacyListing.objects.filter(tenant_id=tenant.id).delete()
    with tenant_context(tenant.id):
        keys = ApiKey.objects.select_for_update(no_key=True).filter(tenant=tenant, status__in=["active", "rotating"])
        for key in keys.order_by("id"):
            key.revoke()
            key.save_version("status", at=at)
            fact = ApiKeyRevoked(key_id=key.key_id)
            ledger.record(actor=actor, event=fact, resource_id=key.id, at=at, resource_version=key.version)
        members = Membership.objects.select_for_update(no_key=True).filter(tenant=tenant, status__in=LIVE)
        for membership in members.order_by("id"):
            membership.revoke()
            membership.save_version("status", at=at)
            revoked = MembershipRevoked()
            ledger.record(
                actor=actor, event=revoked, resource_id=membership.id, at=at, resource_version=membership.version
            )
