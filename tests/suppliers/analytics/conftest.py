"""A hospital and a supplier, for the tests of analytics. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.procurement.purchasing.orders import Trade


@pytest.fixture
def trade() -> "Trade":
    """Return a fresh supplier with two products, and a fresh buyer."""
    from tests.procurement.purchasing import orders

    return orders.trade()
