"""The dates of a recurring treatment, computed without a clock and without a database.

Occurrence n lies n intervals behind the first. Months keep the day of the first: of the 31st the last day of a shorter month,
of 29 February the 28th where there is none. Source: contract, prescriptions.md "Recurring treatments".
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from prescriptions.lifecycle.expiry import start_of
from prescriptions.states import IntervalUnit

LAST: Final = date(2299, 12, 31)
_DAYS: Final = {IntervalUnit.DAY: 1, IntervalUnit.WEEK: 7}


@dataclass(frozen=True, slots=True)
class Rhythm:
    """From which date on, and how often: `base` is the date of the occurrence `index`, `anchor_day` the day of months."""

    base: date
    anchor_day: int
    index: int
    every: int
    unit: str

    @classmethod
    def starting(cls, day: date, every: int, unit: str) -> "Rhythm":
        """Return the rhythm whose occurrence 0 is on a date."""
        return cls(day, day.day, 0, every, unit)


def occurrence(rhythm: Rhythm, index: int) -> date | None:
    """Return the date of an occurrence; None if it lies beyond the last day that is computed."""
    count = (index - rhythm.index) * rhythm.every
    if rhythm.unit == IntervalUnit.MONTH:
        return _months_later(rhythm, count)
    days = count * _DAYS[IntervalUnit(rhythm.unit)]
    return rhythm.base + timedelta(days=days) if days <= (LAST - rhythm.base).days else None


def first_from(rhythm: Rhythm, day: date, index: int) -> int:
    """Return the first occurrence from `index` on that lies on the date or later, or that is beyond the last day."""
    if rhythm.unit == IntervalUnit.MONTH:
        apart = (day.year - rhythm.base.year) * 12 + day.month - rhythm.base.month
        found = rhythm.index + max(0, apart // rhythm.every)
    else:
        found = rhythm.index + max(0, -((rhythm.base - day).days // (rhythm.every * _DAYS[IntervalUnit(rhythm.unit)])))
    found = max(found, index)
    due = occurrence(rhythm, found)
    return found + 1 if due is not None and due < day else found


def changed(rhythm: Rhythm, index: int, every: int, unit: str) -> Rhythm:
    """Return the rhythm with another interval from an occurrence on, whose own date stays."""
    base = occurrence(rhythm, index)
    if base is None:
        return rhythm
    keeps_day = rhythm.unit == unit == IntervalUnit.MONTH
    return Rhythm(base, rhythm.anchor_day if keeps_day else base.day, index, every, unit)


def drafts_from(due: date, lead_days: int, zone: ZoneInfo) -> datetime:
    """Return the instant from which the draft of an occurrence is made: the start of a local date."""
    return start_of(due - timedelta(days=lead_days), zone)


def _months_later(rhythm: Rhythm, count: int) -> date | None:
    year, month = divmod(rhythm.base.year * 12 + rhythm.base.month - 1 + count, 12)
    if year > LAST.year:
        return None
    return date(year, month + 1, min(rhythm.anchor_day, monthrange(year, month + 1)[1]))
