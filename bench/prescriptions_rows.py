"""The rows of `./dev bench prescriptions`: copies of one prescription of each state, as many as asked, written set by set.

They are written by the administrator of the server, without triggers: the histories of copies are one entry long and do
not verify, and their resources are not in the clinical record. Everything that lists and sweeps read is as it would be.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

from . import prescriptions_world

DAYS = 1_000  # over which the copies were made
DOCTORS, SHOPS = 50, 50
OF_ONE_PATIENT = 40
# Of a hundred prescriptions; where a status is left out, none is copied.
SHARES = {"draft": 5, "clinically_validated": 2, "signed": 10, "routed": 13, "dispensed": 60, "cancelled": 10}
_PLACED = ("routed", "dispensed")
_TABLES = (
    "prescriptions_prescription",
    "prescriptions_prescriptionitem",
    "prescriptions_route",
    "prescriptions_receivedprescription",
    "prescriptions_auditentry",
    "prescriptions_auditorigin",
)
_STAGE = """
CREATE UNLOGGED TABLE bench_copy AS
SELECT n, t.id AS template, t.status, a.made_at, uuidv7(a.made_at - clock_timestamp()) AS id,
  uuidv7(a.made_at - clock_timestamp()) AS entry, uuidv7(a.made_at - clock_timestamp()) AS route,
  'bench-patient-' || (hashint4(n) & 2147483647) %% %(patients)s AS patient,
  'bench-doctor-' || (hashint4(n + 7) & 2147483647) %% %(doctors)s AS doctor,
  md5('shop' || (hashint4(n + 13) & 2147483647) %% %(shops)s)::uuid AS shop,
  md5(n::text) || md5('x' || n) AS hash
FROM generate_series(%(count)s, 1, -1) n
CROSS JOIN LATERAL (SELECT now() - interval '2 hours' - n::float8 / %(count)s * %(days)s * interval '1 day' AS made_at) a
JOIN unnest(%(ids)s::uuid[], %(statuses)s::text[], %(from)s::int[], %(to)s::int[]) t (id, status, low, high)
  ON (hashint4(n + 29) & 2147483647) %% 100 >= t.low AND (hashint4(n + 29) & 2147483647) %% 100 < t.high
"""
# For each table the rows of a template that are copied, and what is other in a copy.
_COPIES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "prescriptions_prescription": (
        "t.id = c.template",
        {
            "id": "c.id", "number": "'B' || lpad(c.n::text, 12, '0')", "patient_id": "c.patient",
            "prescriber_id": "c.doctor", "created_at": "c.made_at", "updated_at": "c.made_at",
            "signed_at": "CASE WHEN t.signed_at IS NOT NULL THEN c.made_at END",
            "route_id": "CASE WHEN t.route_id IS NOT NULL THEN c.route END",
            "pharmacy_location_id": "CASE WHEN t.route_id IS NOT NULL THEN c.shop END",
            "expires_at": "t.expires_at + interval '400 days'",
            "expiring_at": "c.made_at", "chain_length": "1", "chain_hash": "c.hash",
        },
    ),
    "prescriptions_prescriptionitem": (
        "t.prescription_id = c.template",
        {
            "id": "uuidv7(c.made_at - clock_timestamp())", "prescription_id": "c.id", "created_at": "c.made_at",
            "updated_at": "c.made_at",
        },
    ),
    "prescriptions_route": (
        "t.prescription_id = c.template",
        {
            "id": "c.route", "prescription_id": "c.id", "pharmacy_location_id": "c.shop", "created_at": "c.made_at",
            "updated_at": "c.made_at", "routed_at": "c.made_at",
        },
    ),
    "prescriptions_receivedprescription": (
        "t.id = c.template",
        {
            "id": "c.id", "number": "'B' || lpad(c.n::text, 12, '0')", "patient_id": "c.patient",
            "prescriber_id": "c.doctor", "pharmacy_location_id": "c.shop", "routed_at": "c.made_at",
            "received_at": "c.made_at", "updated_at": "c.made_at", "expires_at": "t.expires_at + interval '400 days'",
        },
    ),
    "prescriptions_auditentry": (
        "t.prescription_id = c.template AND t.sequence = 1",
        {
            "id": "c.entry", "prescription_id": "c.id", "patient_id": "c.patient", "occurred_at": "c.made_at",
            "hash": "c.hash",
        },
    ),
}  # fmt: skip
_ORIGINS = """
INSERT INTO prescriptions_auditorigin (id, tenant_id, salt, display, ip, user_agent)
SELECT c.entry, %(tenant)s, left(c.hash, 32), 'Bench', '127.0.0.1', 'bench' FROM bench_copy c
"""
_DUE = """
UPDATE prescriptions_prescription SET expires_at = now() - interval '1 minute', expired_at = NULL, prescriber_id = 'demo-prescriber',
  patient_id = 'bench-person-' || (hashtext(number) & 2147483647) %% %(people)s WHERE id IN (
  SELECT id FROM prescriptions_prescription WHERE tenant_id = %(tenant)s AND number LIKE 'B%%'
  AND status IN ('signed', 'routed') ORDER BY id LIMIT %(count)s)
