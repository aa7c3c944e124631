"""Callers who meet: one slot for many, moves and confirmations onto it, and a writer who takes no lock."""

import threading
import time
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection, transaction

from appointments.models import Appointment
from bench.statements import recording
from core.db import tenant_context
from tests.appointments import practice
from tests.appointments.practice import BASE, clinic, monday
from tests.races import race

ROUNDS, CALLERS = 40, 8


@pytest.fixture(scope="module")
def house():
    return clinic()


def test_one_slot_has_one_winner(house):
    found = Counter()
    for number in range(ROUNDS):
        start = monday(8, weeks=3 + number)
        # the spans overlap without being the same
        bodies = [house.body(start + timedelta(minutes=caller)) for caller in range(CALLERS)]
        answers = race(*(lambda body=body: house.api.post(BASE, json=body) for body in bodies))
        codes = Counter((one.status_code, one.json().get("code")) for one in answers)
        assert codes == {(201, None): 1, (409, "slot_taken"): CALLERS - 1}, codes
        found += codes
        winner = next(one.json()["data"] for one in answers if one.status_code == 201)
        losers = [one.json() for one in answers if one.status_code == 409]
        assert {one["starts_at"] for one in losers} == {winner["starts_at"]}
    assert found == {(201, None): ROUNDS, (409, "slot_taken"): ROUNDS * (CALLERS - 1)}


def test_moves_and_confirmations_onto_one_slot_have_one_winner(house):
    for number in range(10):
        start = monday(10, weeks=3 + number)
        moved = [house.book(start + timedelta(hours=2 + n)) for n in range(3)]
        proposed = [house.book(start, status="proposed") for _ in range(3)]
        works = [
            *(
                lambda one=one: house.api.patch(f"{BASE}/{one['id']}", json={"starts_at": start.isoformat()})
                for one in moved
            ),
            *(lambda one=one: house.act(one, "confirm") for one in proposed),
        ]
        answers = race(*works)
        assert sorted(one.status_code for one in answers) == [200, 409, 409, 409, 409, 409]
        assert {one.json()["code"] for one in answers if one.status_code == 409} == {"slot_taken"}


def test_the_constraint_refuses_even_who_takes_no_lock_and_names_the_taken_span(house):
    start = monday(16)
    other = practice.practitioner(house.tenant)
    row = house.book(start - timedelta(hours=5), practitioner_id=other)
    answers = []

    def book():
        try:
            answers.append(house.api.post(BASE, json=house.body(start + timedelta(minutes=5), practitioner_id=other)))
        finally:
            connection.close()

    with transaction.atomic(), tenant_context(house.tenant.id):
        # a second writer, whose row nobody sees yet
        rows = Appointment.objects.filter(tenant_id=house.tenant.id, pk=row["id"])
        rows.update_versions(at=start, starts_at=start, ends_at=start + timedelta(minutes=30))
        thread = threading.Thread(target=book)
        thread.start()
        time.sleep(0.5)
        assert not answers  # it waits in the constraint
    thread.join(timeout=20)
    (answer,) = answers
    assert (answer.status_code, answer.json()["code"]) == (409, "slot_taken")
    assert answer.json()["starts_at"] == practice.rfc(start)


def test_two_practitioners_have_the_same_hour(house):
    start = monday(18)
    others = [practice.practitioner(house.tenant) for _ in range(4)]
    answers = race(
        *(lambda one=one: house.api.post(BASE, json=house.body(start, practitioner_id=one)) for one in others)
    )
    assert [one.status_code for one in answers] == [201] * 4


def test_booking_takes_four_trips_and_losing_one_less():
    one = clinic()
    body = one.body(monday(8))
    assert one.api.post(BASE, json=one.body(monday(9))).status_code == 201
    with recording() as won:
        assert one.api.post(BASE, json=body).status_code == 201
    with recording() as lost:
        assert one.api.post(BASE, json=body).json()["code"] == "slot_taken"
    assert (len(won), len(lost)) == (4, 3), won.texts()
