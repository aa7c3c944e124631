"""Reminders: told once each, whoever runs the job and how often."""

from datetime import timedelta

import pytest

from appointments.models import Appointment
from appointments.reminders import remind
from core.clock import now
from core.db import tenant_context
from ledger.models import Event
from organizations.models import Tenant
from tests.appointments import practice
from tests.appointments.practice import clinic, monday
from tests.races import race

pytestmark = pytest.mark.usefixtures("each_number_of_lanes")
DUE = "appointment.reminder_due"


@pytest.fixture(scope="module")
def house():
    return clinic()


def told(house, made):
    with tenant_context(house.tenant.id):
        rows = Event.objects.filter(tenant_id=house.tenant.id, resource_id=made["id"], type=DUE)
        return [(one.occurred_at, one.data, one.resource_version) for one in rows.order_by("occurred_at")]


def booked(house, start, **more):
    return house.book(start, practitioner_id=practice.practitioner(house.tenant), **more)


def test_each_reminder_is_told_once_at_its_time(house):
    start = monday(10)
    made = booked(house, start, reminders=[1440, 60])
    remind(at=start - timedelta(days=1, minutes=1))
    assert told(house, made) == []
    day_before, hour_before = start - timedelta(days=1), start - timedelta(minutes=59)
    for at in (day_before, day_before, hour_before, hour_before, start + timedelta(minutes=5)):
        remind(at=at)
    assert told(house, made) == [(day_before, {"status": "booked"}, 1), (hour_before, {"status": "booked"}, 1)]
    assert house.read(made["id"]) == made


def test_reminders_that_were_missed_are_told_one_by_one_and_none_after_the_beginning(house):
    start = monday(10)
    made, late = booked(house, start, reminders=[120, 60, 30]), booked(house, start, reminders=[60])
    remind(at=start - timedelta(minutes=45))
    assert len(told(house, made)) == 2
    remind(at=start)
    assert len(told(house, made)) == 2
    assert len(told(house, late)) == 1
    with tenant_context(house.tenant.id):
        rows = Appointment.objects.filter(tenant_id=house.tenant.id, pk__in=[made["id"], late["id"]])
        assert [one.next_reminder_at for one in rows] == [None, None]


def test_a_reminder_whose_time_was_over_at_booking_is_not_told(house):
    made = booked(house, now() + timedelta(hours=2), reminders=[1440, 60], outside_hours=True)
    remind(at=now())
    assert told(house, made) == []
    remind(at=now() + timedelta(minutes=61))
    assert len(told(house, made)) == 1


def test_only_booked_and_confirmed_appointments_are_told_of(house):
    start = monday(10)
    proposed = booked(house, start, status="proposed")
    cancelled, arrived, confirmed = (booked(house, start) for _ in range(3))
    for one, action in ((cancelled, "cancel"), (arrived, "check-in"), (confirmed, "confirm")):
        assert house.act(one, action).status_code == 200
    remind(at=start - timedelta(hours=1))
    assert [len(told(house, one)) for one in (proposed, cancelled, arrived, confirmed)] == [0, 0, 0, 1]


def test_a_moved_appointment_is_reminded_of_at_its_new_time(house):
    made = booked(house, monday(10))
    later = monday(10, weeks=3)
    answer = house.api.patch(f"{practice.BASE}/{made['id']}", json={"starts_at": later.isoformat()})
    assert answer.status_code == 200
    remind(at=monday(9, 59))
    assert told(house, made) == []
    remind(at=later - timedelta(hours=1))
    assert len(told(house, made)) == 1


def test_workers_that_meet_tell_each_reminder_once(house):
    start = monday(10)
    made = [booked(house, start, reminders=[60, 30]) for _ in range(12)]
    at = start - timedelta(minutes=15)
    outcomes = race(*(lambda: remind(at=at) for _ in range(6)))
    assert not [one for one in outcomes if isinstance(one, Exception)], outcomes
    remind(at=at)
    assert [len(told(house, one)) for one in made] == [2] * 12


def test_a_suspended_tenant_is_left_alone(house):
    other = clinic()
    start = monday(10)
    made = booked(other, start)
    Tenant.objects.filter(pk=other.tenant.id).update(status="suspended")
    try:
        remind(at=start - timedelta(hours=1))
        assert told(other, made) == []
    finally:
        Tenant.objects.filter(pk=other.tenant.id).update(status="active")
    remind(at=start - timedelta(minutes=30))
    assert len(told(other, made)) == 1
