"""What a superuser of the database changes is found; the service itself may not change it at all."""

import io
import json
from contextlib import contextmanager

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, connections

from core.clock import now
from core.db import tenant_context
from prescriptions.evidence.checkpoints import make_checkpoint, make_checkpoints
from prescriptions.states import Status
from tests import factories
from tests.prescriptions import ward as wards

FAULT = {"row": "the prescription differs from its snapshot", "entry": "the entry differs from its hash"}


@pytest.fixture
def ward():
    """A clinic of its own for each test, with five signed prescriptions under a checkpoint."""
    made = wards.ward()
    made.ones = [made.signed() for _ in range(5)]
    checkpoint(made)
    return made


def checkpoint(ward):
    with tenant_context(ward.clinic.tenant.id):
        return make_checkpoint(ward.clinic.tenant.id, at=now())


TABLES = [
    f"prescriptions_{name}"
    for name in (
        "prescription", "prescriptionitem", "auditentry", "auditorigin", "snapshot", "checkpoint", "checkpointleaf",
        "checkpointnode", "validationrun",
    )
]  # fmt: skip


@contextmanager
def superuser():
    """A cursor of the tables' owner, who has taken triggers and row security away, as a superuser can."""
    with connections["owner"].cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER, NO FORCE ROW LEVEL SECURITY")
        try:
            yield cursor
        finally:
            for table in TABLES:
                cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER, FORCE ROW LEVEL SECURITY")
    connections["owner"].close()


def audit(ward, one=None):
    """Run the command; return its exit code, the faults as pairs of what and sequence, and the whole answer."""
    out, code = io.StringIO(), 0
    more = ["--prescription", one["id"]] if one else []
    try:
        call_command("verify_audit_chain", "--json", "--tenant", ward.clinic.tenant.slug, *more, stdout=out)
    except CommandError as error:
        code = error.returncode
    answer = json.loads(out.getvalue())
    return code, [(f["prescription_id"], f["sequence"], f["what"]) for f in answer["faults"]], answer


def verification(ward, one):
    return wards.done(ward.prescriber.get(f"/v1/prescriptions/{one['id']}/verification"))


def test_what_nobody_touched_holds(ward):
    ward.routed()  # younger than the checkpoint
    code, faults, answer = audit(ward)
    assert (code, faults) == (0, [])
    assert {name: answer[name] for name in ("prescriptions", "entries", "snapshots", "checkpoints")} == {
        "prescriptions": 6, "entries": 19, "snapshots": 6, "checkpoints": 1,
    }  # fmt: skip
    assert audit(ward, ward.ones[0])[:2] == (0, [])
    out = io.StringIO()
    call_command("verify_audit_chain", "--tenant", ward.clinic.tenant.slug, stdout=out)
    assert out.getvalue().strip() == "verified 6 prescriptions, 19 entries, 6 snapshots, 1 checkpoints in 1 tenants"


def test_changed_row_is_found(ward):
    one = ward.ones[2]
    with superuser() as cursor:
        cursor.execute("UPDATE prescriptions_prescription SET notes_to_pharmacy = 'x' WHERE id = %s", [one["id"]])
    assert audit(ward)[:2] == (1, [(one["id"], None, FAULT["row"])])
    assert audit(ward, one)[0] == 1
    assert verification(ward, one)["row_matches_snapshot"] is False
    assert audit(ward, ward.ones[0])[0] == 0


def test_changed_item_is_found(ward):
    one = ward.ones[1]
    with superuser() as cursor:
        cursor.execute(
            "UPDATE prescriptions_prescriptionitem SET quantity_value = 210 WHERE prescription_id = %s", [one["id"]]
        )
    assert audit(ward)[:2] == (1, [(one["id"], None, FAULT["row"])])
    assert verification(ward, one)["row_matches_snapshot"] is False


