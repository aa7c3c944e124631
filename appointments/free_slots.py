"""Free slots of practitioners: the statements that read what is needed, and the slots that follow from it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from core.clock import rfc3339
from core.pipeline import Call, Rows
from fhir_api.public import Lookup
from organizations.public import LocationNotFound, Place, places_of, policies_call, policies_of

from . import availability, queries
from .local_times import Span, instant, seconds
from .queries import Busy, FoundSchedule
from .rules import check_practitioners, practitioners_lookup, whole_seconds

__all__ = ["Search"]


class Search:
    """One question for free slots: its statements, for the trip of the proof, and its answer from their rows."""

    def __init__(
        self, *, start: datetime, end: datetime, location_id: UUID | None, practitioners: Sequence[str]
    ) -> None:
        self.start, self.end, self.location_id, self.practitioners = start, end, location_id, practitioners
        self._people = Lookup(())

    def calls(self, tenant_id: UUID) -> list[Call]:
        """Return the statements; the tenant must be bound."""
        self._people = practitioners_lookup(tenant_id, self.practitioners)
        asked = (tenant_id, self.location_id, self.practitioners)
        return [
            queries.places_call(*asked),
            queries.schedules_call(*asked),
            queries.busy_call(*asked, self.start, self.end),
            policies_call(tenant_id),
            *self._people.calls,
        ]

    def slots(
        self, rows: Sequence[Rows], *, minutes: int | None, step: int | None, at: datetime
    ) -> list[dict[str, Any]]:
        """Return the free slots that begin from `at` on, with those who are free then.

        :raises LocationNotFound: the tenant has no such active location.
        :raises PractitionerNotFound: there is no such practitioner, or an inactive one.
        """
        found, schedules, booked, kept, *people = rows
        places, policies = places_of(found), policies_of(kept)
        if self.location_id not in places:
            raise LocationNotFound
        check_practitioners(self.practitioners, self._people.found(people))
        plans = {one.practitioner_id: one for one in schedules.of(FoundSchedule)}
        busy: dict[str, list[Span]] = {}
        for one in booked.of(Busy):
            busy.setdefault(one.practitioner_id, []).append(whole_seconds((one.starts_at, one.ends_at)))
        length = (minutes or policies["appointment_slot_minutes"]) * 60
        within = (max(-int(-self.start.timestamp() // 1), -int(-at.timestamp() // 1)), seconds(self.end))
        free: dict[int, list[str]] = {}
        for name in self.practitioners or plans:
            for begins in self._of_one(plans.get(name), busy.get(name, ()), places, policies, within, length, step):
                free.setdefault(begins, []).append(name)
        return [
            {
                "starts_at": rfc3339(instant(begins)),
                "ends_at": rfc3339(instant(begins + length)),
                "practitioner_ids": free[begins],
            }
            for begins in sorted(free)
        ]

    def _of_one(
        self,
        plan: FoundSchedule | None,
        busy: Sequence[Span],
        places: Mapping[UUID | None, Place],
        policies: Mapping[str, Any],
        within: Span,
        length: int,
        step: int | None,
    ) -> Any:
        rules = availability.sources(self.location_id, plan.hours if plan else None, places)
        admitted = availability.pieces(rules, within, policies["holidays"])
        absences = availability.absences_of(plan.absences) if plan else ()
        times = availability.free(admitted, *absences, *busy)
        return availability.slots(admitted, times, within, length=length, step=step * 60 if step else length)
