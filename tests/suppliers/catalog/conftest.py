"""A supplier and his key, for the tests of products."""

import pytest

from organizations.models import Tenant
from tests.factories import Api, api_key, provision


@pytest.fixture
def supplier() -> Tenant:
    """Return a fresh supplier without products."""
    return provision("supplier")


@pytest.fixture
def api(supplier: Tenant) -> Api:
    """Return a client with a key of the supplier."""
    return Api(key=api_key(supplier), tenant=supplier)
