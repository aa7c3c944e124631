"""Until when a prescription is good: by local days, in the zone of its place. Source: contract, prescriptions.md "Time"."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from prescriptions.states import Schedule

from .models import PrescriptionItem


def last_valid_day(
    signed_at: datetime, zone: ZoneInfo, items: Iterable[PrescriptionItem], policies: Mapping[str, Any]
) -> date:
    """Return the last local date on which a prescription that is signed now may be dispensed."""
    days: int = policies["prescription_validity_days"]
    if any(item.effective_schedule != Schedule.NONE for item in items):
        days = min(days, policies["controlled_validity_days"])
    return signed_at.astimezone(zone).date() + timedelta(days=days)


def start_of(day: date, zone: ZoneInfo) -> datetime:
    """Return the first instant of a local date that exists, in UTC.

    Where clocks are put forward over midnight the day begins later; where they are put back over it the first of the two
    midnights counts. A date that a zone has left out begins where the next one does.
    """
    begin = datetime.combine(day, time.min, zone).astimezone(UTC)
    earliest = begin - timedelta(hours=3)
    if begin.astimezone(zone).date() == day and (begin - timedelta(seconds=1)).astimezone(zone).date() < day:
        return begin
    before, after = int(earliest.timestamp()), int(begin.timestamp()) + 27 * 3600
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, zone).date() >= day:
            after = middle
        else:
            before = middle
    return datetime.fromtimestamp(after, UTC)


def expires_at(last_day: date, zone: ZoneInfo) -> datetime:
    """Return the instant from which a prescription is no longer good: the start of the day after its last one."""
    return start_of(last_day + timedelta(days=1), zone)


def notice_from(ends: datetime, policies: Mapping[str, Any]) -> datetime | None:
    """Return the instant from which the coming expiry is told; None where the policy wants no notice.

    It is fixed at the signature, like the expiry itself: a later policy holds for later signatures.
    """
    days: int = policies["prescription_expiring_days"]
    return ends - timedelta(days=days) if days else None
