"""Reads of memberships."""

from uuid import UUID

from core.actor import Actor
from core.errors import NotFound
from organizations.models import Membership, Tenant

FHIR = "fhir"


def locked_membership(actor: Actor, membership_id: UUID) -> Membership:
    """Lock and return a membership of the actor's tenant.

    :raises NotFound: the tenant has no such membership.
    """
    found = (
        Membership.objects.select_for_update(no_key=True).filter(tenant_id=actor.tenant_id, pk=membership_id).first()
    )
    if found is None:
        raise NotFound("No such membership.")
    return found


def clinical_tenants(user_id: UUID) -> list[tuple[str, str]]:
    """List ids and names of the tenants with a clinical record where a person is an active member, ordered by name."""
    mine = Membership.objects.filter(
        user_id=user_id, status=Membership.Status.ACTIVE, tenant__features__contains=[FHIR]
    ).exclude(tenant__status=Tenant.Status.CLOSED)
    found = mine.order_by("tenant__name", "tenant_id").values_list("tenant_id", "tenant__name")
    return [(str(tenant_id), name) for tenant_id, name in dict(found).items()]
