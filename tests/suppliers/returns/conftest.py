"""A hospital that has received vials of a supplier. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.suppliers.returns.backs import Back


@pytest.fixture
def back() -> "Back":
    """Return a fresh supplier with a place of quarantine, and a hospital with 100 vials of its."""
    from tests.suppliers.returns import backs

    return backs.back()
