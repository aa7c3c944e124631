"""When the next prescription of a treatment is due, in the columns of its row."""

from datetime import date, datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from core.db import run_bound
from organizations import public as organizations
from prescriptions.states import PauseReason, TreatmentStatus

from .dates import LAST, Rhythm, drafts_from, first_from, occurrence
from .models import RecurringTreatment

RHYTHM: Final = ("base_date", "anchor_day", "first_index", "every", "unit")
PLAN: Final = ("next_index", "next_due_on", "drafts_from", "occurrences_skipped")


def zone_of(tenant_id: UUID, location_id: UUID | None) -> ZoneInfo:
    """Return the zone in which a treatment's days are counted: its location's, else the tenant's."""
    wanted = [location_id] if location_id else []
    (found,) = run_bound(tenant_id, [organizations.places_call(tenant_id, wanted)])
    places = organizations.places_of(found)
    return ZoneInfo((places.get(location_id) or places[None]).time_zone)


def today_in(zone: ZoneInfo, at: datetime) -> date:
    """Return the local date of an instant."""
    return at.astimezone(zone).date()


def rhythm_of(row: RecurringTreatment) -> Rhythm:
    """Return by which rule the dates of a treatment are computed."""
    return Rhythm(row.base_date, row.anchor_day, row.first_index, row.every, row.unit)


def set_rhythm(row: RecurringTreatment, rhythm: Rhythm) -> None:
    """Compute the dates of a treatment by another rule."""
    row.base_date, row.anchor_day, row.first_index = rhythm.base, rhythm.anchor_day, rhythm.index
    row.every, row.unit = rhythm.every, rhythm.unit


def skip_missed(row: RecurringTreatment, today: date) -> None:
    """Leave out the occurrences that were due before today."""
    reached = min(first_from(rhythm_of(row), today, row.next_index), max(_end(row), row.next_index))
    row.occurrences_skipped += reached - row.next_index
    row.next_index = reached


def plan(row: RecurringTreatment, zone: ZoneInfo) -> None:
    """Set when the next prescription is due, and from when on the job looks at the row; None where none is."""
    due = occurrence(rhythm_of(row), row.next_index)
    row.next_due_on = due if row.next_index < _end(row) else None
    is_watched = row.status == TreatmentStatus.ACTIVE or (
        row.status == TreatmentStatus.PAUSED and row.pause_reason == PauseReason.QUOTA_EXCEEDED
    )
    row.drafts_from = None
    if row.next_due_on and is_watched:
        row.drafts_from = drafts_from(row.next_due_on, row.lead_days, zone)


def _end(row: RecurringTreatment) -> int:
    """Return the first occurrence that there is not."""
    last = min(row.end_date, LAST) if row.end_date else LAST
    beyond = first_from(rhythm_of(row), date.fromordinal(last.toordinal() + 1), row.first_index)
    return beyond if row.max_occurrences is None else min(beyond, row.max_occurrences)
