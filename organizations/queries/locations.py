"""Reads of locations: those in an actor's reach, and their tree."""

from uuid import UUID

from django.db import connection

from core.actor import Actor
from core.conditions import TENANT
from core.errors import NotFound
from core.trees import Tree
from organizations.models import Location
from organizations.models.locations import MAX_DEPTH
from organizations.ownership import TenantQuerySet

from .location_reach import reach
from .tree import ORGANIZATIONS

WITHIN = reach("id")  # a membership reaches its own locations, not those within them

# Walks end at twice the allowed depth, even if the tree has a cycle.
LOCATIONS = Tree("organizations_location", most=2 * MAX_DEPTH, scope=f"n.tenant_id = {TENANT}")

_OWNS = f"""
SELECT EXISTS (SELECT 1 FROM {ORGANIZATIONS.up("n.id = %s")} up JOIN organizations_tenant t ON t.organization_id = up.id
                WHERE t.id = %s)
"""


def reachable(actor: Actor) -> TenantQuerySet:
    """Return the tenant's locations within the actor's reach."""
    return WITHIN.filter(Location.objects.of(actor), actor)


def locked_location(actor: Actor, location_id: UUID) -> Location:
    """Lock and return a location within the actor's reach.

    :raises NotFound: the location does not exist or is out of reach.
    """
    row: Location | None = reachable(actor).select_for_update().filter(id=location_id).first()
    if row is None:
        raise NotFound("No such location.")
    return row


def owns_organization(actor: Actor, organization_id: UUID | None) -> bool:
    """Tell whether an organization runs the tenant or is below the one that does; None counts as owned."""
    if organization_id is None:
        return True
    with connection.cursor() as cursor:
        cursor.execute(_OWNS, [organization_id, actor.tenant_id])
        return bool(cursor.fetchone()[0])
