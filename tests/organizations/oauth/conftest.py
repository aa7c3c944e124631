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
def port():
    """Serve the platform on a socket."""
    from tests.organizations.oauth.clients import served

    with served() as number:
        yield number
