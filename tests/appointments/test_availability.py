"""Free slots over HTTP, and the schedules that they follow from."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from bench.statements import recording
from core.ids import uuid7_text
from tests import factories
from tests.appointments import practice
from tests.appointments.practice import ALL_WEEK, BASE, clinic, monday, rfc
from tests.factories import Api

OPEN = [{"days": ["mon", "tue"], "opens": "08:00", "closes": "10:00"}]


@pytest.fixture
def house():
    return clinic(opening_hours=OPEN)


def free(house, start, end, **more):
    query = {"from": start.isoformat(), "to": end.isoformat(), **more}
    return house.api.get(f"{BASE}/availability?{urlencode(query)}")


def begins(answer):
    assert answer.status_code == 200, answer.content
    return [one["starts_at"] for one in answer.json()["data"]]


def test_free_slots_of_a_practitioner_at_a_location(house):
    house.book(monday(8, 30))
    answer = free(
        house, monday(0), monday(23), practitioner_id=house.practitioner, location_id=house.location, minutes=30
    )
    assert begins(answer) == [rfc(monday(8)), rfc(monday(9)), rfc(monday(9, 30))]
    assert answer.json()["data"][0] == {
        "starts_at": rfc(monday(8)),
        "ends_at": rfc(monday(8, 30)),
        "practitioner_ids": [house.practitioner],
    }


def test_each_offered_slot_can_be_booked_and_is_gone_then(house):
    asked = {"practitioner_id": house.practitioner, "location_id": house.location}
    offered = free(house, monday(0), monday(23), **asked).json()["data"]
    assert len(offered) == 8  # of 15 minutes, as the policy has it
    for slot in offered:
        times = {"starts_at": slot["starts_at"], "ends_at": slot["ends_at"], "duration_minutes": ...}
        assert house.api.post(BASE, json=house.body(monday(0), **times)).status_code == 201
    assert begins(free(house, monday(0), monday(23), **asked)) == []


def test_steps_are_shorter_than_slots_if_they_are_wanted(house):
    asked = {"practitioner_id": house.practitioner, "location_id": house.location, "minutes": 60, "step": 30}
    assert begins(free(house, monday(8), monday(9, 30), **asked)) == [rfc(monday(8)), rfc(monday(8, 30))]


def test_a_location_alone_asks_those_whose_schedule_names_it(house):
    second, third = (practice.practitioner(house.tenant) for _ in range(2))
    here = {"days": ["mon"], "opens": "08:00", "closes": "09:00", "location_id": house.location}
    assert house.put_schedule([here]).status_code == 201
    assert house.put_schedule([here | {"closes": "08:30"}], practitioner=second).status_code == 201
    assert (
        house.put_schedule([{"days": ["mon"], "opens": "08:00", "closes": "09:00"}], practitioner=third).status_code
        == 201
    )
    house.book(monday(8, 30))
    found = free(house, monday(0), monday(23), location_id=house.location, minutes=30).json()["data"]
    assert [(one["starts_at"], sorted(one["practitioner_ids"])) for one in found] == [
        (rfc(monday(8)), sorted([house.practitioner, second]))
    ]


def test_a_practitioner_alone_is_asked_at_the_locations_of_the_schedule(house):
    cairo = practice.place(house.tenant, time_zone="Africa/Cairo")
    hours = [
        {"days": ["mon"], "opens": "08:00", "closes": "12:00", "location_id": house.location},
        {"days": ["mon"], "opens": "20:00", "closes": "20:30", "location_id": cairo},
    ]
    assert house.put_schedule(hours).status_code == 201
    found = begins(free(house, monday(0), monday(23), practitioner_id=house.practitioner, minutes=30))
    late = rfc(monday(20, zone="Africa/Cairo"))
    assert found == [*(rfc(monday(8 + n // 2, n % 2 * 30)) for n in range(4)), late]


@pytest.mark.parametrize(
    ("zone", "day", "slots"),
    [
        ("Europe/Berlin", "2027-03-28", 2),
        ("Europe/Berlin", "2026-12-06", 3),
        ("America/New_York", "2027-11-07", 4),
        ("Africa/Cairo", "2027-04-30", 3),
        ("Pacific/Apia", "2027-04-04", 3),
    ],
)
def test_a_gap_has_no_slots_and_a_doubled_hour_twice_as_many(zone, day, slots):
    house = clinic(time_zone=zone, opening_hours=[{"days": ALL_WEEK, "opens": "01:00", "closes": "04:00"}])
    start = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone))
    answer = free(
        house,
        start,
        start + timedelta(hours=12),
        practitioner_id=house.practitioner,
        location_id=house.location,
        minutes=60,
    )
    found = [datetime.fromisoformat(one) for one in begins(answer)]
    assert len(found) == slots
    assert all(1 <= one.astimezone(ZoneInfo(zone)).hour < 4 for one in found)


def test_slots_that_have_begun_are_not_offered(house):
    start = datetime.now(UTC) - timedelta(days=1)
    house = clinic()
    answer = free(house, start, start + timedelta(days=2), practitioner_id=house.practitioner, minutes=60, step=5)
    assert min(map(datetime.fromisoformat, begins(answer))) >= start + timedelta(days=1)


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"practitioner_id": None}, 400, "validation_error"),
        ({"to": "2027-02-05T00:00:01Z"}, 400, "validation_error"),
        ({"to": "2027-01-04T00:00:00Z"}, 400, "validation_error"),
        ({"from": "2027-01-05T00:00:00"}, 400, "validation_error"),
        ({"from": None}, 400, "validation_error"),
        ({"minutes": "4"}, 400, "validation_error"),
        ({"step": "many"}, 400, "validation_error"),
        ({"location_id": "here"}, 400, "validation_error"),
        ({"location_id": uuid7_text()}, 422, "location_not_found"),
        ({"practitioner_id": uuid7_text()}, 422, "practitioner_not_found"),
        ({"limit": "3"}, 400, "unknown_parameter"),
    ],
)
def test_a_malformed_question_is_refused(house, change, status, code):
    query = {
        "from": "2027-01-05T00:00:00Z",
        "to": "2027-01-06T00:00:00Z",
        "practitioner_id": house.practitioner,
    } | change
    answer = house.api.get(f"{BASE}/availability?{urlencode({k: v for k, v in query.items() if v is not None})}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    if change == {"from": None}:
        assert answer.json()["errors"][0]["field"] == "from"


def test_the_data_come_in_one_trip(house):
    asked = {"practitioner_id": house.practitioner, "location_id": house.location}
    free(house, monday(0), monday(23), **asked)
    for _ in range(3):
        house.book(monday(8) + timedelta(minutes=30) * _)
        with recording() as record:
            begins(free(house, monday(0), monday(0, weeks=3), **asked))
        assert len(record) == 1, record.texts()
    with recording() as record:
        begins(free(house, monday(0), monday(0, weeks=3), location_id=house.location))
    assert len(record) == 1, record.texts()


def test_a_location_out_of_reach_is_not_there(house):
    elsewhere = practice.place(house.tenant)
    person, _ = factories.member(house.tenant, ["nurse"], location_ids=[UUID(elsewhere)])
    limited = practice.Clinic(
        house.tenant, Api(token=factories.bearer(person), tenant=house.tenant), elsewhere, house.practitioner, ""
    )
    answer = free(limited, monday(0), monday(23), location_id=house.location)
    assert (answer.status_code, answer.json()["code"]) == (422, "location_not_found")
    assert free(limited, monday(0), monday(23), location_id=elsewhere).status_code == 200
    hours = [{"days": ["mon"], "opens": "08:00", "closes": "09:00", "location_id": house.location}]
    assert limited.put_schedule(hours).json()["code"] == "location_not_found"
    assert house.put_schedule(hours).status_code == 201
    path = f"{BASE}/schedules/{house.practitioner}"
    assert limited.api.get(path).status_code == 404
    assert limited.put_schedule([]).status_code == 404


# -- schedules ---------------------------------------------------------------------------------------------------------


def test_a_schedule_is_created_read_and_replaced(house):
    path = f"{BASE}/schedules/{house.practitioner}"
    assert house.api.get(path).status_code == 404
    hours = [{"days": ["mon", "wed"], "opens": "08:00", "closes": "24:00", "location_id": house.location}]
    away = [{"starts_at": "2027-01-04T00:00:00+01:00", "ends_at": "2027-01-05T00:00:00+01:00", "note": "Course"}]
    made = house.put_schedule(hours, absences=away)
    assert (made.status_code, made.headers["Location"]) == (201, path)
    data = made.json()["data"]
    assert (data["practitioner_id"], data["hours"], data["version"]) == (house.practitioner, hours, 1)
    assert data["absences"] == [
        {"starts_at": "2027-01-03T23:00:00.000Z", "ends_at": "2027-01-04T23:00:00.000Z", "note": "Course"}
    ]
    assert house.api.get(path).json()["data"] == data
    again = house.put_schedule([{"days": ["tue"], "opens": "08:00", "closes": "09:00"}])
    assert (again.status_code, again.json()["data"]["version"]) == (200, 2)
    assert again.json()["data"]["hours"] == [
        {"days": ["tue"], "opens": "08:00", "closes": "09:00", "location_id": None}
    ]
    assert again.json()["data"]["absences"] == []
    same = house.put_schedule([{"days": ["tue"], "opens": "08:00", "closes": "09:00"}])
    assert same.json()["data"] == again.json()["data"]
    stale = house.api.put(path, json={"hours": []}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (409, "version_conflict")


def test_what_is_booked_already_stays(house):
    made = house.book(monday(8))
    assert house.put_schedule([]).status_code == 201
    assert house.read(made["id"]) == made
    assert house.api.post(BASE, json=house.body(monday(9))).json()["code"] == "outside_hours"


@pytest.mark.parametrize(
    ("hours", "code", "field"),
    [
        ([{"days": ["mon"], "opens": "09:00", "closes": "09:00"}], "validation_error", "hours.0.closes"),
        ([{"days": ["mon"], "opens": "9:00", "closes": "10:00"}], "validation_error", "hours.0.opens"),
        ([{"days": ["holiday"], "opens": "09:00", "closes": "10:00"}], "validation_error", "hours.0.days.0"),
        ([{"days": [], "opens": "09:00", "closes": "10:00"}], "validation_error", "hours.0.days"),
        (None, "validation_error", "hours"),
    ],
)
def test_malformed_hours_are_refused(house, hours, code, field):
    answer = house.put_schedule(hours)
    assert (answer.status_code, answer.json()["code"]) == (400, code), answer.content
    assert answer.json()["errors"][0]["field"] == field
    assert house.api.get(f"{BASE}/schedules/{house.practitioner}").status_code == 404


def test_a_schedule_is_of_an_active_practitioner_at_active_locations(house):
    hours = [{"days": ["mon"], "opens": "08:00", "closes": "09:00"}]
    gone = practice.practitioner(house.tenant, active=False)
    for who in (gone, uuid7_text(), "x" * 70):
        answer = house.put_schedule(hours, practitioner=who)
        assert (answer.status_code, answer.json()["code"]) == (422, "practitioner_not_found")
    for where in (uuid7_text(), practice.place(house.tenant, status="inactive"), clinic().location):
        answer = house.put_schedule([hours[0] | {"location_id": where}])
        assert (answer.status_code, answer.json()["code"]) == (422, "location_not_found")


def test_a_foreign_tenant_has_no_part_in_a_schedule(house):
    assert house.put_schedule([]).status_code == 201
    stranger = clinic()
    assert stranger.api.get(f"{BASE}/schedules/{house.practitioner}").status_code == 404
    assert stranger.put_schedule([], practitioner=house.practitioner).json()["code"] == "practitioner_not_found"
