"""The rules between the rows of prescriptions: they hold over a prescription's way, and each breach of them is named."""

import pytest

from core.db import tenant_context
from ledger import public as ledger
from prescriptions.evidence.invariants import breaches
from prescriptions.evidence.signed_by import checkpoints_by, snapshots_by
from tests.prescriptions import ward as wards
from tests.prescriptions.evidence.test_tampering import checkpoint, superuser


@pytest.fixture
def ward():
    return wards.ward()


def found(ward):
    return [(str(one.row_id), one.what) for one in breaches(ward.clinic.tenant.id)]


def test_rules_hold_over_the_way_of_a_prescription(ward):
    ward.draft()
    one = ward.routed()
    other = ward.pharmacy.place(name="Other", type="pharmacy", listed=True)
    ward.act(one, "route", pharmacy_location_id=other)
    ward.act(one, "cancel", reason_code="patient_request")
    at_home = ward.clinic.place(name="Own pharmacy", type="pharmacy")
    ward.act(ward.signed(), "route", pharmacy_location_id=at_home)
    assert found(ward) == []


def test_quantities_and_routes_are_compared(ward):
    one = ward.routed()
    (item,) = one["items"]
    with superuser() as cursor:
        cursor.execute("UPDATE prescriptions_prescriptionitem SET dispensed_quantity = 3 WHERE id = %s", [item["id"]])
        cursor.execute("UPDATE prescriptions_prescription SET route_state = 'returned' WHERE id = %s", [one["id"]])
    assert found(ward) == [
        (item["id"], "3 was dispensed in 0 fills, the lines say 0"),
        (one["id"], "the row and its routes differ"),
    ]


def test_events_and_versions_are_compared(ward):
    one = ward.signed()
    with superuser() as cursor:
        cursor.execute("UPDATE prescriptions_prescription SET version = 9 WHERE id = %s", [one["id"]])
        cursor.execute(
            "UPDATE prescriptions_auditentry SET action = 'updated' WHERE prescription_id = %s AND sequence = 2",
            [one["id"]],
        )
    (item,) = one["items"]
    assert found(ward) == [
        (one["id"], "1 entries but 0 events prescription.updated"),
        (one["id"], "0 entries but 1 events prescription.validated"),
        (item["id"], "the MedicationRequest is of version 2, the prescription of version 9"),
    ]


def test_what_a_key_has_signed_is_listed(ward):
    one = ward.signed()
    number = checkpoint(ward)
    tenant = str(ward.clinic.tenant.id)
    mine = [row for row in snapshots_by(one["snapshot"]["kid"]) if row["tenant_id"] == tenant]
    assert [(row["prescription_id"], row["digest"]) for row in mine] == [(one["id"], one["snapshot"]["digest"])]
    with tenant_context(ward.clinic.tenant.id):
        event = ledger.Event.objects.get(tenant_id=tenant, type="audit_checkpoint.created")
    from organizations import signing_keys

    listed = [row for row in checkpoints_by(signing_keys.active_key("checkpoint").kid) if row["tenant_id"] == tenant]
    assert [(row["number"], row["root"]) for row in listed] == [(number, event.data["root"])]
