"""Reads of places: those in an actor's reach, and the tree they form."""

from uuid import UUID

from django.db import connection

from core.actor import Actor
from core.errors import NotFound
from core.row_security import BOUND
from core.trees import Tree
from organizations.models import Location
from organizations.models.locations import MAX_DEPTH
from organizations.ownership import TenantQuerySet

from .location_reach import reach
from .tree import ORGANIZATIONS

WITHIN = reach("id")  # a membership's locations are themselves, not what is within them

# The walks end at twice the depth allowed, even in a tree that was broken by hand.
LOCATIONS = Tree("organizations_location", most=2 * MAX_DEPTH, scope=f"n.tenant_id = {BOUND}")

_OWNS = f"""
SELECT EXISTS (SELECT FROM {ORGANIZATIONS.up("n.id = %s")} up JOIN organizations_tenant t ON t.organization_id = up.id
                WHERE t.id = %s)
"""


def reachable(actor: Actor) -> TenantQuerySet:
    """The tenant's locations in the actor's reach."""
    return WITHIN.filter(Location.objects.of(actor), actor)


def locked_location(actor: Actor, location_id: UUID) -> Location:
    """This function will lock one place within the actor's reach.

    :raises NotFound: there is none.
    """
    row: Location | None = reachable(actor).select_for_update().filter(id=location_id).first()
    if row is None:
        raise NotFound("No such location.")
    return row


def owns_organization(actor: Actor, organization_id: UUID | None) -> bool:
    """This function will tell whether an organization is the one that runs the tenant, or below it; none at all is fine."""
    if organization_id is None:
        return True
    with connection.cursor() as cursor:
        cursor.execute(_OWNS, [organization_id, actor.tenant_id])
        return bool(cursor.fetchone()[0])
