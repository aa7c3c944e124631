"""A hospital that pays a supplier, for the tests of payments. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.suppliers.payments.tills import Till


@pytest.fixture
def till() -> "Till":
    """Return a fresh supplier and a fresh buyer with an accepted order, and a member that pays."""
    from tests.suppliers.payments import tills

    return tills.till()
