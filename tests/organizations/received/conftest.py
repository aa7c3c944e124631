"""The tables of the tests' own document, its addresses, and two parties."""

import pytest
from django.test import override_settings


@pytest.fixture(scope="module", autouse=True)
def parcels():
    from tests.contract.document import document
    from tests.organizations.received.tables import tables

    document()  # each refusal is held against it; threads must not build it at once
    with tables(), override_settings(ROOT_URLCONF="tests.organizations.received.parcel_views"):
        yield


@pytest.fixture
def sender(parcels):
    from tests.organizations.received.sides import side

    return side()


@pytest.fixture
def carrier(parcels):
    from tests.organizations.received.sides import side

    return side()


@pytest.fixture
def stranger(parcels):
    from tests.organizations.received.sides import side

    return side()


@pytest.fixture
def drafted(sender, carrier):
    from tests.organizations.received.sides import draft

    return draft(sender, carrier)


@pytest.fixture
def sent(drafted):
    from tests.organizations.received.sides import data

    data(drafted.sender.api.post(f"{drafted.own}/send"))
    return drafted
