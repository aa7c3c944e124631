"""Periods in which quotas count: days and months, in UTC."""

from datetime import datetime, timedelta

from .plans import Period


def period_start(period: str, at: datetime) -> datetime | None:
    """This function will return when the period that holds `at` began; None for a count without end."""
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return {Period.MONTH.value: day.replace(day=1), Period.DAY.value: day}.get(period)


def period_end(period: str, at: datetime) -> datetime | None:
    """This function will return when the count starts anew; None for a count without end."""
    start = period_start(period, at)
    if start is None:
        return None
    return start + timedelta(days=1) if period == Period.DAY else (start + timedelta(days=32)).replace(day=1)


def counted(period: str, started: datetime, used: int, at: datetime) -> int:
    """This function will return how much of a stored count is still of the period that holds `at`."""
    start = period_start(period, at)
    return 0 if start is not None and started < start else used
