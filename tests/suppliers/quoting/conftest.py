"""A supplier and two hospitals."""

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
def other():
    from tests.suppliers.inventory import shelf as shelves

    return shelves.buyer()
