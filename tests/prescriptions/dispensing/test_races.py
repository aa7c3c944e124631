"""Who meets at one prescription: one of them is right, and the rows of both sides tell the same."""

import json
import signal
import subprocess
import sys
from collections import Counter

import pytest

from devtools.places import ROOT
from devtools.processes import die_with_parent
from tests.prescriptions.dispensing.counter import (
    BASE,
    as_owner,
    assert_whole,
    dispense,
    entered,
    line,
    refills,
    stored,
    told,
)
from tests.prescriptions.ward import done
from tests.prescriptions.ward import ward as new_ward
from tests.races import race

CALLERS = 8
WRITER = "tests.prescriptions.dispensing.writer"


@pytest.fixture(scope="module")
def ward():
    """Both sides; a second pharmacy, and an empty record of warnings."""
    found = new_ward()
    found.other = found.pharmacy.place(name="Second pharmacy", type="pharmacy", listed=True)
    return found


@pytest.fixture(scope="module")
def rounds(long):
    return 40 if long else 6


def codes_of(answers):
    return Counter((one.status_code, one.json().get("code")) for one in answers)


def sent(side, role, path, key="", **body):
    """A request by a client of its own, for a thread."""
    api = side.client(role)
    headers = {"Idempotency-Key": key} if key else {}
    return lambda: api.post(path, json=body, headers=headers)


def at_pharmacy(ward, one, action, **more):
    return sent(ward.pharmacy, "pharmacist", f"{BASE}/{one['id']}/{action}", **more)


def by_owner(ward, one, action, **more):
    return sent(ward.clinic, "prescriber", f"{BASE}/{one['id']}/{action}", **more)


def test_last_fill_has_as_many_winners_as_there_are_fills(ward, rounds):
    total = Counter()
    for number in range(rounds):
        one = ward.routed(refills(2))
        body = {} if number % 2 else {"lines": [line(one, quantity="21")]}
        answers = race(*(at_pharmacy(ward, one, "dispense", **body) for _ in range(CALLERS)))
        codes = codes_of(answers)
        assert codes == {(201, None): 2, (409, "invalid_transition"): CALLERS - 2}, codes
        held = as_owner(ward, one)
        assert (held["items"][0]["dispensed_quantity"], held["status"]) == ("42", "dispensed")
        fills = sorted(found.json()["data"]["fill_number"] for found in answers if found.status_code == 201)
        assert fills == [1, 2]
        total += codes
    assert total[(201, None)] == 2 * rounds
    assert_whole(ward)


def test_parts_never_exceed_the_fill(ward, rounds):
    for _ in range(rounds):
        one = ward.routed(refills(1))
        body = {"lines": [line(one, quantity="5.5")]}
        codes = codes_of(race(*(at_pharmacy(ward, one, "dispense", **body) for _ in range(CALLERS))))
        assert codes == {(201, None): 3, (409, "over_dispensed"): CALLERS - 3}, codes
        assert as_owner(ward, one)["items"][0]["dispensed_quantity"] == "16.5"
    assert_whole(ward)


def test_cancel_against_dispense(ward, rounds):
    winners = Counter()
    for _ in range(rounds):
        one = ward.routed()
        works = [by_owner(ward, one, "cancel") if n % 2 else at_pharmacy(ward, one, "dispense") for n in range(CALLERS)]
        codes = codes_of(race(*works))
        held = as_owner(ward, one)
        given = {"dispensed": "21", "cancelled": "0"}[held["status"]]
        assert held["items"][0]["dispensed_quantity"] == given
        right = (201, None) if held["status"] == "dispensed" else (200, None)
        assert codes == {right: 1, (409, "invalid_transition"): CALLERS - 1}, codes
        assert told(ward.clinic, one)[-1] == told(ward.pharmacy, one)[-1] == held["status"]
        winners[held["status"]] += 1
    assert set(winners) <= {"dispensed", "cancelled"}
    assert_whole(ward)


def test_route_against_route(ward, rounds):
    for _ in range(rounds):
        one = ward.signed()
        places = [ward.pharmacy_id, ward.other]
        works = [by_owner(ward, one, "route", pharmacy_location_id=places[n % 2]) for n in range(CALLERS)]
        answers = race(*works)
        good = [found.json()["data"] for found in answers if found.status_code == 200]
        assert codes_of(answers)[(409, "already_routed")] == CALLERS - len(good)
        routes = stored(ward, one)["Route"]
        expected = Counter({"sent": 1}) + Counter({"superseded": len(good) - 1})
        assert Counter(route["state"] for route in routes) == expected
        newest = max(good, key=lambda found: found["version"])
        assert as_owner(ward, one)["route"] == newest["route"]
        assert [action for action, _, _ in entered(ward, one)][-len(good) :] == ["routed"] + ["rerouted"] * (
            len(good) - 1
        )
    assert_whole(ward)


