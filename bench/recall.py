"""The recall of `./dev bench supply`: a lot that a thousand buyers hold is recalled, the walk tells them all, and others write meanwhile."""

import json
import secrets
import time
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from devtools.parts import BACKGROUND

from . import load, workload
from .prescriptions_child import Child
from .prescriptions_report import Held

if TYPE_CHECKING:
    from .supply import Bench

BUYERS: Final = 1_000
_TIMES: Final = 9
# What each buyer gets: a tenant as the bench's hospital, one place, the product as an item, a lot of the origin and its level.
_BUYERS: Final = (
    """CREATE UNLOGGED TABLE bench_buyer AS
SELECT n, uuidv7() AS tenant_id, uuidv7() AS location_id, uuidv7() AS lot_id FROM generate_series(1, %(buyers)s) n""",
    """INSERT INTO organizations_tenant (id, slug, name, organization_id, kinds, status, region, time_zone, locale, currency,
  plan, environment, suspended_reason, features, rate_limits, entitled_until)
SELECT b.tenant_id, 'recall-' || b.tenant_id, 'Buyer ' || b.n, t.organization_id, t.kinds, t.status, t.region, t.time_zone,
  t.locale, t.currency, t.plan, t.environment, t.suspended_reason, t.features, t.rate_limits, t.entitled_until
FROM organizations_tenant t, bench_buyer b WHERE t.id = %(like)s""",
    """INSERT INTO organizations_location (id, tenant_id, created_at, updated_at, version, name, type, status, opening_hours,
  identifiers, is_dispensing, listed)
SELECT location_id, tenant_id, now(), now(), 1, 'Store', 'warehouse', 'active', '[]', '[]', false, false FROM bench_buyer""",
    """INSERT INTO suppliers_stockplace (id, tenant_id, created_at, updated_at, version, location_id, code, sellable, gln,
  tracks_stock, license_number, license_types)
SELECT uuidv7(), tenant_id, now(), now(), 1, location_id, 'S', false, '', true, '', '[]' FROM bench_buyer""",
    """INSERT INTO suppliers_stockitem (id, tenant_id, created_at, updated_at, version, product_tenant_id, supplier_sku, name,
  category, kind, base_unit, tracking, expiry_required, gtins, codes, packagings)
SELECT %(product)s, tenant_id, now(), now(), 1, %(supplier)s, 'SKU', 'Product', '', '', 'EA', 'lot', false, '{}', '{}', '[]'
FROM bench_buyer""",
    """INSERT INTO suppliers_lot (id, tenant_id, created_at, updated_at, version, product_id, lot_number, expiry_date, status,
  status_reason, origin_tenant_id, origin_lot_id)
SELECT b.lot_id, b.tenant_id, now(), now(), 1, %(product)s, l.lot_number, l.expiry_date, 'released', '', l.tenant_id, l.id
FROM bench_buyer b, suppliers_lot l WHERE l.tenant_id = %(supplier)s AND l.id = %(lot)s""",
    """INSERT INTO suppliers_stocklevel (id, tenant_id, created_at, updated_at, version, product_id, location_id, lot_id,
  on_hand, reserved)
SELECT uuidv7(), tenant_id, now(), now(), 1, %(product)s, location_id, lot_id, 10, 0 FROM bench_buyer""",
    "DROP TABLE bench_buyer",
)
# Lots of which nothing is reserved: two.
_LOTS: Final = """
SELECT l.id::text, l.product_id::text FROM suppliers_lot l WHERE l.tenant_id = %s AND l.product_id = ANY(%s::uuid[])
  AND l.status = 'released' AND NOT EXISTS (SELECT FROM suppliers_reservation r
    WHERE r.tenant_id = l.tenant_id AND r.product_id = l.product_id AND r.status = 'active')
ORDER BY l.id LIMIT 2
"""
_TOLD: Final = """
SELECT count(*) FROM suppliers_recallnotice n JOIN suppliers_recall r ON r.tenant_id = n.tenant_id AND r.id = n.recall_id
WHERE n.tenant_id = %s AND r.lot_id = %s AND n.status = 'told'
"""


