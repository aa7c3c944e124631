"""A history without ranges, before and after each test that wants to see some made."""

import pytest


@pytest.fixture
def flat():
    from tests.webhooks.history.past import flatten

    flatten()
    yield
    flatten()
