"""A hospital whose orders need approvals, for the tests of approvals. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.procurement.approvals.desk import Desk


@pytest.fixture
def desk() -> "Desk":
    """Return a fresh buyer and supplier; orders above 49 need one approval."""
    from tests.procurement.approvals import desk as desks

    return desks.desk()
