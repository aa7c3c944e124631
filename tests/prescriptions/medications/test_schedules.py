"""Schedules: read as people write them, and the stricter of two."""

import pytest

from prescriptions.medications.schedules import effective_schedule, is_controlled, schedule_of


@pytest.mark.parametrize(("text", "schedule"), [("ii", "II"), (" IV ", "IV"), ("", "none"), ("None", "none")])
def test_schedule_is_read(text: str, schedule: str) -> None:
    assert schedule_of(text) == schedule


def test_unknown_schedule_is_refused() -> None:
    with pytest.raises(ValueError, match="'VI' is not among"):
        schedule_of("VI")


@pytest.mark.parametrize(
    ("given", "strictest"),
    [
        (("II", "none"), "II"),
        (("none", "V"), "V"),
        (("IV", "III"), "III"),
        ((None, "I"), "I"),
        (("", None), "none"),
        ((), "none"),
    ],
)
def test_stricter_schedule_is_effective(given: tuple[str | None, ...], strictest: str) -> None:
    assert effective_schedule(*given) == strictest
    assert is_controlled(strictest) == (strictest != "none")
