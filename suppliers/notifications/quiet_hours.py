"""When a mail may go out: behind the digest that the tenant chose, and behind its quiet hours. Pure; knows no database.

Both are by the wall clock of a zone. A time that a change of the clocks leaves out stands for the instant that many minutes
behind the change; a time that comes twice is the first one that is still to come.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from .states import Digest

DAILY_AT: Final = time(8)  # where there are no quiet hours, by whose end a day's mails go out


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From a time of day to another, which may be on the next day."""

    begin: time
    end: time
    zone: str

    def holds_at(self, at: datetime) -> bool:
        """Tell whether an instant lies within; the end does not."""
        now = at.astimezone(ZoneInfo(self.zone)).time()
        if self.begin < self.end:
            return self.begin <= now < self.end
        return now >= self.begin or now < self.end


def next_at(wanted: time, zone: str, at: datetime) -> datetime:
    """Return the first instant behind `at` at which clocks of the zone show a time, in UTC."""
    here = ZoneInfo(zone)
    today = at.astimezone(here).date()
    found = (one for day in range(3) for one in _instants(today + timedelta(days=day), wanted, here))
    return next(one for one in found if one > at)


def mail_at(at: datetime, *, digest: str, quiet: QuietHours | None, zone: str) -> datetime:
    """Return when the mail about something that happened at `at` goes out; `zone` is the tenant's."""
    due = _digested(at, digest, quiet, zone)
    return next_at(quiet.end, quiet.zone, due) if quiet and quiet.holds_at(due) else due


def _digested(at: datetime, digest: str, quiet: QuietHours | None, zone: str) -> datetime:
    if digest == Digest.DAILY:
        return next_at(quiet.end, quiet.zone, at) if quiet else next_at(DAILY_AT, zone, at)
    if digest == Digest.HOURLY:
        local = at.astimezone(ZoneInfo(quiet.zone if quiet else zone))
        past = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
        return at - past + timedelta(hours=1)
    return at


def _instants(day: date, wanted: time, here: ZoneInfo) -> tuple[datetime, datetime]:
    first, second = (datetime.combine(day, wanted, here).replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    return first, max(first, second)
