"""A hospital that buys of a supplier that only it knows. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.suppliers.invoices.bills import Desk


@pytest.fixture
def desk() -> "Desk":
    """Return a fresh supplier with products in lots, and a hospital that receives and pays."""
    from tests.suppliers.invoices import bills

    return bills.desk()