"""
_GROWN = """
INSERT INTO prescriptions_auditentry (id, tenant_id, prescription_id, patient_id, sequence, action, actor, actor_id,
  from_status, to_status, details, request_id, origin_digest, occurred_at, prev_hash, hash)
SELECT uuidv7(), e.tenant_id, e.prescription_id, e.patient_id,
  1 + (SELECT max(o.sequence) FROM prescriptions_auditentry o WHERE o.tenant_id = e.tenant_id
       AND o.prescription_id = e.prescription_id),
  'dispensed', e.actor, e.actor_id, e.from_status, e.to_status, '{}', '', e.origin_digest, clock_timestamp(), e.hash,
  md5(e.id::text || clock_timestamp()) || md5(e.id::text)
FROM prescriptions_auditentry e JOIN prescriptions_prescription p ON p.id = e.prescription_id
WHERE e.tenant_id = %(tenant)s AND p.tenant_id = %(tenant)s AND p.number LIKE 'B%%' AND p.status = 'dispensed'
  AND e.sequence = 1
LIMIT %(count)s
"""


def fill(connection: "psycopg.Connection[Any]", tenant: str, templates: Mapping[str, str], count: int) -> float:
    """Copy until there are `count` prescriptions; `templates` holds one id for each status. Return the seconds it took.

    The copies of routed ones stand in the table of received prescriptions, for the pharmacy of the template.
    """
    started = time.monotonic()
    edges, low = [], 0
    for status in templates:
        edges.append((templates[status], status, low, low + SHARES[status]))
        low += SHARES[status]
    ids, statuses, begins, ends = (list(values) for values in zip(*edges, strict=True))
    given = {
        "count": count, "days": DAYS, "doctors": DOCTORS, "shops": SHOPS, "patients": patients(count), "ids": ids,
        "statuses": statuses, "from": begins, "to": ends,
    }  # fmt: skip
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("DROP TABLE IF EXISTS bench_copy")
        connection.execute(_STAGE, given)
        for table, (joined, other) in _COPIES.items():
            _copy(connection, table, joined, other)
        connection.execute(_ORIGINS, {"tenant": tenant})
    settle(connection)
    return time.monotonic() - started


def patients(count: int) -> int:
    """How many patients the copies are of."""
    return max(1, count // OF_ONE_PATIENT)


def _copy(connection: "psycopg.Connection[Any]", table: str, joined: str, other: Mapping[str, str]) -> None:
    sql = (
        "SELECT quote_ident(column_name) FROM information_schema.columns"
        " WHERE table_schema = 'public' AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position"
    )
    names = [row[0] for row in connection.execute(sql, [table]).fetchall()]
    values = ", ".join(other.get(name) or f"t.{name}" for name in names)
    order = "ORDER BY c.n DESC"  # the oldest first, as they would have come
    connection.execute(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM bench_copy c JOIN {table} t ON {joined} {order}"
    )


def settle(connection: "psycopg.Connection[Any]") -> None:
    """Do what autovacuum does some time after."""
    for table in _TABLES:
        connection.execute(f"VACUUM (ANALYZE) {table}")


def make_due(connection: "psycopg.Connection[Any]", tenant: str, count: int) -> int:
    """Let so many open copies be due, of people who are in the record, also if they were before; return how many there are."""
    given = {"tenant": tenant, "count": count, "people": prescriptions_world.PATIENTS}
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        found = connection.execute(_DUE, given).rowcount
    connection.execute("ANALYZE prescriptions_prescription")
    return found


def grow_chains(connection: "psycopg.Connection[Any]", tenant: str, count: int) -> int:
    """Add an entry of now to so many histories; return how many there are."""
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        found = connection.execute(_GROWN, {"tenant": tenant, "count": count}).rowcount
    connection.execute("ANALYZE prescriptions_auditentry")
    return found


def marked(connection: "psycopg.Connection[Any]", tenant: str, mark: str, status: str) -> Sequence[tuple[str, str]]:
    """The prescriptions of one batch in a status, each with its first item."""
    sql = (
        "SELECT p.id::text, i.id::text FROM prescriptions_prescription p JOIN prescriptions_prescriptionitem i"
        " ON i.tenant_id = p.tenant_id AND i.prescription_id = p.id AND i.line = 1 WHERE p.tenant_id = %s"
        " AND p.notes_to_pharmacy = %s AND p.status = %s AND p.created_at > now() - interval '1 hour' ORDER BY p.id"
    )
    return [(str(one), str(item)) for one, item in connection.execute(sql, [tenant, mark, status]).fetchall()]


def waiting(connection: "psycopg.Connection[Any]", sql: str) -> int:
    """One number."""
    row = connection.execute(sql).fetchone()
    return int(row[0]) if row else 0
