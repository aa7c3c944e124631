"""A hospital and its prescriber. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from organizations.models import Tenant
    from tests.factories import Api


@pytest.fixture
def hospital() -> "Tenant":
    """Return a fresh tenant that prescribes."""
    from tests.factories import provision

    return provision("provider")


@pytest.fixture
def prescriber(hospital: "Tenant") -> "Api":
    """Return a client that acts as a prescriber of the hospital."""
    from tests.factories import as_member

    return as_member(hospital, ["prescriber"])
