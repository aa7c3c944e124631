"""Booking an appointment: what comes back, what is told, what is refused."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from appointments.models import Appointment
from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api.access.models import AccessRecord
from ledger.models import Event
from organizations.models import TenantConfiguration
from tests.appointments import practice
from tests.appointments.practice import BASE, clinic, monday, rfc


def rows(house):
    with tenant_context(house.tenant.id):
        return Appointment.objects.filter(tenant_id=house.tenant.id).count()


def told(house, key):
    with tenant_context(house.tenant.id):
        return list(Event.objects.filter(tenant_id=house.tenant.id, resource_id=key).order_by("occurred_at", "id"))


def test_a_booked_appointment_is_answered_read_and_told(free):
    start = monday(10)
    made = free.book(start, service_type="Follow-up", reason="Knee", mode="video", reminders=[60, 60, 1440])
    assert made | {"id": "", "created_at": "", "updated_at": "", "created_by": ""} == {
        "id": "",
        "tenant_id": str(free.tenant.id),
        "patient_id": free.patient,
        "practitioner_id": free.practitioner,
        "location_id": free.location,
        "status": "booked",
        "starts_at": rfc(start),
        "ends_at": rfc(start + timedelta(minutes=30)),
        "time_zone": "Europe/Berlin",
        "service_type": "Follow-up",
        "reason": "Knee",
        "mode": "video",
        "telehealth_url": None,
        "outside_hours": False,
        "recurrence": None,
        "series_id": None,
        "reminders": [1440, 60],
        "cancel_reason_code": None,
        "warnings": [],
        "created_by": "",
        "created_at": "",
        "updated_at": "",
        "version": 1,
    }
    assert free.read(made["id"]) == made
    (event,) = told(free, made["id"])
    assert (event.type, event.data, event.resource_version) == ("appointment.booked", {"status": "booked"}, 1)
    assert free.patient not in str(vars(event))


def test_the_answer_names_its_address_and_version(free):
    answer = free.api.post(BASE, json=free.body(monday(10)))
    assert answer.headers["Location"] == f"{BASE}/{answer.json()['data']['id']}"
    assert answer.headers["ETag"] == '"1"'
    again = free.api.get(answer.headers["Location"], headers={"If-None-Match": '"1"'})
    assert again.status_code == 304


def test_a_proposed_appointment_holds_no_slot_and_tells_nothing(free):
    start = monday(10)
    free.book(start)
    made = free.book(start, status="proposed")
    assert (made["status"], told(free, made["id"])) == ("proposed", [])


def test_reminders_come_from_the_policy(free):
    assert free.book(monday(10))["reminders"] == [1440]


def test_an_appointment_needs_no_location_and_then_goes_by_the_tenants_zone(free):
    made = free.book(monday(3), location_id=...)
    assert (made["location_id"], made["time_zone"]) == (None, "Europe/Berlin")


def test_a_location_has_a_zone_of_its_own(free):
    here = practice.place(free.tenant, time_zone="Africa/Cairo")
    assert free.book(monday(10), location_id=here)["time_zone"] == "Africa/Cairo"


def test_a_taken_slot_is_refused_with_the_taken_span(free):
    start = monday(10)
    free.book(start)
    before = rows(free)
    answer = free.api.post(BASE, json=free.body(start + timedelta(minutes=10)))
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "slot_taken")
    assert (problem["starts_at"], problem["ends_at"]) == (rfc(start), rfc(start + timedelta(minutes=30)))
    assert rows(free) == before


def test_slots_that_touch_and_slots_of_cancelled_appointments_are_free(free):
    start = monday(10)
    first = free.book(start)
    free.book(start + timedelta(minutes=30))
    free.book(start - timedelta(minutes=30))
    assert free.act(first, "cancel").status_code == 200
    free.book(start)


def test_a_patient_who_is_booked_twice_is_warned_of(free):
    start = monday(10)
    other = practice.practitioner(free.tenant)
    first = free.book(start)
    second = free.book(start + timedelta(minutes=15), practitioner_id=other)
    assert second["warnings"] == [{"code": "patient_double_booked", "appointment_id": first["id"]}]
    third = free.book(start + timedelta(hours=3), practitioner_id=other)
    assert third["warnings"] == []


REFUSED = {
    "no offset": (lambda one: {"starts_at": "2027-03-01T09:00:00"}, 400, "validation_error", "starts_at"),
    "no instant": (lambda one: {"starts_at": "tomorrow"}, 400, "validation_error", "starts_at"),
    "year 1": (lambda one: {"starts_at": "0001-01-01T00:00:00+14:00"}, 400, "validation_error", "starts_at"),
    "year 9999": (lambda one: {"starts_at": "9999-12-31T23:59:59-14:00"}, 400, "validation_error", "starts_at"),
    "four minutes": (lambda one: {"duration_minutes": 4}, 400, "validation_error", "duration_minutes"),
    "a day and a minute": (lambda one: {"duration_minutes": 1441}, 400, "validation_error", "duration_minutes"),
    "an end before the start": (
        lambda one: {"duration_minutes": ..., "ends_at": monday(8).isoformat()}, 400, "validation_error", "ends_at",
    ),
    "end and length": (lambda one: {"ends_at": monday(11).isoformat()}, 400, "validation_error", "duration_minutes"),
    "neither": (lambda one: {"duration_minutes": ...}, 400, "validation_error", "ends_at"),
    "no patient": (lambda one: {"patient_id": ...}, 400, "validation_error", "patient_id"),
    "not an id": (lambda one: {"patient_id": "a b"}, 400, "validation_error", "patient_id"),
    "unknown member": (lambda one: {"colour": "red"}, 400, "unknown_field", "colour"),
    "server's member": (lambda one: {"series_id": uuid7_text()}, 400, "unknown_field", "series_id"),
    "late status": (lambda one: {"status": "confirmed"}, 400, "validation_error", "status"),
    "unknown mode": (lambda one: {"mode": "letter"}, 400, "validation_error", "mode"),
    "one of a series": (
        lambda one: {"recurrence": {"every": 1, "unit": "week", "count": 1}}, 400, "validation_error", "recurrence.count",
    ),
    "days of a series": (
        lambda one: {"recurrence": {"every": 1, "unit": "day", "count": 3}}, 400, "validation_error", "recurrence.unit",
    ),
    "reminder at once": (lambda one: {"reminders": [0]}, 400, "validation_error", "reminders.0"),
    "past": (
        lambda one: {"starts_at": (now() - timedelta(minutes=6)).isoformat()}, 422, "starts_in_past", None,
    ),
    "unknown patient": (lambda one: {"patient_id": uuid7_text()}, 422, "patient_not_found", None),
    "foreign patient": (lambda one: {"patient_id": one["foreign"].patient}, 422, "patient_not_found", None),
    "deleted patient": (lambda one: {"patient_id": one["deleted"]}, 422, "patient_not_found", None),
    "unknown practitioner": (lambda one: {"practitioner_id": uuid7_text()}, 422, "practitioner_not_found", None),
    "inactive practitioner": (lambda one: {"practitioner_id": one["inactive"]}, 422, "practitioner_not_found", None),
    "a patient as practitioner": (
        lambda one: {"practitioner_id": one["house"].patient}, 422, "practitioner_not_found", None,
    ),
    "unknown location": (lambda one: {"location_id": uuid7_text()}, 422, "location_not_found", None),
    "foreign location": (lambda one: {"location_id": one["foreign"].location}, 422, "location_not_found", None),
    "closed location": (lambda one: {"location_id": one["closed"]}, 422, "location_not_found", None),
}  # fmt: skip


@pytest.fixture(scope="module")
def strangers(house):
    """What may not be named in a booking."""
    from tests.fhir_api.clients import prescriber

    gone = practice.patient(house.tenant)
    assert prescriber(house.tenant).delete(f"/Patient/{gone}").status_code in (200, 204)
    return {
        "house": house,
        "foreign": clinic(),
        "inactive": practice.practitioner(house.tenant, active=False),
        "closed": practice.place(house.tenant, status="inactive"),
        "deleted": gone,
    }


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_booking_has_its_code_and_changes_nothing(free, strangers, case):
    change, status, code, field = REFUSED[case]
    before = rows(free)
    answer = free.api.post(BASE, json=free.body(monday(10), **change(strangers)))
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content
    if field:
        assert [one["field"] for one in answer.json()["errors"]] == [field]
    assert rows(free) == before


def test_five_minutes_of_grace(free):
    assert free.book(now() - timedelta(minutes=4))["status"] == "booked"


HOURS = [{"days": ["mon"], "opens": "08:00", "closes": "18:00"}]


def test_outside_the_opening_hours_is_refused_unless_it_is_wanted(free):
    here = practice.place(free.tenant, opening_hours=HOURS)
    late = free.body(monday(17, 45), location_id=here)
    answer = free.api.post(BASE, json=late)
    assert (answer.status_code, answer.json()["code"]) == (422, "outside_hours")
    assert answer.json()["starts_at"] == rfc(monday(17, 45))
    assert free.api.post(BASE, json=late | {"outside_hours": True}).status_code == 201
    free.book(monday(17, 15), location_id=here)


def test_outside_the_working_hours_and_within_an_absence_is_refused(free):
    away = {"starts_at": monday(9).isoformat(), "ends_at": monday(10).isoformat(), "note": "Course"}
    hours = [{"days": ["mon"], "opens": "08:00", "closes": "12:00", "location_id": free.location}]
    assert free.put_schedule(hours, absences=[away]).status_code == 201
    for start in (monday(7, 45), monday(8, 45), monday(9, 30), monday(11, 45), monday(9, weeks=3) + timedelta(days=1)):
        answer = free.api.post(BASE, json=free.body(start))
        assert (answer.status_code, answer.json()["code"]) == (422, "outside_hours"), start
    free.book(monday(8, 30))
    free.book(monday(10))
    free.book(monday(9, weeks=3))


def test_a_holiday_has_hours_of_its_own(free):
    here = practice.place(
        free.tenant, opening_hours=[*HOURS, {"days": ["holiday"], "opens": "10:00", "closes": "11:00"}]
    )
    with tenant_context(free.tenant.id):
        kept = TenantConfiguration.objects.get(tenant_id=free.tenant.id)
        before = kept.policies
        day = monday(weeks=4).date().isoformat()
        TenantConfiguration.objects.filter(tenant_id=free.tenant.id).update(policies=before | {"holidays": [day]})
    try:
        answer = free.api.post(BASE, json=free.body(monday(9, weeks=4), location_id=here))
        assert answer.json()["code"] == "outside_hours"
        free.book(monday(10, weeks=4), location_id=here)
        answer = free.api.post(BASE, json=free.body(monday(10, weeks=3), location_id=here))
        assert answer.status_code == 201
    finally:
        with tenant_context(free.tenant.id):
            TenantConfiguration.objects.filter(tenant_id=free.tenant.id).update(policies=before)


def test_a_key_gives_the_same_answer_and_one_appointment(free):
    body, key = free.body(monday(10)), {"Idempotency-Key": uuid7_text()}
    first = free.api.post(BASE, json=body, headers=key)
    again = free.api.post(BASE, json=body, headers=key)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert free.api.post(BASE, json=body).json()["code"] == "slot_taken"


def test_a_booking_takes_five_trips(free):
    free.book(monday(8))
    with recording() as record:
        free.book(monday(10))
    assert len(record) <= 5, record.texts()
    with recording() as record:
        answer = free.api.post(BASE, json=free.body(monday(12)), headers={"Idempotency-Key": uuid7_text()})
    assert answer.status_code == 201
    assert len(record) <= 5, record.texts()


def test_a_booking_leaves_a_record_that_the_patient_was_looked_up(free):
    made = free.book(monday(10))
    with tenant_context(free.tenant.id):
        found = AccessRecord.objects.filter(tenant_id=free.tenant.id, patients=[free.patient])
        assert list(found.values_list("interaction", "count")) == [("validation", 1)]
    assert UUID(made["id"])


def test_instants_are_kept_to_their_parts_of_a_second(free):
    start = datetime(2031, 5, 5, 9, 0, 0, 123456, tzinfo=UTC)
    made = free.book(start)
    assert made["starts_at"] == "2031-05-05T09:00:00.123Z"
