"""The trips of reading dispensations; those of the writes stand in tests/prescriptions/test_trips.py."""

import pytest

from bench.statements import recording
from tests.prescriptions.dispensing.counter import BASE, dispense, refills
from tests.prescriptions.ward import done


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
