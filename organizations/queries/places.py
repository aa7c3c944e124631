"""Where and when a tenant is at work: zones and opening hours of its active locations, in one statement for another trip."""

from collections.abc import Collection
from typing import Any, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement


class Place(NamedTuple):
    """One active location, or with `location_id` None the tenant itself, which has a zone and no hours.

    `opening_hours` is as in the REST API; where nobody recorded any it is empty.
    """

    location_id: UUID | None
    time_zone: str
    opening_hours: Any


def places_sql(tenant: str, location_ids: str) -> str:
    """Return the SELECT of places, for a statement of another app (`row=Place`); the arguments are SQL.

    `tenant` is a parameter, and `location_ids` an array of uuids.
    """
    return f"""
SELECT NULL::uuid AS location_id, time_zone, '[]'::jsonb AS opening_hours FROM organizations_tenant WHERE id = {tenant}
UNION ALL
SELECT l.id, coalesce(NULLIF(l.time_zone, ''), (SELECT time_zone FROM organizations_tenant WHERE id = {tenant})), l.opening_hours
  FROM organizations_location l WHERE l.tenant_id = {tenant} AND l.status = 'active' AND l.id = ANY({location_ids})
"""


_PLACES = Statement.of(places_sql("$1", "$2::uuid[]"), row=Place)


def places_call(tenant_id: UUID, location_ids: Collection[UUID]) -> Call:
    """Return the call that reads the bound tenant's zone and its active locations of these ids; see `places_of`."""
    return Call(_PLACES, [str(tenant_id), array_literal(location_ids)])


def places_of(rows: Rows) -> dict[UUID | None, Place]:
    """Return the places by their location; None is the tenant itself. Unknown and inactive locations are left out."""
    return {place.location_id: place for place in rows.of(Place)}
