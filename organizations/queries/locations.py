"""Reads of places: those in an actor's reach, and the tree they form."""

from uuid import UUID

from django.db import connection

from core.actor import Actor
from core.errors import NotFound
from organizations.models import Location
from organizations.models.locations import MAX_DEPTH
from organizations.ownership import TenantQuerySet

from .location_reach import reach

WITHIN = reach("id")  # a membership's locations are themselves, not what is within them

# Twice the depth allowed, so that the walk ends even in a tree that was broken by hand.
_STEPS = 2 * MAX_DEPTH

_UP = f"""
WITH RECURSIVE up (id, parent_id, step) AS (
    SELECT id, parent_id, 1 FROM organizations_location WHERE tenant_id = %(tenant)s AND id = %(start)s
    UNION ALL
    SELECT l.id, l.parent_id, up.step + 1 FROM up JOIN organizations_location l ON l.tenant_id = %(tenant)s AND l.id = up.parent_id
     WHERE up.step < {_STEPS}
)
SELECT id FROM up ORDER BY step
"""  # one constant is filled in; values are parameters

_DOWN = f"""
WITH RECURSIVE down (id, step) AS (
    SELECT %(start)s::uuid, 1
    UNION ALL
    SELECT l.id, down.step + 1 FROM down JOIN organizations_location l ON l.tenant_id = %(tenant)s AND l.parent_id = down.id
     WHERE down.step < {_STEPS}
)
SELECT max(step) FROM down
"""  # as above

_OWNS = """
WITH RECURSIVE up (id, parent_id, step) AS (
    SELECT id, parent_id, 1 FROM organizations_organization WHERE id = %(organization)s
    UNION ALL
    SELECT o.id, o.parent_id, up.step + 1 FROM up JOIN organizations_organization o ON o.id = up.parent_id WHERE up.step < 16
)
SELECT EXISTS (SELECT FROM up JOIN organizations_tenant t ON t.organization_id = up.id WHERE t.id = %(tenant)s)
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


def ancestor_ids(actor: Actor, location_id: UUID) -> list[UUID]:
    """This function will list a place and all it is within, itself first."""
    with connection.cursor() as cursor:
        cursor.execute(_UP, {"tenant": actor.tenant_id, "start": location_id})
        return [row[0] for row in cursor.fetchall()]


def height(actor: Actor, location_id: UUID) -> int:
    """This function will tell how many levels a place and what is within it make; 1 for a place with nothing in it."""
    with connection.cursor() as cursor:
        cursor.execute(_DOWN, {"tenant": actor.tenant_id, "start": location_id})
        return int(cursor.fetchone()[0])


def owns_organization(actor: Actor, organization_id: UUID | None) -> bool:
    """This function will tell whether an organization is the one that runs the tenant, or below it; none at all is fine."""
    if organization_id is None:
        return True
    with connection.cursor() as cursor:
        cursor.execute(_OWNS, {"tenant": actor.tenant_id, "organization": organization_id})
        return bool(cursor.fetchone()[0])
