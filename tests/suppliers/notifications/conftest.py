"""A supplier and two buyers."""

import pytest


@pytest.fixture
def shelf():
    from tests.suppliers.inventory import shelf as shelves

    return shelves.shelf()


@pytest.fixture
def buyer():
    from tests.suppliers.inventory import shelf as shelves

    return shelves.buyer()


@pytest.fixture
def other(buyer):
    from tests.suppliers.inventory import shelf as shelves

    return shelves.buyer()
