"""The lifecycle of an appointment over HTTP: every state with every action; changes and moves; series."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import DatabaseError, transaction

from appointments.models import Appointment
from appointments.states import Status
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from ledger.models import Event
from tests.appointments import practice
from tests.appointments.practice import BASE, monday, rfc

WAYS = {
    "proposed": [],
    "booked": [],
    "confirmed": ["confirm"],
    "checked_in": ["check-in"],
    "in_progress": ["check-in", "start"],
    "completed": ["check-in", "complete"],
    "no_show": ["no-show"],
    "cancelled": ["cancel"],
}
ALLOWED = {
    "proposed": {"update", "confirm", "cancel"},
    "booked": {"update", "confirm", "check-in", "no-show", "cancel"},
    "confirmed": {"update", "check-in", "start", "no-show", "cancel"},
    "checked_in": {"start", "complete", "cancel"},
    "in_progress": {"complete"},
    "completed": set(),
    "no_show": set(),
    "cancelled": set(),
}
BECOMES = {
    "confirm": "confirmed",
    "check-in": "checked_in",
    "start": "in_progress",
    "complete": "completed",
    "no-show": "no_show",
    "cancel": "cancelled",
}
TELLS = {
    "confirm": "appointment.confirmed",
    "check-in": "appointment.checked_in",
    "start": "appointment.started",
    "complete": "appointment.completed",
    "no-show": "appointment.no_show",
    "cancel": "appointment.cancelled",
}


def in_state(free, state):
    """An appointment in a state, which began a minute ago, so that nobody is too early."""
    made = free.book(
        now() - timedelta(minutes=1), outside_hours=True, **({"status": "proposed"} if state == "proposed" else {})
    )
    for action in WAYS[state]:
        answer = free.act(made, action)
        assert answer.status_code == 200, answer.content
    found = free.read(made["id"])
    assert found["status"] == state
    return found


def events(free, key):
    with tenant_context(free.tenant.id):
        rows = Event.objects.filter(tenant_id=free.tenant.id, resource_id=key).order_by("id")
        return [(one.type, one.data, one.resource_version) for one in rows]


@pytest.mark.parametrize("action", [*BECOMES, "update"])
@pytest.mark.parametrize("state", Status.values)
def test_every_state_with_every_action(free, state, action):
    before = in_state(free, state)
    told = events(free, before["id"])
    if action == "update":
        answer = free.api.patch(f"{BASE}/{before['id']}", json={"reason": "changed"})
    else:
        answer = free.act(before, action)
    if action in ALLOWED[state]:
        assert answer.status_code == 200, answer.content
        after = answer.json()["data"]
        assert after["status"] == BECOMES.get(action, state)
        assert after["version"] == before["version"] + 1
        assert free.read(before["id"]) == after
        expected = [(TELLS[action], {"status": after["status"]}, after["version"])] if action != "update" else []
        assert events(free, before["id"]) == told + expected
        return
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "invalid_transition"), answer.content
    assert (problem["from"], problem["action"], set(problem["allowed"])) == (state, action, ALLOWED[state])
    assert free.read(before["id"]) == before
    assert events(free, before["id"]) == told


def test_nobody_has_missed_what_has_not_begun(free):
    made = free.book(monday(10))
    answer = free.act(made, "no-show")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_early")
    assert answer.json()["starts_at"] == made["starts_at"]
    assert free.read(made["id"]) == made


def test_the_database_holds_the_same_law(free):
    made = free.book(monday(10))
    with (
        pytest.raises(DatabaseError, match="may not go from booked to completed"),
        transaction.atomic(),
        tenant_context(free.tenant.id),
    ):
        Appointment.objects.filter(tenant_id=free.tenant.id, pk=made["id"]).update_versions(
            at=now(), status="completed"
        )
    assert free.read(made["id"]) == made


def test_a_proposed_appointment_is_refused_its_slot_at_confirmation(free):
    start = monday(10)
    proposed = free.book(start, status="proposed")
    holder = free.book(start)
    answer = free.act(proposed, "confirm")
    assert (answer.status_code, answer.json()["code"]) == (409, "slot_taken")
    assert answer.json()["starts_at"] == rfc(start)
    assert free.read(proposed["id"]) == proposed
    free.act(holder, "cancel")
    assert free.act(proposed, "confirm").json()["data"]["status"] == "confirmed"
    assert events(free, proposed["id"]) == [("appointment.confirmed", {"status": "confirmed"}, 2)]


def test_cancelling_keeps_its_reason(free):
    plain, said = free.book(monday(10)), free.book(monday(11))
    assert free.act(plain, "cancel").json()["data"]["cancel_reason_code"] == "unspecified"
    answer = free.act(said, "cancel", json={"reason_code": "patient_request"})
    assert answer.json()["data"]["cancel_reason_code"] == "patient_request"
    refused = free.act(free.book(monday(12)), "cancel", json={"reason_code": "boredom"})
    assert (refused.status_code, refused.json()["code"]) == (400, "validation_error")


def patch(free, made, body, **headers):
    return free.api.patch(f"{BASE}/{made['id']}", json=body, headers=headers)


def test_a_moved_appointment_keeps_its_length_and_frees_its_slot(free):
    start = monday(10)
    made = free.book(start, duration_minutes=45)
    answer = patch(free, made, {"starts_at": (start + timedelta(hours=1)).isoformat()}, **{"If-Match": '"1"'})
    moved = answer.json()["data"]
    assert (moved["starts_at"], moved["ends_at"]) == (rfc(monday(11)), rfc(monday(11, 45)))
    assert moved["version"] == 2
    assert events(free, made["id"])[1:] == [("appointment.rescheduled", {"status": "booked"}, 2)]
    free.book(start)
    longer = patch(free, moved, {"duration_minutes": 60, "version": 2}).json()["data"]
    assert longer["ends_at"] == rfc(monday(12))


def test_a_move_onto_a_taken_slot_changes_nothing(free):
    free.book(monday(11))
    made = free.book(monday(10))
    answer = patch(free, made, {"starts_at": monday(10, 45).isoformat(), "reason": "later"})
    assert (answer.status_code, answer.json()["code"]) == (409, "slot_taken")
    assert free.read(made["id"]) == made
    other = practice.practitioner(free.tenant)
    moved = patch(free, made, {"starts_at": monday(11).isoformat(), "practitioner_id": other}).json()["data"]
    assert moved["practitioner_id"] == other


def test_what_is_not_about_the_time_tells_nothing(free):
    made = free.book(monday(10))
    changed = patch(free, made, {"reason": "Knee", "mode": "phone", "service_type": None}).json()["data"]
    assert (changed["reason"], changed["mode"], changed["version"]) == ("Knee", "phone", 2)
    assert patch(free, made, {"reason": "Knee"}).json()["data"] == changed
    assert len(events(free, made["id"])) == 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"status": "confirmed"}, 400, "unknown_field"),
        ({"recurrence": None}, 400, "unknown_field"),
        ({"starts_at": "2031-01-01T10:00:00"}, 400, "validation_error"),
        ({"ends_at": "2031-01-01T10:00:00Z"}, 400, "validation_error"),
        ({"starts_at": "2026-01-01T10:00:00Z"}, 422, "starts_in_past"),
        ({"practitioner_id": "nobody"}, 422, "practitioner_not_found"),
        ({"patient_id": "nobody"}, 422, "patient_not_found"),
        ({"location_id": "0191b5ce-0000-7000-8000-000000000000"}, 422, "location_not_found"),
        ({"reason": "x", "version": 9}, 409, "version_conflict"),
    ],
)
def test_a_refused_change_changes_nothing(free, body, status, code):
    made = free.book(monday(10))
    answer = patch(free, made, body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content
    assert free.read(made["id"]) == made


def test_a_move_outside_the_hours_is_refused_unless_it_is_wanted(free):
    here = practice.place(free.tenant, opening_hours=[{"days": ["mon"], "opens": "08:00", "closes": "18:00"}])
    made = free.book(monday(10), location_id=here)
    late = {"starts_at": monday(20).isoformat()}
    assert patch(free, made, late).json()["code"] == "outside_hours"
    moved = patch(free, made, late | {"outside_hours": True}).json()["data"]
    assert patch(free, moved, {"outside_hours": False}).json()["code"] == "outside_hours"
    assert patch(free, moved, {"reason": "late"}).status_code == 200
    assert patch(free, moved, {"patient_id": practice.patient(free.tenant)}).status_code == 200


def test_another_location_has_its_own_zone(free):
    made = free.book(monday(10))
    cairo = practice.place(free.tenant, time_zone="Africa/Cairo")
    moved = patch(free, made, {"location_id": cairo}).json()["data"]
    assert (moved["time_zone"], moved["starts_at"]) == ("Africa/Cairo", made["starts_at"])
    assert events(free, made["id"])[-1][0] == "appointment.rescheduled"


# -- series ------------------------------------------------------------------------------------------------------------


def listed(free, first, query="sort=starts_at"):
    return free.api.get(f"{BASE}?series_id={first['series_id']}&{query}").json()["data"]


@pytest.mark.parametrize("zone", ["Africa/Cairo", "America/New_York", "Europe/Berlin", "Pacific/Apia"])
def test_a_series_is_at_the_same_local_time_in_the_zone_of_its_location(free, zone):
    here = practice.place(free.tenant, time_zone=zone)
    start = datetime(2027, 1, 4, 9, 15, tzinfo=ZoneInfo(zone))
    first = free.book(start, location_id=here, recurrence={"every": 2, "unit": "week", "count": 26})
    rows = listed(free, first)
    assert next(one["id"] for one in rows) == first["id"]
    local = [datetime.fromisoformat(one["starts_at"]).astimezone(ZoneInfo(zone)) for one in rows]
    assert [(one.hour, one.minute) for one in local] == [(9, 15)] * 26
    assert [(one.date() - start.date()).days for one in local] == [14 * n for n in range(26)]
    assert {one["recurrence"]["count"] for one in rows} == {26}
    assert all(events(free, one["id"]) == [("appointment.booked", {"status": "booked"}, 1)] for one in rows)


def test_a_series_is_booked_whole_or_not_at_all(free):
    start = monday(10)
    free.book(start + timedelta(weeks=2))
    free.book(start + timedelta(weeks=3))
    series = {"every": 1, "unit": "week", "count": 5}
    before = free.api.get(f"{BASE}?practitioner_id={free.practitioner}").json()["data"]
    answer = free.api.post(BASE, json=free.body(start, recurrence=series))
    assert (answer.status_code, answer.json()["code"]) == (409, "slot_taken")
    assert datetime.fromisoformat(answer.json()["starts_at"]) == (start + timedelta(weeks=2)).astimezone(UTC)
    assert free.api.get(f"{BASE}?practitioner_id={free.practitioner}").json()["data"] == before


def test_a_series_that_meets_a_holiday_names_the_day(free):
    hours = [{"days": ["mon"], "opens": "09:00", "closes": "12:00"}]
    away = {"starts_at": monday(0, weeks=4).isoformat(), "ends_at": monday(23, weeks=4).isoformat()}
    assert free.put_schedule(hours, absences=[away]).status_code == 201
    answer = free.api.post(BASE, json=free.body(monday(10), recurrence={"every": 1, "unit": "week", "count": 4}))
    assert (answer.status_code, answer.json()["code"]) == (422, "outside_hours")
    assert answer.json()["starts_at"] == rfc(monday(10, weeks=4))


def test_a_series_by_the_month_keeps_its_day(free):
    start = datetime(2027, 1, 31, 10, tzinfo=ZoneInfo("Europe/Berlin"))
    first = free.book(start, recurrence={"every": 1, "unit": "month", "count": 4})
    assert [one["starts_at"] for one in listed(free, first)] == [
        "2027-01-31T09:00:00.000Z", "2027-02-28T09:00:00.000Z", "2027-03-31T08:00:00.000Z", "2027-04-30T08:00:00.000Z",
    ]  # fmt: skip


def test_following_ends_this_and_the_later_ones_that_can_be_cancelled(free):
    first = free.book(monday(10), recurrence={"every": 1, "unit": "week", "count": 5})
    rows = listed(free, first)
    assert free.act(rows[3], "check-in").status_code == 200
    assert free.act(rows[3], "start").status_code == 200
    answer = free.act(rows[1], "cancel", json={"scope": "following", "reason_code": "provider_request"})
    assert (answer.status_code, answer.json()["data"]["id"]) == (200, rows[1]["id"])
    after = listed(free, first)
    assert [one["status"] for one in after] == ["booked", "cancelled", "cancelled", "in_progress", "cancelled"]
    assert [one["cancel_reason_code"] for one in after if one["status"] == "cancelled"] == ["provider_request"] * 3
    assert events(free, rows[4]["id"])[-1] == ("appointment.cancelled", {"status": "cancelled"}, 2)
    assert free.act(after[0], "cancel", json={"scope": "this"}).status_code == 200
    assert listed(free, first)[3]["status"] == "in_progress"


def test_a_key_of_a_cancelled_series_replays(free):
    first = free.book(monday(10), recurrence={"every": 1, "unit": "week", "count": 3})
    key = {"Idempotency-Key": uuid7_text()}
    one = free.act(first, "cancel", json={"scope": "following"}, headers=key)
    again = free.act(first, "cancel", json={"scope": "following"}, headers=key)
    assert (again.status_code, again.content) == (200, one.content)
    assert [row["version"] for row in listed(free, first)] == [2, 2, 2]


def test_a_stale_version_is_refused_and_nothing_is_deleted(free):
    made = free.book(monday(10))
    stale = free.act(made, "confirm", headers={"If-Match": '"7"'})
    assert (stale.status_code, stale.json()["code"], stale.json()["current_version"]) == (409, "version_conflict", 1)
    assert free.api.delete(f"{BASE}/{made['id']}").status_code == 405
    assert free.act("0191b5ce-0000-7000-8000-000000000000", "confirm").status_code == 404
    assert free.read(made["id"]) == made


def test_an_action_takes_an_empty_body_and_no_other(free):
    made = free.book(monday(10))
    assert free.act(made, "confirm", json={}).status_code == 200
    refused = free.act(made, "cancel", json={"why": "x"})
    assert (refused.status_code, refused.json()["code"]) == (400, "unknown_field")


def test_an_appointment_can_leave_its_location(free):
    made = free.book(monday(10), location_id=practice.place(free.tenant, time_zone="Africa/Cairo"))
    moved = patch(free, made, {"location_id": None}).json()["data"]
    assert (moved["location_id"], moved["time_zone"]) == (None, "Europe/Berlin")
