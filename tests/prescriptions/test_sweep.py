"""The sweep: what expires is stamped and told once, whoever runs the job and how often."""

import json
from datetime import datetime, timedelta

import pytest
from django.db import connections, transaction

from bench.statements import recording
from core.db import tenant_context
from core.invariants import breaches
from ledger.models import Event
from organizations.models import Tenant
from prescriptions.lifecycle.chain import hash_of
from prescriptions.models import AuditEntry, Prescription, PrescriptionToken
from prescriptions.prescribing import sweeping
from prescriptions.prescribing.sweeping import Swept, sweep
from prescriptions.tasks import sweep_expiry
from tests.prescriptions.ward import done, item
from tests.prescriptions.ward import ward as made_ward
from tests.races import race

pytestmark = pytest.mark.usefixtures("each_number_of_lanes")
EXPIRED, EXPIRING = "prescription.expired", "prescription.expiring"


def ends(one):
    return datetime.fromisoformat(one["expires_at"])


def told(side, one, kind):
    with tenant_context(side.tenant.id):
        rows = Event.objects.filter(tenant_id=side.tenant.id, resource_id=one["id"], type=kind)
        return [(event.data, event.resource_version) for event in rows.order_by("occurred_at")]


def fetch(ward, one):
    return done(ward.prescriber.get(f"/v1/prescriptions/{one['id']}"))


def history(ward, one):
    with tenant_context(ward.clinic.tenant.id):
        rows = AuditEntry.objects.filter(tenant_id=ward.clinic.tenant.id, prescription_id=one["id"])
        return list(rows.order_by("sequence"))


def assert_whole(ward):
    for side in (ward.clinic, ward.pharmacy):
        assert list(breaches(side.tenant.id)) == []


def test_expired_prescription_is_stamped_and_told_once(ward):
    routed = ward.routed()
    at = ends(routed)
    sweep(at=at - timedelta(seconds=1))
    assert fetch(ward, routed)["expired_at"] is None
    for later in (0, 0, 60):
        sweep(at=at + timedelta(seconds=later))
    stamped = fetch(ward, routed)
    assert datetime.fromisoformat(stamped["expired_at"]) == at
    assert (stamped["status"], stamped["version"]) == ("routed", routed["version"] + 1)
    received = done(ward.pharmacist.get(f"/v1/prescriptions/{routed['id']}"))
    assert (received["expired_at"], received["version"]) == (stamped["expired_at"], stamped["version"])
    shown = {"number": routed["number"], "status": "routed", "route_state": "sent", "by": "platform"}
    for side in (ward.clinic, ward.pharmacy):
        assert told(side, routed, EXPIRED) == [(shown, stamped["version"])]
    entry = history(ward, routed)[-1]
    assert (entry.action, entry.from_status, entry.to_status) == ("expired", "routed", "routed")
    assert entry.actor["type"] == "system"
    assert hash_of(vars(entry)) == entry.hash
    assert_whole(ward)


def test_record_shows_the_expiry(ward):
    routed = ward.routed(item(), item(code={"system": "urn:tests", "code": "other", "display": "other"}))
    sweep(at=ends(routed))
    for one in routed["items"]:
        shown = ward.fhir.get(f"/MedicationRequest/{one['id']}").json()
        assert (shown["status"], shown["statusReason"]["coding"][0]["code"]) == ("stopped", "expired")
        assert shown["extension"][0]["valueInteger"] == routed["version"] + 1
        history_of = ward.fhir.get(f"/MedicationRequest/{one['id']}/_history").json()
        assert history_of["total"] == routed["version"] + 1


def test_only_open_prescriptions_expire(ward):
    drafted, signed = ward.draft(), ward.signed()
    cancelled, given = ward.signed(), ward.routed()
    ward.act(cancelled, "cancel")
    done(ward.at_pharmacy(given, "dispense"), 201)
    sweep(at=ends(signed) + timedelta(days=1))
    assert [bool(fetch(ward, one)["expired_at"]) for one in (drafted, signed, cancelled, given)] == [
        False, True, False, False,
    ]  # fmt: skip
    assert told(ward.clinic, signed, EXPIRED)[0][0]["route_state"] == ""
    assert told(ward.pharmacy, signed, EXPIRED) == []


