"""When a period ends before it begins."""

import pytest

from api.periods import is_reversed, moment_of

NOON = "2026-11-01T12:00:00Z"


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        ("2026-11-01", "2026-11-01", False),
        ("2026-11-02", "2026-11-01", True),
        (NOON, NOON, False),
        (NOON, "2026-11-01T10:00:00Z", True),
        ("2026-11-02T00:30:00+14:00", NOON, False),  # the day before at 10:30 in UTC
        ("2026-11-01T02:00:00-12:00", "2026-11-01T13:00:00Z", True),
        ("2026-11-02", NOON, False),  # the day begins at 10:00 in UTC where it begins first
        ("2026-11-02", "2026-11-01T09:59:59Z", True),
        ("2026-11-02T12:00:00Z", "2026-11-02", False),  # and at noon where it begins last
        ("2026-11-02T12:00:01Z", "2026-11-02", True),
    ],
)
def test_period_is_reversed(begin: str, end: str, expected: bool) -> None:
    assert is_reversed(moment_of(begin), moment_of(end)) is expected


def test_half_a_period_is_not_reversed() -> None:
    assert not is_reversed(None, moment_of(NOON))
    assert not is_reversed(moment_of(NOON), None)
