"""Both sides of prescriptions."""

import pytest


@pytest.fixture(scope="module")
def ward():
    from tests.prescriptions.ward import ward

    return ward()
