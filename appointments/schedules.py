"""Actions on schedules: the working hours and absences of practitioners."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.clock import rfc3339
from core.conditions import Condition
from core.db import BOUND_LOCATIONS, needs_transaction
from core.errors import NotFound
from core.pipeline import run
from organizations.public import LocationNotFound, places_call, places_of

from .models import Schedule
from .queries import WITHIN, locked_schedule
from .rules import check_practitioners, practitioners_lookup

# A membership with locations reaches the schedules that name no other.
WITHIN_REACH = Condition(
    f"({BOUND_LOCATIONS} IS NOT NULL AND (cardinality({BOUND_LOCATIONS}) = 0"
    f' OR t."location_ids" <@ {BOUND_LOCATIONS}::uuid[])) IS TRUE'
)


def schedule_to_put(actor: Actor, practitioner_id: str) -> Schedule | None:
    """Return a practitioner's schedule, locked; None where there is none.

    :raises NotFound: it names a location out of the membership's reach.
    """
    found = locked_schedule(actor, practitioner_id)
    if found is not None and not WITHIN.holds(actor, *found.location_ids):
        raise NotFound("No such schedule.")
    return found


@needs_transaction
def put_schedule(
    actor: Actor, schedule: Schedule | None, data: Mapping[str, Any], at: datetime, *, practitioner_id: str
) -> Schedule:
    """Create or replace the schedule of a practitioner; what is booked already stays.

    :raises LocationNotFound: the tenant has no such active location within the membership's reach.
    :raises PractitionerNotFound: there is no such practitioner, or an inactive one.
    """
    values = _columns(data)
    _check(actor, practitioner_id, values["location_ids"])
    if schedule is None:
        made = Schedule(
            tenant_id=actor.tenant_id, practitioner_id=practitioner_id, created_at=at, updated_at=at, **values
        )
        made.save(force_insert=True)
        return made
    if changed := schedule.assign(values):
        schedule.save_version(*changed, at=at)
    return schedule


def _columns(data: Mapping[str, Any]) -> dict[str, Any]:
    named: dict[UUID, None] = dict.fromkeys(one["location_id"] for one in data["hours"] if one.get("location_id"))
    return {
        "hours": [
            {"location_id": str(place) if (place := one.get("location_id")) else None, "days": one["days"]}
            | {"opens": one["opens"], "closes": one["closes"]}
            for one in data["hours"]
        ],
        "absences": [
            {"starts_at": rfc3339(one["starts_at"]), "ends_at": rfc3339(one["ends_at"]), "note": one.get("note")}
            for one in data.get("absences", ())
        ],
        "location_ids": list(named),
    }


def _check(actor: Actor, practitioner_id: str, location_ids: list[UUID]) -> None:
    people = practitioners_lookup(actor.tenant_id, [practitioner_id])
    places, *found = run([places_call(actor.tenant_id, location_ids), *people.calls])
    known = places_of(places)
    if not WITHIN.holds(actor, *location_ids) or any(one not in known for one in location_ids):
        raise LocationNotFound
    check_practitioners([practitioner_id], people.found(found))
