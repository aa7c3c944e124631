"""What rooms and apps below call up: unbooked dispensations, compromised keys, failed proofs."""

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from core import clock
from core.invariants import Breach
from organizations import signatures, signing_keys
from suppliers.notifications.following import tell_proof
from suppliers.notifications.models import NotificationMail, OpenAlert
from tests import factories
from tests.suppliers.inventory.shelf import refused, reserve
from tests.suppliers.inventory.test_dispensing import Counter
from tests.suppliers.notifications.inbox import ALERTS, PATH, data, facts, raised, rows


@pytest.fixture
def outside():
    return factories.provision("provider"), factories.provision("pharmacy")


def test_dispensation_that_was_not_booked_is_one_alert_of_the_place():
    counter = Counter(quantity=5)
    counter.give()
    counter.give()
    counter.book()
    counter.book()
    (row,) = rows(counter)
    assert (row.type, row.severity, row.resource_id) == ("stock_not_booked", "warning", counter.ward.pharmacy_id)
    assert str(row.location_id) == counter.ward.pharmacy_id
    assert len(facts(counter, "alert.raised")) == 1
    assert data(counter.ward.pharmacist.get(ALERTS))["total"] == 1


def test_dispensation_that_was_booked_alerts_nobody():
    counter = Counter()
    counter.give()
    counter.book()
    assert rows(counter) == []


def test_compromised_key_alerts_the_tenants_that_it_signed_for(outside, monkeypatch):
    concerned, another = outside
    listed = [{"tenant_id": str(concerned.id), "prescription_id": "p1"}, {"tenant_id": str(concerned.id)}]
    monkeypatch.setitem(signatures._listers, "snapshot", lambda kid: listed)
    kid = signing_keys.active_key("snapshot").kid
    for _ in range(2):
        call_command("rotate_signing_keys", "--purpose", "snapshot", f"--compromised={kid}", stdout=io.StringIO())
    (row,) = rows(concerned)
    assert (row.type, row.severity, row.resource_type, row.resource_id) == (
        "key_compromised",
        "critical",
        "signing_key",
        kid,
    )
    assert len(facts(concerned, "alert.raised")) == 1
    assert len(rows(concerned, NotificationMail)) == 1
    assert rows(another) == []


def test_failed_proof_is_for_staff_alone(shelf, buyer):
    product = shelf.product()
    shelf.stock(product, 10)
    shelf.offer(product)
    reserve(buyer, shelf, (product, 2))
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE suppliers_stocklevel SET reserved = reserved + 1 WHERE tenant_id = %s", [shelf.id])
    for _ in range(2):
        with pytest.raises(CommandError):
            call_command("prove_invariants", "--tenant", str(shelf.id), stdout=io.StringIO())
    (row,) = rows(shelf, type="proof_failed")
    assert (row.severity, row.resource_id, row.in_app) == ("critical", "stock", False)
    assert facts(shelf) == []
    assert rows(shelf, NotificationMail) == []
    assert data(shelf.api.get(PATH))["total"] == data(shelf.api.get(ALERTS))["total"] == 0
    refused(shelf.api.get(f"{PATH}/{row.id}"), 404, "not_found")
    refused(shelf.api.patch(f"{PATH}/{row.id}", json={"read": True}), 404, "not_found")
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE suppliers_stocklevel SET reserved = reserved - 1 WHERE tenant_id = %s", [shelf.id])
    call_command("prove_invariants", "--tenant", str(shelf.id), stdout=io.StringIO())
    assert rows(shelf, OpenAlert) == []


def test_proof_of_many_breaches_is_one_alert_of_the_rule(shelf):
    found = [Breach("stock", shelf.id, "suppliers_stocklevel", shelf.id, f"fault {number}") for number in range(3)]
    tell_proof(shelf.id, ["stock", "market"], found, clock.now())
    (row,) = rows(shelf)
    assert "3 rows" in row.body
    assert "fault 0" in row.body
    tell_proof(shelf.id, ["stock", "market"], found[:1], clock.now())
    (row,) = rows(shelf)
    assert "1 rows" in row.body
    assert row.version == 2


def test_alerts_of_two_tenants_are_apart(shelf, buyer):
    assert raised(shelf).id != raised(buyer).id
    assert len(rows(shelf, OpenAlert)) == len(rows(buyer, OpenAlert)) == 1