def test_reversal_after_the_expiry_is_stamped_too(ward):
    given = ward.routed()
    dispensed = done(ward.at_pharmacy(given, "dispense"), 201)
    sweep(at=ends(given))
    assert fetch(ward, given)["expired_at"] is None
    path = f"/v1/prescriptions/{given['id']}/dispensations/{dispensed['id']}/reverse"
    done(ward.pharmacist.post(path, json={"reason_code": "not_collected"}))
    sweep(at=ends(given))
    assert fetch(ward, given)["expired_at"]
    assert len(told(ward.pharmacy, given, EXPIRED)) == 1


def test_token_of_an_expired_prescription_goes(ward):
    signed = ward.signed()
    done(ward.prescriber.post(f"/v1/prescriptions/{signed['id']}/token"), 201)
    sweep(at=ends(signed) - timedelta(seconds=1))
    assert PrescriptionToken.objects.filter(prescription_id=signed["id"]).exists()
    sweep(at=ends(signed))
    assert not PrescriptionToken.objects.filter(prescription_id=signed["id"]).exists()


def test_coming_expiry_is_told_to_the_owner_once_and_changes_nothing(ward):
    ward.clinic.policies(prescription_expiring_days=3)
    routed = ward.routed()
    entries = len(history(ward, routed))
    sweep(at=ends(routed) - timedelta(days=3, seconds=1))
    assert told(ward.clinic, routed, EXPIRING) == []
    for days in (3, 3, 1):
        sweep(at=ends(routed) - timedelta(days=days))
    shown = {"number": routed["number"], "status": "routed", "route_state": "sent", "by": "platform"}
    assert told(ward.clinic, routed, EXPIRING) == [(shown, routed["version"])]
    assert told(ward.pharmacy, routed, EXPIRING) == []
    assert fetch(ward, routed) == routed
    assert len(history(ward, routed)) == entries
    sweep(at=ends(routed))
    assert len(told(ward.clinic, routed, EXPIRING)) == 1
    assert_whole(ward)


def test_no_notice_where_the_policy_has_no_days():
    ward = made_ward()
    ward.clinic.policies(prescription_expiring_days=0)
    signed = ward.signed()
    for seconds in (1, 0):
        sweep(at=ends(signed) - timedelta(seconds=seconds))
    assert told(ward.clinic, signed, EXPIRING) == []
    assert len(told(ward.clinic, signed, EXPIRED)) == 1


def test_what_somebody_else_holds_is_left_for_the_next_round(ward):
    held, free = ward.signed(), ward.signed()
    at = ends(held)

    with tenant_context(ward.clinic.tenant.id):
        Prescription.objects.select_for_update().get(tenant_id=ward.clinic.tenant.id, pk=held["id"])
        (outcome,) = race(lambda: sweep(at=at))
        assert isinstance(outcome, Swept)
    assert [bool(fetch(ward, one)["expired_at"]) for one in (held, free)] == [False, True]
    sweep(at=at)
    assert fetch(ward, held)["expired_at"]


def test_what_cannot_be_written_is_left_out_and_named(lines):
    ward = made_ward()
    rows = [ward.routed() for _ in range(5)]
    bad, at = rows[2], ends(rows[0])
    was = rewrite_dosage(bad, [{"no": "text"}])
    try:
        swept = sweep(at=at)
        assert (swept.left_out, swept.expired >= 4) == (1, True)
        logged = [json.loads(line) for line in lines.getvalue().splitlines()]
        (named,) = [one for one in logged if one["event"] == "prescription not swept"]
        assert (named["prescription"], named["error"]) == (bad["id"], "KeyError")
        assert [bool(stamp_of(ward, one)) for one in rows] == [True, True, False, True, True]
        sweep_expiry()
    finally:
        rewrite_dosage(bad, was)
    assert sweep(at=at).left_out == 0
    assert stamp_of(ward, bad) == at
    assert_whole(ward)


def rewrite_dosage(one, dosage):
    """Plant what no request can write, past the guard of signed items; return what stood there."""
    guard = "ALTER TABLE prescriptions_prescriptionitem {} TRIGGER prescriptions_item_fixed_columns"
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(guard.format("DISABLE"))
        cursor.execute("SELECT dosage FROM prescriptions_prescriptionitem WHERE prescription_id = %s", [one["id"]])
        was = json.loads(cursor.fetchone()[0])
        changed = "UPDATE prescriptions_prescriptionitem SET dosage = %s WHERE prescription_id = %s"
        cursor.execute(changed, [json.dumps(dosage), one["id"]])
        cursor.execute(guard.format("ENABLE"))
    return was


