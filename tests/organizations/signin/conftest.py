"""Fixtures of sign-in; imports stand inside, because this file is read before Django is set up."""

import pytest


@pytest.fixture
def person():
    """Make somebody new."""
    from tests.organizations.people import new_person

    return new_person()


@pytest.fixture
def api():
    """Return a client without a credential."""
    from tests.factories import Api

    return Api()


@pytest.fixture(autouse=True)
def busy_address(settings):
    """Lift the limit of one address: all tests come from the same."""
    settings.RATE_LIMIT_OVERRIDES = {**settings.RATE_LIMIT_OVERRIDES, "address": 1_000_000}
