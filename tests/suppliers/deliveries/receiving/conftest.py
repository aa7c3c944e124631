"""A hospital that receives goods of a supplier. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.suppliers.deliveries.receiving.arrivals import Dock


@pytest.fixture
def dock() -> "Dock":
    """Return a fresh supplier with products in lots, and a hospital with a place that keeps stock."""
    from tests.suppliers.deliveries.receiving import arrivals

    return arrivals.dock()
