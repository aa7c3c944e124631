"""A hospital and members of it, for the tests of budgets. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from organizations.models import Tenant
    from tests.factories import Api


@pytest.fixture
def buyer() -> "Tenant":
    """Return a fresh hospital without budgets, eleven hours behind UTC."""
    from tests.factories import provision

    return provision("provider", time_zone="Pacific/Pago_Pago")


@pytest.fixture
def api(buyer: "Tenant") -> "Api":
    """Return a client of a member that approves."""
    from tests.factories import as_member

    return as_member(buyer, ["approver"])
