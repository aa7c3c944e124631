"""The world of the tests of agreements."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.suppliers.agreements.world import World


@pytest.fixture
def world() -> "World":
    """Return a fresh supplier and a fresh hospital."""
    from tests.suppliers.agreements.world import world

    return world()