def stamp_of(ward, one):
    with tenant_context(ward.clinic.tenant.id):
        return Prescription.objects.get(tenant_id=ward.clinic.tenant.id, pk=one["id"]).expired_at


def test_statements_do_not_grow_with_the_number_of_prescriptions():
    counts = []
    for number in (2, 5):
        ward = made_ward()
        rows = [ward.routed() for _ in range(number)]
        sweep(at=ends(rows[0]) - timedelta(days=1))
        with recording() as seen:
            assert sweep(at=ends(rows[0])).expired >= number
        assert_whole(ward)
        counts.append((len(seen), seen.statements))
    assert counts[0] == counts[1]


def test_notice_follows_the_policy_of_the_signature():
    ward = made_ward()
    ward.clinic.policies(prescription_expiring_days=3)
    signed = ward.signed()
    ward.clinic.policies(prescription_expiring_days=30)
    sweep(at=ends(signed) - timedelta(days=20))
    assert told(ward.clinic, signed, EXPIRING) == []
    sweep(at=ends(signed) - timedelta(days=3))
    assert len(told(ward.clinic, signed, EXPIRING)) == 1


def test_two_workers_tell_each_once(monkeypatch):
    monkeypatch.setattr(sweeping, "BATCH", 3)
    monkeypatch.setattr(sweeping, "SHARE", 2)
    ward = made_ward()
    rows = [ward.routed() for _ in range(8)]
    near, over = ends(rows[0]) - timedelta(hours=1), ends(rows[0])
    for at in (near, over):
        for found in race(*[lambda at=at: sweep(at=at)] * 2):
            assert isinstance(found, Swept), found
        sweep(at=at)
    for one in rows:
        assert [len(told(ward.clinic, one, kind)) for kind in (EXPIRING, EXPIRED)] == [1, 1]
        assert [len(told(ward.pharmacy, one, kind)) for kind in (EXPIRING, EXPIRED)] == [0, 1]
        assert fetch(ward, one)["version"] == one["version"] + 1
        assert [entry.action for entry in history(ward, one)].count("expired") == 1
    assert_whole(ward)


def test_faulty_one_stops_neither_of_two_workers_nor_breaks_a_chain():
    ward = made_ward()
    rows = [ward.routed() for _ in range(6)]
    bad, at = rows[1], ends(rows[0])
    was = rewrite_dosage(bad, [{"no": "text"}])
    try:
        for found in race(*[lambda: sweep(at=at)] * 2):
            assert isinstance(found, Swept), found
        sweep(at=at)  # what one had locked when the other came by
    finally:
        rewrite_dosage(bad, was)
    for one in rows:
        times = 0 if one is bad else 1
        assert [len(told(side, one, EXPIRED)) for side in (ward.clinic, ward.pharmacy)] == [times, times]
        entries = history(ward, one)
        assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
        assert [entry.action for entry in entries].count("expired") == times
        before = "0" * 64
        for entry in entries:
            assert (entry.prev_hash, entry.hash) == (before, hash_of(vars(entry)))
            before = entry.hash
    assert_whole(ward)


def test_suspended_owner_is_swept_and_a_closed_pharmacy_is_not_told():
    ward = made_ward()
    suspended, lost = ward.routed(), ward.routed()
    Tenant.objects.filter(pk=ward.clinic.tenant.pk).update(status="suspended")
    sweep(at=ends(suspended))
    assert len(told(ward.pharmacy, suspended, EXPIRED)) == 1
    Tenant.objects.filter(pk=ward.clinic.tenant.pk).update(status="active")
    assert fetch(ward, lost)["expired_at"]
    other = ward.routed()
    for status in ("offboarding", "closed"):
        Tenant.objects.filter(pk=ward.pharmacy.tenant.pk).update(status=status)
    sweep(at=ends(other))
    assert fetch(ward, other)["expired_at"]
    assert len(told(ward.clinic, other, EXPIRED)) == 1


def test_sweep_of_many_tenants(ward):
    others = [made_ward() for _ in range(2)]
    rows = [(one, one.signed()) for one in (ward, *others)]
    sweep(at=ends(rows[0][1]))
    assert all(fetch(one, signed)["expired_at"] for one, signed in rows)


def test_task_is_scheduled():
    from config.schedule import SCHEDULE
    from prescriptions.tasks import SWEEP

    assert SCHEDULE[SWEEP]["schedule"] == 5
    sweep_expiry()
