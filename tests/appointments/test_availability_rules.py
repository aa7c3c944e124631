"""Free times as they are computed: opening hours, working hours, absences, holidays, bookings, and how long it takes."""

from datetime import date, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

from appointments import availability
from appointments.local_times import instant, seconds
from organizations.public import Place

BERLIN = ZoneInfo("Europe/Berlin")
HERE, THERE = uuid4(), uuid4()
WEEK = ["mon", "tue", "wed", "thu", "fri"]


def at(day, hour, minute=0, zone=BERLIN):
    return seconds(datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone))


def places(here=(), there=(), zone="Europe/Berlin", there_zone="America/New_York"):
    return {
        None: Place(None, zone, []),
        HERE: Place(HERE, zone, list(here)),
        THERE: Place(THERE, there_zone, list(there)),
    }


def entry(days, opens, closes, location=None):
    return {"days": days, "opens": opens, "closes": closes, "location_id": str(location) if location else None}


def found(rules, day, *taken, holidays=(), length=60, step=60, days=1):
    span = (at(day, 0), at(day + timedelta(days=days), 0))
    admitted = availability.pieces(rules, span, holidays)
    times = availability.free(admitted, *taken)
    begins = availability.slots(admitted, times, span, length=length * 60, step=step * 60)
    return [instant(one).astimezone(BERLIN).strftime("%d %H:%M") for one in begins]


MONDAY = date(2026, 6, 1)


def test_opening_hours_alone_hold_without_a_schedule():
    rules = availability.sources(HERE, None, places([entry(WEEK, "08:00", "11:00")]))
    assert found(rules, MONDAY) == ["01 08:00", "01 09:00", "01 10:00"]
    assert found(rules, MONDAY - timedelta(days=1)) == []


def test_working_hours_cut_opening_hours_and_those_of_other_locations_do_not_count():
    opening = [entry(WEEK, "08:00", "12:00")]
    rules = availability.sources(
        HERE, [entry(["mon"], "10:00", "18:00", HERE), entry(["mon"], "08:00", "09:00", THERE)], places(opening)
    )
    assert found(rules, MONDAY) == ["01 10:00", "01 11:00"]
    assert found(availability.sources(HERE, [], places(opening)), MONDAY) == []


def test_what_is_taken_is_cut_out_and_slots_stay_on_their_steps():
    rules = availability.sources(HERE, None, places([entry(WEEK, "08:00", "12:00")]))
    booked = (at(MONDAY, 9, 10), at(MONDAY, 9, 20))
    assert found(rules, MONDAY, booked, length=30, step=30) == [
        "01 08:00", "01 08:30", "01 09:30", "01 10:00", "01 10:30", "01 11:00", "01 11:30",
    ]  # fmt: skip
    assert found(rules, MONDAY, booked, length=60, step=30) == [
        "01 08:00",
        "01 09:30",
        "01 10:00",
        "01 10:30",
        "01 11:00",
    ]


def test_on_holidays_only_the_spans_named_holiday_count():
    opening = [entry(WEEK, "08:00", "12:00"), entry(["holiday"], "14:00", "16:00")]
    rules = availability.sources(HERE, None, places(opening))
    assert found(rules, MONDAY, holidays=["2026-06-01"]) == ["01 14:00", "01 15:00"]
    assert found(rules, MONDAY, holidays=["2026-06-02"]) == ["01 08:00", "01 09:00", "01 10:00", "01 11:00"]


def test_hours_of_a_location_go_by_its_own_clock_when_none_is_asked_for():
    rules = availability.sources(None, [entry(["mon"], "08:00", "10:00", THERE)], places())
    assert found(rules, MONDAY) == ["01 14:00", "01 15:00"]
    closed = {key: one for key, one in places().items() if key != THERE}
    assert found(availability.sources(None, [entry(["mon"], "08:00", "10:00", THERE)], closed), MONDAY) == []


def test_all_day_and_hours_that_nobody_recorded_run_over_midnight():
    all_day = [{"days": [*WEEK, "sat", "sun"], "all_day": True}]
    for opening in (all_day, []):
        rules = availability.sources(HERE, None, places(opening))
        slots = found(rules, MONDAY, length=180, step=60, days=2)
        assert len(slots) == 46
        assert "01 23:00" in slots


def test_a_doubled_hour_gives_its_slots_twice_and_a_gap_none():
    opening = [entry(["sun"], "01:00", "04:00")]
    rules = availability.sources(HERE, None, places(opening))
    autumn, spring = date(2026, 10, 25), date(2026, 3, 29)
    assert found(rules, autumn) == ["25 01:00", "25 02:00", "25 02:00", "25 03:00"]
    assert found(rules, spring) == ["29 01:00", "29 03:00"]


def test_a_span_is_held_only_as_a_whole():
    rules = availability.sources(HERE, None, places([entry(WEEK, "08:00", "12:00"), entry(WEEK, "12:00", "13:00")]))
    span = (at(MONDAY, 11), at(MONDAY, 13))
    times = availability.free(availability.pieces(rules, span, ()))
    assert availability.holds(times, span)
    assert not availability.holds(times, (at(MONDAY, 12), at(MONDAY, 13, 1)))
    assert not availability.holds(availability.free(times, (at(MONDAY, 12), at(MONDAY, 12, 1))), span)


def test_a_slot_is_offered_exactly_where_a_booking_would_be_admitted():
    opening = [entry(WEEK, "08:15", "17:45"), entry(["sun"], "01:00", "05:00")]
    hours = [entry([*WEEK, "sun"], "02:30", "16:10", HERE), entry(["mon"], "16:10", "19:00")]
    rules = availability.sources(HERE, hours, places(opening))
    booked = [(at(MONDAY, 9, 7), at(MONDAY, 10, 1)), (at(MONDAY, 16), at(MONDAY, 16, 30))]
    for first in (date(2026, 3, 27), MONDAY, date(2026, 10, 23)):
        span = (at(first, 0), at(first + timedelta(days=5), 0))
        admitted = availability.pieces(rules, span, ())
        times = availability.free(admitted, *booked)
        offered = set(availability.slots(admitted, times, span, length=1500, step=60))
        for begins in range(span[0], span[1] - 1500, 60):
            around = availability.free(availability.pieces(rules, (begins, begins + 1500), ()), *booked)
            assert (begins in offered) == availability.holds(around, (begins, begins + 1500)), instant(begins)
