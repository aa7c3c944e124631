"""The rows of `./dev bench analytics` beside those of `./dev bench order`: the roll-ups of all orders, and what they moved.

They are written by the administrator of the server, set by set and without triggers, in the order in which the facts would have
left them: each line that was sent is ordered and has a list price; each that was accepted is due three days later; what is closed
was received, every twentieth line goes back. The large supplier's closed lines left its stock when they were sent.
"""

import time
from typing import Any, Final

import psycopg

TABLES: Final = ("suppliers_rollup", "suppliers_stockmovement", "suppliers_movementcounter")
_QUARTER: Final = "date_bin('15 minutes', {}, '2000-01-01 00:00:00+00')"
_COLUMNS: Final = (
    "id, tenant_id, kind, bucket, due_date, document_id, line_no, product_id, category, buyer_id, location_id, currency, whole_at,"
    " entries, quantity, base, net, list_net"
)
_LINES: Final = f"""
INSERT INTO suppliers_rollup ({_COLUMNS})
SELECT uuidv7(), o.supplier_tenant_id, k.kind, {_QUARTER.format("o.sent_at")},
  CASE k.kind WHEN 'due' THEN (o.sent_at AT TIME ZONE 'UTC')::date + 3 END, o.id, l.line_no, l.product_id, l.category, o.tenant_id,
  CASE WHEN k.kind IN ('received', 'returned') THEN o.delivery_location_id END,
  CASE WHEN k.kind IN ('received', 'returned') THEN '' ELSE o.currency END,
  CASE WHEN k.kind = 'due' AND l.shipped >= l.accepted THEN o.sent_at + (l.line_no + 1) * interval '1 day' END, 1,
  CASE k.kind WHEN 'ordered' THEN l.ordered WHEN 'due' THEN l.accepted WHEN 'received' THEN l.received WHEN 'returned' THEN l.units_per_pack
    ELSE 0 END,
  CASE k.kind WHEN 'ordered' THEN l.cancelled WHEN 'due' THEN l.shipped ELSE 0 END,
  CASE WHEN k.kind IN ('ordered', 'listed') THEN l.net ELSE 0 END, CASE k.kind WHEN 'listed' THEN l.list_net ELSE 0 END
FROM suppliers_purchaseorder o JOIN suppliers_purchaseorderline l ON l.tenant_id = o.tenant_id AND l.order_id = o.id
CROSS JOIN (VALUES ('ordered'), ('listed'), ('due'), ('received'), ('returned')) k (kind)
WHERE o.sent_at IS NOT NULL AND CASE k.kind WHEN 'ordered' THEN true WHEN 'listed' THEN l.list_net IS NOT NULL
  WHEN 'due' THEN l.accepted > 0 WHEN 'received' THEN l.received > 0 ELSE l.received > 0 AND hashtext(l.id::text) %% 20 = 0 END
ORDER BY o.sent_at, o.id, l.id
"""
_ACCEPTED: Final = f"""
INSERT INTO suppliers_rollup ({_COLUMNS})
SELECT uuidv7(), o.supplier_tenant_id, 'accepted', {_QUARTER.format("o.accepted_at")}, NULL, o.id, 0, NULL, '', o.tenant_id, NULL,
  o.currency, NULL, 1, (1000 * extract(epoch FROM o.accepted_at - o.sent_at))::bigint, 0, 0, 0
FROM suppliers_purchaseorder o WHERE o.accepted_at IS NOT NULL ORDER BY o.accepted_at
"""
_OFFERED: Final = f"""
INSERT INTO suppliers_rollup ({_COLUMNS})
SELECT uuidv7(), o.tenant_id, 'offered', {_QUARTER.format("o.created_at")}, NULL, o.id, 0, o.product_id, p.category, NULL, NULL, '',
  NULL, 1, 0, 0, 0, 0
FROM suppliers_offer o JOIN suppliers_product p ON p.tenant_id = o.tenant_id AND p.id = o.product_id WHERE o.status = 'published'
"""
_MOVED: Final = (
    """INSERT INTO suppliers_stockmovement (id, created_at, tenant_id, product_id, location_id, level_id, lot_id, lot_number, type,
  quantity, balance_after, reason_code, reference_type, reference_id, reference_text, note, actor_id, actor_kind)
SELECT uuidv7(o.sent_at - now()), o.sent_at, v.tenant_id, v.product_id, v.location_id, v.id, v.lot_id, '', 'shipment', -l.shipped,
  v.on_hand, '', 'delivery', o.id, '', '', v.tenant_id, 'system'
FROM suppliers_purchaseorder o JOIN suppliers_purchaseorderline l ON l.tenant_id = o.tenant_id AND l.order_id = o.id
JOIN LATERAL (SELECT * FROM suppliers_stocklevel v WHERE v.tenant_id = o.supplier_tenant_id AND v.product_id = l.product_id
  ORDER BY v.id LIMIT 1) v ON true
WHERE o.supplier_tenant_id = %(large)s AND o.status = 'closed' AND o.sent_at IS NOT NULL AND l.shipped > 0""",
    "DELETE FROM suppliers_movementcounter WHERE tenant_id = %(large)s",
    """INSERT INTO suppliers_movementcounter (tenant_id, day, stripe, movements)
SELECT tenant_id, (created_at AT TIME ZONE 'UTC')::date, 0, count(*) FROM suppliers_stockmovement WHERE tenant_id = %(large)s
GROUP BY 1, 2""",
)

_ENABLED: Final = """
UPDATE organizations_tenant SET features = array_append(features, 'analytics') WHERE id = %s AND 'analytics' <> ALL (features)
"""


def fill(connection: "psycopg.Connection[Any]", world: dict[str, Any]) -> float:
    """Let there be the figures of all orders; return the seconds it took, 0 if they are there."""
    started = time.monotonic()
    large = world["suppliers"][0]["tenant"]
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute(_ENABLED, [large])
    # What other benchmarks do on the same database leaves rows of the day on which they run.
    there = "SELECT 1 FROM suppliers_rollup WHERE tenant_id = %s AND kind = 'received' AND bucket < now() - interval '60 days' LIMIT 1"
    if connection.execute(there, [large]).fetchone():
        return 0.0
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        for table in (
            "suppliers_rollup",
            "suppliers_rollupsum",
            "suppliers_dueday",
            "suppliers_rollupmark",
            "suppliers_acceptanceday",
            "suppliers_acceptancemark",
        ):
            connection.execute(f"DELETE FROM {table}")  # what runs of other benchmarks have left
        for sql in (_LINES, _ACCEPTED, _OFFERED, *_MOVED):
            connection.execute(sql, {"large": large})
    for table in TABLES:
        connection.execute(f"VACUUM (ANALYZE) {table}")
    return time.monotonic() - started


def count(connection: "psycopg.Connection[Any]", tenant: str) -> int:
    """How many rows of figures a tenant has."""
    (found,) = connection.execute(
        "SELECT count(*) FROM suppliers_rollup WHERE tenant_id = %s", [tenant]
    ).fetchone() or (0,)
    return int(found)
