"""Exports of the tests do not wait for other hosts' clocks, and no worker of another test hears of them."""

import math
from datetime import timedelta

import pytest


@pytest.fixture(autouse=True)
def one_clock(monkeypatch):
    monkeypatch.setattr("fhir_api.exports.settling.CLOCKS", timedelta(0))
    monkeypatch.setattr("core.jobs._quiet_until", math.inf)  # as if the broker were away


@pytest.fixture(scope="module")
def client():
    """Who reads and writes the record of a tenant that may export often; the tests of a file share it."""
    return _prescriber()


@pytest.fixture
def fresh():
    """The same in a tenant of its own."""
    return _prescriber()


def _prescriber():
    from tests import factories
    from tests.fhir_api.clients import prescriber

    return prescriber(factories.provision("provider", plan="enterprise"))