def test_reroute_against_dispense(ward, rounds):
    """Between two tenants: after the re-route the former pharmacy finds nothing."""
    other = new_ward()
    found = Counter()
    for _ in range(rounds):
        one = ward.routed()
        works = [
            by_owner(ward, one, "route", pharmacy_location_id=other.pharmacy_id)
            if n % 2
            else at_pharmacy(ward, one, "dispense")
            for n in range(CALLERS)
        ]
        codes = codes_of(race(*works))
        held = as_owner(ward, one)
        if held["status"] == "dispensed":
            assert codes == {(201, None): 1, (409, "invalid_transition"): CALLERS - 1}, codes
        else:
            assert held["route"]["pharmacy_location_id"] == other.pharmacy_id
            assert codes == {(200, None): 1, (409, "already_routed"): 3, (404, "not_found"): 4}, codes
            assert ward.pharmacist.get(f"{BASE}/{one['id']}").status_code == 404
            assert done(other.pharmacist.get(f"{BASE}/{one['id']}"))["status"] == "routed"
        found[held["status"]] += 1
    assert set(found) <= {"dispensed", "routed"}
    assert_whole(ward)
    assert_whole(other)


def test_return_against_dispense(ward, rounds):
    for _ in range(rounds):
        one = ward.routed(refills(2))
        body = {"reason_code": "out_of_stock"}
        works = [
            at_pharmacy(ward, one, "return", **body) if n % 2 else at_pharmacy(ward, one, "dispense")
            for n in range(CALLERS)
        ]
        codes = codes_of(race(*works))
        held = as_owner(ward, one)
        if held["status"] == "signed":
            assert codes == {(200, None): 1, (404, "not_found"): CALLERS - 1}, codes
            assert held["dispense_status"] == "none"
        else:
            assert (held["status"], held["dispense_status"]) == ("dispensed", "complete")
            assert codes[(201, None)] == 2
            assert codes[(409, "partially_dispensed")] + codes[(409, "invalid_transition")] == CALLERS - 2
    assert_whole(ward)


def test_one_key_has_one_effect(ward, rounds):
    for number in range(rounds):
        one = ward.routed(refills(8))
        answers = race(*(at_pharmacy(ward, one, "dispense", key=f"one-{number}") for _ in range(CALLERS)))
        assert codes_of(answers) == {(201, None): CALLERS}
        assert len({found.content for found in answers}) == 1
        assert sum("Idempotency-Replayed" in found.headers for found in answers) == CALLERS - 1
        assert as_owner(ward, one)["items"][0]["dispensed_quantity"] == "21"
    assert_whole(ward)


def test_one_token_has_one_pharmacy(ward, rounds):
    for _ in range(rounds):
        one = ward.signed()
        token = done(ward.prescriber.post(f"{BASE}/{one['id']}/token"), 201)["token"]
        places = [ward.pharmacy_id, ward.other]
        works = [
            sent(ward.pharmacy, "pharmacist", f"{BASE}/claim", token=token, pharmacy_location_id=places[n % 2])
            for n in range(CALLERS)
        ]
        codes = codes_of(race(*works))
        assert codes == {(200, None): 1, (404, "not_found"): CALLERS - 1}, codes
    assert_whole(ward)


def test_reversal_is_made_once(ward, rounds):
    for _ in range(rounds):
        one = ward.routed(refills(2))
        given = dispense(ward, one)
        path = f"{BASE}/{one['id']}/dispensations/{given['id']}/reverse"
        works = [sent(ward.pharmacy, "pharmacist", path, reason_code="other") for _ in range(CALLERS)]
        codes = codes_of(race(*works))
        assert codes == {(200, None): 1, (409, "invalid_transition"): CALLERS - 1}, codes
        assert as_owner(ward, one)["items"][0]["dispensed_quantity"] == "0"
    assert_whole(ward)


TRIPS = 6  # of a dispensation, as tests/prescriptions/test_trips.py counts them


@pytest.mark.parametrize("trips", range(1, TRIPS + 1))
def test_process_killed_in_the_middle_has_dispensed_once_or_not(ward, service_environment, trips):
    one = ward.routed(refills(3))
    path, key = f"{BASE}/{one['id']}/dispense", f"killed-{trips}"
    command = [sys.executable, "-m", WRITER, json.dumps(ward.pharmacist.headers), key, str(trips), path]
    options = {"stdout": subprocess.PIPE, "text": True, "preexec_fn": die_with_parent()}
    with subprocess.Popen(command, env=service_environment, cwd=ROOT, **options) as process:
        assert process.stdout.readline() == "stopped\n"
        process.send_signal(signal.SIGKILL)
    committed = trips == TRIPS
    assert as_owner(ward, one)["items"][0]["dispensed_quantity"] == ("21" if committed else "0")
    assert_whole(ward)
    answer = ward.pharmacist.post(path, json={}, headers={"Idempotency-Key": key})
    done(answer, 201)
    assert ("Idempotency-Replayed" in answer.headers) is committed
    assert as_owner(ward, one)["items"][0]["dispensed_quantity"] == "21"
    assert len(stored(ward, one)["Dispensation"]) == 1
    assert told(ward.pharmacy, one) == ["routed", "partially_dispensed"]
    assert_whole(ward)
