"""The trips of the pharmacy's operations with a key, which do not grow with the items."""

import pytest

from bench.statements import recording
from tests.prescriptions.dispensing.counter import BASE, dispense, refills
from tests.prescriptions.ward import done

MOST = {"acknowledge": 8, "ready": 8, "return": 9, "dispense": 9, "reverse": 9, "claim": 10}


def sent(post, one, path, **body):
    """Send a write and return its trips."""
    with recording() as record:
        answer = post(path, json=body, headers={"Idempotency-Key": f"{path}-{one['id']}"})
    assert answer.status_code in (200, 201), answer.content
    return len(record)


def trips(ward, count):
    """The trips of each operation on prescriptions of so many items."""
    post, found = ward.pharmacist.post, {}
    items = [refills(3) for _ in range(count)]
    one, two, three = ward.routed(*items), ward.routed(*items), ward.signed(*items)
    for action in ("acknowledge", "ready", "dispense"):
        found[action] = sent(post, one, f"{BASE}/{one['id']}/{action}")
    given = dispense(ward, one)
    found["reverse"] = sent(post, given, f"{BASE}/{one['id']}/dispensations/{given['id']}/reverse", reason_code="other")
    found["return"] = sent(post, two, f"{BASE}/{two['id']}/return", reason_code="other")
    token = done(ward.prescriber.post(f"{BASE}/{three['id']}/token"), 201)["token"]
    found["claim"] = sent(post, three, f"{BASE}/claim", token=token, pharmacy_location_id=ward.pharmacy_id)
    return found


def test_writes_take_the_same_few_trips_whatever_the_items(ward):
    trips(ward, 1)  # what is cached is cached
    found = [trips(ward, count) for count in (1, 3)]
    assert found[0] == found[1]
    assert found[0] == MOST


@pytest.mark.parametrize("side", ["prescriber", "pharmacist"])
def test_reads_take_one_trip_or_two_and_the_record(ward, side):
    one = ward.routed(refills(3))
    given = [dispense(ward, one) for _ in range(3)]
    api = getattr(ward, side)
    for path, most in (
        (f"{BASE}/{one['id']}/dispensations", 3),
        (f"{BASE}/{one['id']}/dispensations/{given[0]['id']}", 2),
    ):
        done(api.get(path))
        with recording() as record:
            done(api.get(path))
        assert len(record) == most
