"""A hospital and a supplier that are known in the network. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.procurement.purchasing.orders import Trade
    from tests.suppliers.invoices.bills import Desk


@pytest.fixture
def trade() -> "Trade":
    """Return a fresh supplier with two products, and a fresh buyer, both with their numbers."""
    from tests.procurement.purchasing import orders
    from tests.suppliers.exchange import network

    return network.named(orders.trade())


@pytest.fixture
def desk() -> "Desk":
    """Return a fresh supplier that ships and bills, and a hospital, both with their numbers."""
    from tests.suppliers.exchange import bills

    return bills.desk()
