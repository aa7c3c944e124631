"""One clinic for each file, and in it people who have no appointments yet."""

import pytest


@pytest.fixture(scope="module")
def house():
    """A clinic with a location, and a member who books there."""
    from tests.appointments.practice import clinic

    return clinic()


@pytest.fixture
def free(house):
    """The clinic with a practitioner and a patient who have no appointments yet."""
    from tests.appointments import practice

    return practice.Clinic(
        house.tenant, house.api, house.location, practice.practitioner(house.tenant), practice.patient(house.tenant)
    )
