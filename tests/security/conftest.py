"""Walks ask more often in a minute than any client may: the limits are raised, not switched off."""

import pytest


@pytest.fixture(autouse=True)
def high_limits(settings):
    settings.RATE_LIMIT_OVERRIDES = {
        name: 1_000_000
        for name in ("supplier", "procurement", "organizations", "webhooks", "address", "sign_in", "bulk", "availability")
    }
