"""Fixtures of the webhook tests. Models are imported inside, because this file is read before Django is set up."""

import pytest

from bench.receiver import Receiver
from tests.outside import Names


@pytest.fixture(autouse=True)
def developer_settings(settings):
    """Let the dispatcher reach the loopback, with a short lease; names are looked up in the tests' own list."""
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = True
    settings.WEBHOOKS_LEASE_SECONDS = 20
    Names.forget()


@pytest.fixture
def names():
    """The tests' own list of names."""
    return Names


@pytest.fixture
def receiver():
    with Receiver() as found:
        yield found


@pytest.fixture
def world():
    from tests.webhooks.worlds import new_world

    return new_world()
