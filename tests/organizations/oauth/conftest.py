"""Fixtures of the authorization server; imports stand inside, because this file is read before Django is set up."""

import pytest


@pytest.fixture(autouse=True)
def busy_address(settings):
    """Lift the limit of one address: all tests come from the same."""
    settings.RATE_LIMIT_OVERRIDES = {**settings.RATE_LIMIT_OVERRIDES, "address": 1_000_000}


@pytest.fixture
def person():
    """Make somebody who can sign in."""
    from tests.organizations.people import new_person

    return new_person()


@pytest.fixture(scope="session")
def port(live_server_url):
    """Tell the port of the service, which runs behind its real front."""
    return int(live_server_url.rpartition(":")[2])
