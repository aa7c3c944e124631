"""Reads of memberships."""

from uuid import UUID

from core.actor import Actor
from core.errors import NotFound
from organizations.models import Membership


def locked_membership(actor: Actor, membership_id: UUID) -> Membership:
    """This function will lock and return a membership of the actor's tenant.

    :raises NotFound: the tenant has no such membership.
    """
    found = (
        Membership.objects.select_for_update(no_key=True).filter(tenant_id=actor.tenant_id, pk=membership_id).first()
    )
    if found is None:
        raise NotFound("No such membership.")
    return found
