"""Refusals of appointments and of what they name."""

from core.errors import Conflict, Unprocessable


class SlotTaken(Conflict):
    """The practitioner has another appointment at this time; `starts_at` and `ends_at` are the taken span's."""

    code = "slot_taken"
    title = "The practitioner is not free at this time."
    optional_extensions = {"starts_at": "2026-03-02T09:00:00.000Z", "ends_at": "2026-03-02T09:15:00.000Z"}


class TooEarly(Conflict):
    """The appointment has not begun, so nobody has missed it yet."""

    code = "too_early"
    title = "The appointment has not begun."
    extensions = {"starts_at": "2026-03-02T09:00:00.000Z"}


class StartsInPast(Unprocessable):
    """The appointment would begin more than five minutes ago."""

    code = "starts_in_past"
    title = "The appointment would begin in the past."


class OutsideHours(Unprocessable):
    """Opening hours, working hours or an absence forbid the time; `starts_at` names the appointment, also of a series."""

    code = "outside_hours"
    title = "The time is outside the opening or working hours."
    extensions = {"starts_at": "2026-03-02T22:00:00.000Z"}


class PractitionerNotFound(Unprocessable):
    """The tenant's record has no such practitioner, or the practitioner is inactive."""

    code = "practitioner_not_found"
    title = "There is no such active practitioner."
