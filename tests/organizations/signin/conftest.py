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
