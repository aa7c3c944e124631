"""A supplier and his key, for the tests of products. Imports stand inside: this file is read before Django is set up."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from organizations.models import Tenant
    from tests.factories import Api


@pytest.fixture
def supplier() -> "Tenant":
    """Return a fresh supplier without products."""
    from tests.factories import provision

    return provision("supplier")


@pytest.fixture
def api(supplier: "Tenant") -> "Api":
    """Return a client with a key of the supplier."""
    from tests.factories import Api, api_key

    return Api(key=api_key(supplier), tenant=supplier)