def measure(bench: "Bench") -> list[Held]:
    """Recall a lot that so many buyers hold; what is told is beside a correction of the lot, and beside writes alone.

    First a lot that nobody holds is recalled a few times, so that every process of the service has done so before.
    """
    lots = bench.connection.execute(_LOTS, [bench.large, [one["id"] for one in bench.many]]).fetchall()
    (lot, product), (unheld, _) = lots
    _let_hold(bench, lot, product)
    said = {"class": "II", "reference": "FSN-1", "instructions": "Set aside and send back."}
    recalled = {"status": "recalled", "recall": said, "reason": "Hub may come loose"}
    for _ in range(_TIMES):
        _patch(bench, unheld, recalled)
        _patch(bench, unheld, {"status": "quarantined", "reason": "A false alarm"})
    dates = [{"expiry_date": f"2031-01-{number + 1:02}", "reason": "Misread"} for number in range(_TIMES)]
    corrected = [_patch(bench, lot, date) for date in dates]
    alone = _write(bench)
    answered = _patch(bench, lot, recalled)
    beside, answers = load.Outcome(), list[Any]()
    with Child.running(bench.place, niceness=BACKGROUND) as child:
        started = time.monotonic()
        walk = Thread(target=lambda: answers.append(child.do("walk_recalls")))
        walk.start()
        while walk.is_alive():
            beside.latencies += _write(bench).latencies
        walk.join()
        took = time.monotonic() - started
    (count,) = bench.connection.execute(_TOLD, [bench.large, lot]).fetchone()
    if count != BUYERS:
        raise RuntimeError(f"{count} of {BUYERS} buyers were told")
    usual, p99 = sorted(corrected)[_TIMES // 2], beside.percentile(0.99)
    told = f"{answered * 1_000:,.1f} ms beside {usual * 1_000:,.1f} ms"
    others = f"alone {alone.percentile(0.99):.1f} ms, beside the walk {p99:.1f} ms"
    return [
        Held(f"recall with {BUYERS:,} buyers, answer", answered / usual, 3, "x", told=told),
        Held("all buyers told", took, 60, " s", told=f"{BUYERS / took:,.0f} buyers/s"),
        Held("p99 of creates beside the walk", p99 / alone.percentile(0.99), 2, "x", told=others),
    ]


def _let_hold(bench: "Bench", lot: str, product: str) -> None:
    given = {
        "buyers": BUYERS, "like": bench.buyer["tenant"], "supplier": bench.large, "lot": lot, "product": product,
    }  # fmt: skip
    with bench.connection.transaction():
        bench.connection.execute("SET LOCAL session_replication_role = replica")
        bench.connection.execute("DROP TABLE IF EXISTS bench_buyer")
        for sql in _BUYERS:
            bench.connection.execute(sql, given)
    for table in ("organizations_tenant", "suppliers_lot", "suppliers_stocklevel"):
        bench.connection.execute(f"VACUUM (ANALYZE) {table}")


def _patch(bench: "Bench", lot: str, body: dict[str, Any]) -> float:
    """Change the lot; return the seconds that the answer took.

    :raises RuntimeError: it is refused.
    """
    supplier = bench.world["suppliers"][0]
    headers = {
        "Authorization": f"Bearer {supplier['token']}",
        "X-Tenant-Id": supplier["tenant"],
        "Idempotency-Key": secrets.token_hex(16),
    }
    sent = load.request("PATCH", f"/v1/inventory/lots/{lot}", headers=headers, body=json.dumps(body).encode())
    outcome = load.run(bench.port, [sent], seconds=30, connections=1, once=True)
    if set(outcome.statuses) != {200}:
        raise RuntimeError(f"{dict(outcome.statuses)} {outcome.sample[:800]!r}")
    return outcome.latencies[0]


def _write(bench: "Bench") -> load.Outcome:
    """Create products of other suppliers for two seconds."""
    sent = workload.creates(bench.callers, 4_000)
    return load.run(bench.port, sent, seconds=2, connections=2, once=True)
