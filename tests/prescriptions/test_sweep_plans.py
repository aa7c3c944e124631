"""How PostgreSQL finds what is due: a share by keys, a batch by its index, however many others are due at the same instant."""

import json

import pytest
from django.db import connection, connections, transaction

from core.clock import now
from core.db import tenant_context
from core.pipeline import Call
from prescriptions.prescribing import sweeping
from tests.prescriptions.ward import ward as made_ward

_DUE = 3_000
_COPIES = (
    "INSERT INTO prescriptions_prescription SELECT (jsonb_populate_record(p, jsonb_build_object('id', uuidv7(),"
    " 'number', 'S-' || n, 'expires_at', %s::timestamptz))).* FROM prescriptions_prescription p, generate_series(1, %s) n"
    " WHERE p.id = %s"
)


def change(*statements):
    """Run statements past the guards of the lifecycle, as the tables' owner; return the rows of the last."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE prescriptions_prescription DISABLE TRIGGER USER")
        for sql, *parameters in statements:
            cursor.execute(sql, parameters)
        found = cursor.fetchall() if cursor.description else []
        cursor.execute("ALTER TABLE prescriptions_prescription ENABLE TRIGGER USER")
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE prescriptions_prescription")
    connections["owner"].close()
    return found


@pytest.fixture(scope="module")
def due():
    """Return a clinic with thousands of prescriptions that ended at one midnight, and their ids in order."""
    ward = made_ward()
    signed = ward.signed()
    made = "SELECT id FROM prescriptions_prescription WHERE number LIKE 'S-%%' ORDER BY id"
    ids = [row[0] for row in change((_COPIES, now(), _DUE, signed["id"]), (made,))]
    yield ward.clinic.tenant.id, ids
    change(("DELETE FROM prescriptions_prescription WHERE number LIKE 'S-%%'",))


def read_by(plan):
    """How many rows the scans of a plan took up."""
    mine = 0
    if "Relation Name" in plan:
        mine = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return mine + sum(read_by(child) for child in plan.get("Plans", ()))


def explained(tenant_id, sql, parameters, mode="auto"):
    with tenant_context(tenant_id), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", parameters)
        found = cursor.fetchone()[0]
    return (found if isinstance(found, list) else json.loads(found))[0]["Plan"]


def of_prepared(tenant_id, call: Call, mode):
    marks = ", ".join(["%s"] * len(call.parameters))
    with tenant_context(tenant_id), connection.cursor() as cursor:
        cursor.execute(f"PREPARE swept AS {call.statement.sql.decode()}")
        try:
            return explained(tenant_id, f"EXECUTE swept ({marks})", list(call.parameters), mode)
        finally:
            cursor.execute("DEALLOCATE swept")


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_share_is_read_by_its_keys(due, mode):
    tenant_id, ids = due
    call = sweeping._free_call(tenant_id, ids[1000:1025], now())
    plan = of_prepared(tenant_id, call, mode)
    assert plan["Actual Rows"] == 25
    assert read_by(plan) <= 25 * 2


def test_batch_behind_others_of_the_same_instant_is_read_by_the_index(due):
    tenant_id, ids = due
    at = now()
    with tenant_context(tenant_id):
        begins = sweeping._expired(at, tenant_id).values_list("expires_at", flat=True).order_by("expires_at")[0]
        rows = sweeping._due_behind(tenant_id, (begins, ids[499]), at)
        assert [key for _, key in rows] == ids[500:1000]
        sql, parameters = rows.query.sql_with_params()
    plan = explained(tenant_id, sql, parameters)
    assert "Sort" not in json.dumps(plan)
    assert read_by(plan) <= 500 + 500
