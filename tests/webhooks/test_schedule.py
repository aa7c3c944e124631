"""Retries: the arithmetic of the contract, the spread, Retry-After."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from webhooks import schedule

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_default_is_thirteen_attempts_over_67_hours():
    assert schedule.DEFAULT == (5, 20, 80, 320, 1280, 5120, 20480, 43200, 43200, 43200, 43200, 43200)
    assert sum(schedule.DEFAULT) == 243_305


@pytest.mark.parametrize("attempts", range(1, 13))
def test_next_delay_is_spread_by_a_fifth(attempts):
    source = random.Random(7)
    base = schedule.DEFAULT[attempts - 1]
    delays = [schedule.next_delay_seconds(attempts, source=source) for _ in range(2000)]
    assert min(delays) >= base * 0.8
    assert max(delays) <= base * 1.2
    assert min(delays) < base * 0.82
    assert max(delays) > base * 1.18


def test_next_delay_ends_after_the_thirteenth_attempt():
    assert schedule.next_delay_seconds(12) is not None
    assert schedule.next_delay_seconds(13) is None


def test_next_delay_is_never_under_a_second():
    assert schedule.next_delay_seconds(1, schedule=[0]) == 1.0


@pytest.mark.parametrize(("wanted", "least", "most"), [(60, 60, 60), (1, 4, 6), (10**8, 43200, 43200)])
def test_next_delay_heeds_retry_after_within_bounds(wanted, least, most):
    assert least <= schedule.next_delay_seconds(1, retry_after_seconds=wanted) <= most


@pytest.mark.parametrize(
    ("status", "header", "expected"),
    [
        (429, "17", 17.0),
        (503, " 17 ", 17.0),
        (500, "17", None),
        (429, None, None),
        (429, "", None),
        (429, "soon", None),
        (429, "-5", None),
        (429, "1.5", None),
        (429, "٣", None),
        (429, "9" * 400, 999_999_999.0),
        (429, format_datetime(AT + timedelta(seconds=90), usegmt=True), 90.0),
        (429, format_datetime(AT - timedelta(seconds=90), usegmt=True), 0.0),
        (429, "Thu, 99 Foo 2026 12:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms(status, header, expected):
    assert schedule.retry_after_seconds(status, header, at=AT) == expected
