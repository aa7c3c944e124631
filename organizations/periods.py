"""Periods in which quotas count: days and months, in UTC."""

from datetime import datetime, timedelta

from .plans import Period


def period_start(period: str, at: datetime) -> datetime | None:
    """Return the start of the period that contains `at`; None for a quota without a period."""
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return {Period.MONTH.value: day.replace(day=1), Period.DAY.value: day}.get(period)


def period_end(period: str, at: datetime) -> datetime | None:
    """Return when the count starts again from zero; None for a quota without a period."""
    start = period_start(period, at)
    if start is None:
        return None
    return start + timedelta(days=1) if period == Period.DAY else (start + timedelta(days=32)).replace(day=1)


def counted(period: str, started: datetime, used: int, at: datetime) -> int:
    """Return the stored count if it belongs to the period that contains `at`, else zero."""
    start = period_start(period, at)
    return 0 if start is not None and started < start else used