@pytest.mark.parametrize("column", ["actor_id", "occurred_at", "action"])
def test_changed_entry_is_found(ward, column):
    one = ward.ones[0]
    values = {
        "actor_id": 'actor = actor || \'{"id": "x"}\'',
        "occurred_at": "occurred_at = occurred_at - interval '1 day'",
        "action": "action = 'updated'",
    }
    with superuser() as cursor:
        cursor.execute(
            f"UPDATE prescriptions_auditentry SET {values[column]} WHERE prescription_id = %s AND sequence = 2",
            [one["id"]],
        )
    assert audit(ward)[:2] == (1, [(one["id"], "2", FAULT["entry"])])
    assert verification(ward, one)["chain_ok"] is False


def test_changed_origin_is_found_and_a_deleted_one_is_none(ward):
    one = ward.ones[0]
    with superuser() as cursor:
        where = "WHERE id = (SELECT id FROM prescriptions_auditentry WHERE prescription_id = %s AND sequence = %s)"
        cursor.execute(f"UPDATE prescriptions_auditorigin SET ip = '10.0.0.1' {where}", [one["id"], 1])
        cursor.execute(f"DELETE FROM prescriptions_auditorigin {where}", [one["id"], 2])
    assert audit(ward)[:2] == (1, [(one["id"], "1", "name and address differ")])


def test_last_entry_taken_away_is_found(ward):
    one = ward.ones[3]
    with superuser() as cursor:
        cursor.execute("DELETE FROM prescriptions_auditentry WHERE prescription_id = %s AND sequence = 3", [one["id"]])
        cursor.execute(
            "UPDATE prescriptions_prescription p SET chain_length = 2, chain_hash = e.hash"
            " FROM prescriptions_auditentry e WHERE p.id = %s AND e.prescription_id = p.id AND e.sequence = 2",
            [one["id"]],
        )
    code, faults, _ = audit(ward)
    assert (code, faults) == (1, [
        (one["id"], "3", "the entry is not the one that a checkpoint has sealed"),
        (one["id"], None, "no entry names the snapshot"),
    ])  # fmt: skip
    found = verification(ward, one)
    assert (found["chain_ok"], found["checkpoint"]["included"]) == (True, False)


def test_whole_chain_taken_away_is_found(ward):
    one = ward.ones[4]
    tables = ("auditentry", "snapshot", "prescriptionitem", "validationrun")
    with superuser() as cursor:
        for table in tables:
            cursor.execute(f"DELETE FROM prescriptions_{table} WHERE prescription_id = %s", [one["id"]])
        cursor.execute("DELETE FROM prescriptions_prescription WHERE id = %s", [one["id"]])
    missing = (one["id"], None, "the whole history is missing that a checkpoint has sealed")
    assert audit(ward)[:2] == (1, [missing])
    with superuser() as cursor:
        cursor.execute("DELETE FROM prescriptions_checkpointleaf WHERE prescription_id = %s", [one["id"]])
    code, faults, _ = audit(ward)
    assert code == 1
    assert (None, None, "the leaves of checkpoint 1 do not make its root") in faults


def test_swapped_snapshots_are_found(ward):
    one, other = ward.ones[:2]
    columns = "text, jws, digest, kid"
    with superuser() as cursor:
        cursor.execute(
            f"UPDATE prescriptions_snapshot a SET ({columns}) = (SELECT {columns} FROM prescriptions_snapshot b"
            " WHERE b.prescription_id = %s) WHERE a.prescription_id = %s",
            [other["id"], one["id"]],
        )
    code, faults, _ = audit(ward)
    assert code == 1
    assert {key for key, _, _ in faults} == {one["id"]}
    assert (one["id"], None, "the signature of the snapshot does not hold") in faults  # sealed for another place
    found = verification(ward, one)
    assert (found["digest_ok"], found["signature_ok"], found["trusted"]) == (False, False, False)


