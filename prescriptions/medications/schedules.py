"""Schedules of controlled substances: I to V, and `none`. Source: 21 CFR 1308."""

NONE = "none"
SCHEDULES = ("I", "II", "III", "IV", "V", NONE)


def schedule_of(text: str) -> str:
    """Read a schedule as people write it; the empty text means none.

    :raises ValueError: there is no such schedule.
    """
    found = text.strip().upper() or NONE.upper()
    known = {schedule.upper(): schedule for schedule in SCHEDULES}
    if found not in known:
        raise ValueError(f"{text[:32]!r} is not among {', '.join(SCHEDULES)}.")
    return known[found]


def effective_schedule(*schedules: str | None) -> str:
    """Return the strictest of the schedules that an item and the table of medications name: I before II … before none."""
    return min((schedule or NONE for schedule in schedules), key=SCHEDULES.index, default=NONE)


def is_controlled(schedule: str) -> bool:
    """Tell whether a schedule is one of I to V."""
    return schedule != NONE