def test_changed_checkpoint_is_found(ward):
    ward.signed()
    checkpoint(ward)
    with superuser() as cursor:
        cursor.execute(
            "UPDATE prescriptions_checkpoint SET at = at - interval '1 day' WHERE tenant_id = %s AND number = 1",
            [ward.clinic.tenant.id],
        )
    assert audit(ward)[:2] == (1, [(None, None, "the signature of checkpoint 1 does not hold")])
    with superuser() as cursor:
        cursor.execute(
            "DELETE FROM prescriptions_checkpoint WHERE tenant_id = %s AND number = 1", [ward.clinic.tenant.id]
        )
    faults = audit(ward)[1]
    assert (None, None, "checkpoint 2 is the first that is left") in faults


def test_changed_node_does_not_pass_for_a_proof(ward):
    with superuser() as cursor:
        cursor.execute(
            "UPDATE prescriptions_checkpointnode SET digest = repeat('0', 64) WHERE tenant_id = %s",
            [ward.clinic.tenant.id],
        )
    assert verification(ward, ward.ones[0])["checkpoint"]["included"] is False
    assert audit(ward, ward.ones[0])[0] == 1
    assert audit(ward)[0] == 0  # the whole tree is built of its leaves


@pytest.mark.parametrize("table", ["auditentry", "snapshot", "checkpoint", "checkpointleaf", "checkpointnode"])
@pytest.mark.parametrize("verb", ["UPDATE {} SET tenant_id = tenant_id", "DELETE FROM {}", "TRUNCATE {}"])
def test_the_service_may_not_change_what_proves(table, verb):
    with pytest.raises(DatabaseError, match="permission denied"), tenant_context(factories.provision().id):
        connection.cursor().execute(verb.format(f"prescriptions_{table}"))


@pytest.mark.parametrize("change", ["UPDATE {} SET outcome = 'passed'", "DELETE FROM {}"])
def test_the_service_keeps_runs_of_the_validation_as_they_ended(ward, change):
    statement = change.format("prescriptions_validationrun") + " WHERE tenant_id = %s"
    with (
        pytest.raises(DatabaseError, match=r"permission denied|kept as it ended"),
        tenant_context(ward.clinic.tenant.id),
    ):
        connection.cursor().execute(statement, [ward.clinic.tenant.id])


PASS = {
    ("draft", "clinically_validated"), ("clinically_validated", "draft"), ("clinically_validated", "signed"),
    ("signed", "routed"), ("routed", "signed"), ("routed", "dispensed"), ("dispensed", "routed"),
    ("draft", "cancelled"), ("clinically_validated", "cancelled"), ("signed", "cancelled"), ("routed", "cancelled"),
}  # fmt: skip


def test_of_all_pairs_of_statuses_sql_passes_eleven():
    ward = wards.ward()
    key, tenant_id = ward.routed()["id"], ward.clinic.tenant.id
    passed = set()
    for before in Status.values:
        for after in Status.values:
            with superuser() as cursor:
                ends = "now()" if before == "cancelled" else "NULL"
                cursor.execute(
                    f"UPDATE prescriptions_prescription SET status = %s, cancelled_at = {ends} WHERE id = %s",
                    [before, key],
                )
            ends = "now()" if after == "cancelled" else "NULL"
            try:
                with tenant_context(tenant_id), connection.cursor() as cursor:
                    cursor.execute(
                        f"UPDATE prescriptions_prescription SET status = %s, cancelled_at = {ends}, version = version + 1"
                        " WHERE tenant_id = %s AND id = %s",
                        [after, tenant_id, key],
                    )
                    assert cursor.rowcount == 1
            except DatabaseError:
                continue
            passed.add((before, after))
    assert passed - {(one, one) for one in Status.values} == PASS
    assert len(PASS) == 11


def test_hourly_job_takes_each_tenant_once_and_tells(ward):
    from ledger.models import Event

    ward.signed()
    make_checkpoints(at=now())
    make_checkpoints(at=now())
    with tenant_context(ward.clinic.tenant.id):
        told = Event.objects.filter(tenant_id=ward.clinic.tenant.id, type="audit_checkpoint.created").order_by("id")
        data = [event.data for event in told]
    assert [(one["number"], one["size"]) for one in data] == [(1, 5), (2, 6)]
    assert all(set(one) == {"number", "size", "root"} for one in data)
    assert audit(ward)[0] == 0
