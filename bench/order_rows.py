"""The rows of `./dev bench order` beside the seeded products: orders with lines, numbers, received copies and facts.

They are written by the administrator of the server, set by set and without triggers, as the actions would have left them. Of
old orders nearly all are closed, of the newest twentieth most are under way. A tenth is of the large buyer, a tenth goes to the
large supplier; the others share the rest. The copies are computed by the statement of the service itself.
"""

import time
from typing import Any, Final

import psycopg

GOODS: Final = 200  # products of each supplier that are ordered
TABLES: Final = (
    "organizations_location", "suppliers_purchaseorder", "suppliers_purchaseorderline", "suppliers_receivedorder",
    "suppliers_receivedorderline", "suppliers_documentnumber", "suppliers_documentword", "ledger_event", "suppliers_stocklevel",
)  # fmt: skip
_STAGES: Final = ("bench_party", "bench_goods", "bench_order", "bench_line")


def _hash(salt: int, number: str = "n") -> str:
    """Write the SQL of a number that looks random, made of another."""
    return f"(hashint4(({number})::int + {salt * 7_919})::bigint + 2147483648)"


def _one_of(salt: int, shares: dict[str, int]) -> str:
    """Write the SQL of a word, chosen by shares of a hundred."""
    whens, below = [], 0
    for word, share in shares.items():
        below += share
        whens.append(f"WHEN {_hash(salt)} %% 100 < {below} THEN '{word}'")
    return f"CASE {' '.join(whens)} END"


_NEW: Final = {
    "accepted": 48,
    "sent": 20,
    "draft": 15,
    "pending_approval": 5,
    "change_proposed": 5,
    "cancelled": 4,
    "rejected": 3,
}
_OLD: Final = {"closed": 86, "accepted": 5, "cancelled": 5, "rejected": 3, "draft": 1}
_PARTIES: Final = """
CREATE UNLOGGED TABLE bench_party AS SELECT t.n - 1 AS n, t.id, uuidv7() AS location_id
FROM unnest(%(buyers)s::uuid[]) WITH ORDINALITY t (id, n)
"""
_LOCATIONS: Final = """
INSERT INTO organizations_location (id, tenant_id, created_at, updated_at, version, name, type, status, address, opening_hours,
  identifiers, is_dispensing, listed)
SELECT location_id, id, now(), now(), 1, 'Goods in', 'ward', 'active', '{"country": "DE", "city": "Bonn"}', '[]', '[]', false, false
FROM bench_party
"""
_GOODS: Final = """
CREATE UNLOGGED TABLE bench_goods AS SELECT * FROM (
  SELECT t.n - 1 AS supplier, p.tenant_id, p.id AS product_id, k.id AS packaging_id, p.name, p.supplier_sku, p.category, k.gtin,
    k.units_per_pack, json_build_object('level', k.level, 'name', k.name, 'units_per_pack', k.units_per_pack)::jsonb AS packaging,
    row_number() OVER (PARTITION BY p.tenant_id ORDER BY p.supplier_sku) - 1 AS place
  FROM unnest(%(suppliers)s::uuid[]) WITH ORDINALITY t (id, n)
  JOIN suppliers_product p ON p.tenant_id = t.id AND p.supplier_sku LIKE 'SKU-%%' AND p.archived_at IS NULL
  JOIN suppliers_packaging k ON k.tenant_id = p.tenant_id AND k.product_id = p.id AND k.state = 'current') g WHERE place < %(goods)s
"""
_ORDERS: Final = f"""
CREATE UNLOGGED TABLE bench_order AS
SELECT o.*, b.id AS buyer_id, b.location_id, s.id AS supplier_id, uuidv7(o.created_at - now()) AS id,
  o.status NOT IN ('draft', 'pending_approval') AND NOT (o.status = 'cancelled' AND {_hash(6, "o.n")} %% 5 = 0) AS is_sent,
  o.created_at + interval '1 hour' AS sent_at,
  least(now(), o.created_at + {_hash(7, "o.n")} %% 2592000 * interval '1 second' + interval '1 hour') AS updated_at
FROM (SELECT n, now() - (%(orders)s - n + 1)::float8 / %(orders)s * interval '500 days' AS created_at,
    CASE WHEN n > %(orders)s * 0.95 THEN {_one_of(1, _NEW)} ELSE {_one_of(1, _OLD)} END AS status,
    CASE WHEN {_hash(2)} %% 10 = 0 THEN 0 ELSE 1 + {_hash(3)} %% (%(buyer_count)s - 1) END AS buyer,
    CASE WHEN {_hash(4)} %% 10 = 0 THEN 0 ELSE 1 + {_hash(5)} %% (%(supplier_count)s - 1) END AS supplier,
    1 + {_hash(8)} %% 3 AS lines_total
  FROM generate_series(1, %(orders)s) n) o
JOIN bench_party b ON b.n = o.buyer JOIN unnest(%(suppliers)s::uuid[]) WITH ORDINALITY s (id, n) ON s.n - 1 = o.supplier
"""
_LINES: Final = f"""
CREATE UNLOGGED TABLE bench_line AS
SELECT o.n, o.id AS order_id, o.buyer_id, o.supplier_id, o.status, o.is_sent, o.created_at, o.updated_at, no AS line_no,
  uuidv7(o.created_at - now()) AS id, 1 + {_hash(9, "o.n * 3 + no")} %% 20 AS quantity, g.product_id, g.packaging_id, g.name,
  g.supplier_sku, g.category, g.gtin, g.packaging, g.units_per_pack
FROM bench_order o CROSS JOIN LATERAL generate_series(1, o.lines_total) no
JOIN (SELECT supplier, count(*) AS products FROM bench_goods GROUP BY supplier) c ON c.supplier = o.supplier
JOIN bench_goods g ON g.supplier = o.supplier AND g.place = {_hash(10, "o.n * 3 + no")} %% c.products
"""
_INDEX: Final = "CREATE INDEX ON bench_goods (supplier, place)"
_ROWS: Final = (
    f"""INSERT INTO suppliers_purchaseorder (id, tenant_id, created_at, updated_at, version, number, supplier_tenant_id, order_number,
  status, approval_for, proposed_by, before_change, fulfilment_status, billing_status, currency, delivery_location_id,
  delivery_address, incoterm, priority, substitution_policy, backorder_policy, notes_to_supplier, internal_note, budget_code,
  cost_center, external_reference, reservation_ids, requester_id, authors, revision, net, tax, gross, taxes, lines_total,
  price_differs, submitted_at, sent_at, accept_by, accepted_at, closed_at, shared_version)
SELECT o.id, o.buyer_id, o.created_at, o.updated_at, 3, 'PO-' || lpad(o.po::text, 6, '0'), o.supplier_id,
  CASE WHEN o.is_sent THEN 'SO-' || lpad(o.so::text, 6, '0') ELSE '' END, o.status,
  CASE WHEN o.status = 'pending_approval' THEN 'sending' ELSE '' END,
  CASE WHEN o.status = 'change_proposed' THEN 'supplier' ELSE '' END, CASE WHEN o.status = 'change_proposed' THEN 'sent' ELSE '' END,
  CASE WHEN o.status = 'closed' THEN 'received' WHEN o.status = 'accepted' THEN
    (array['unfulfilled', 'partially_shipped', 'shipped', 'partially_received'])[1 + {_hash(11, "o.n")} %% 4] ELSE 'unfulfilled' END,
  CASE WHEN o.status = 'closed' THEN 'paid' ELSE 'not_invoiced' END, 'EUR', o.location_id,
  '{{"name": "Goods in", "address": {{"country": "DE", "city": "Bonn"}}}}',
  'DAP', CASE WHEN {_hash(12, "o.n")} %% 20 = 0 THEN 'urgent' ELSE 'routine' END, 'ask', 'accept', 'Ring at the gate.', '', '', '',
  'REQ-' || o.n, '[]', o.buyer_id, '[]', 1, l.net, round(l.net * 0.19, 2), l.net + round(l.net * 0.19, 2),
  jsonb_build_array(jsonb_build_object('category', 'S', 'rate', '19', 'base', l.net::text, 'amount', round(l.net * 0.19, 2)::text)),
  o.lines_total, {_hash(13, "o.n")} %% 50 = 0, CASE WHEN o.status <> 'draft' THEN o.created_at + interval '1 minute' END,
  CASE WHEN o.is_sent THEN o.sent_at END, CASE WHEN o.is_sent THEN o.sent_at + interval '2 days' END,
  CASE WHEN o.status IN ('accepted', 'closed') THEN o.sent_at + interval '2 hours' END,
  CASE WHEN o.status = 'closed' THEN o.updated_at END, 2
FROM (SELECT o.*, row_number() OVER (PARTITION BY buyer_id ORDER BY n) AS po,
    row_number() OVER (PARTITION BY supplier_id, is_sent ORDER BY n) AS so FROM bench_order o) o
JOIN (SELECT n, sum(quantity * 12.5) AS net FROM bench_line GROUP BY n) l USING (n)""",
    """INSERT INTO suppliers_purchaseorderline (id, tenant_id, created_at, updated_at, version, order_id, line_no, product_id,
  packaging_id, own_code, unit, quantity, name, supplier_sku, gtin, category, packaging, base_unit, units_per_pack, license_type,
  currency, unit_price, price_base_quantity, list_price, list_net, net, tax_category, tax_rate, price_source, redeemed, trace, ordered,
  accepted, cancelled, shipped, received)
SELECT id, buyer_id, created_at, updated_at, 1, order_id, line_no, product_id, packaging_id, '', 'pack', quantity, name, supplier_sku,
  gtin, category, packaging, 'EA', units_per_pack, '', 'EUR', 12.5, 1, 12.5, quantity * 12.5, quantity * 12.5, 'S', 19, 'offer', '[]', '[]',
  quantity * units_per_pack, CASE WHEN status IN ('accepted', 'closed') THEN quantity * units_per_pack ELSE 0 END,
  CASE WHEN status IN ('cancelled', 'rejected') THEN quantity * units_per_pack ELSE 0 END,
  CASE WHEN status = 'closed' THEN quantity * units_per_pack ELSE 0 END, CASE WHEN status = 'closed' THEN quantity * units_per_pack ELSE 0 END
FROM bench_line""",
    """INSERT INTO suppliers_documentnumber (tenant_id, kind, number, sequence, document_id)
SELECT tenant_id, 'purchase_order', number, substr(number, 4)::bigint, id FROM suppliers_purchaseorder
UNION ALL SELECT supplier_tenant_id, 'order', order_number, substr(order_number, 4)::bigint, id FROM suppliers_purchaseorder
WHERE order_number <> ''""",
    """INSERT INTO suppliers_receivedorderline (id, tenant_id, document_id, line_no, product_id, backordered)
SELECT id, supplier_id, order_id, line_no, product_id, 0 FROM bench_line WHERE is_sent""",
    """INSERT INTO ledger_event (id, tenant_id, type, version, resource_type, resource_id, resource_version, data, figures, subject_id,
  subject_kind, credential, request_id, occurred_at)
SELECT uuidv7(o.created_at - now()), CASE f.side WHEN 'order' THEN o.supplier_id ELSE o.buyer_id END, f.side || '.' || f.word, 1, f.side,
  o.id, 1, jsonb_build_object('by', 'buyer', 'was', NULL, 'status', f.status, 'revision', 1, 'po_number', 'PO'),
  '{"reason": "", "currency": "EUR", "lines": []}', CASE f.side WHEN 'order' THEN '00000000-0000-0000-0000-000000000000' ELSE o.buyer_id END,
  'user', 'bench', '', o.created_at + f.place * interval '1 minute'
FROM bench_order o JOIN (VALUES ('purchase_order', 'created', 'draft', 0, false), ('purchase_order', 'sent', 'sent', 1, true),
  ('order', 'placed', 'sent', 1, true)) f (side, word, status, place, of_sent) ON o.is_sent OR NOT f.of_sent""",
)
_BY_TRIGGERS: Final = (
    """INSERT INTO suppliers_documentword (tenant_id, kind, word, document_id, party_id)
SELECT t.tenant_id, 'purchase_order', n.word, t.id, t.supplier_tenant_id FROM suppliers_purchaseorder t
CROSS JOIN LATERAL unnest(suppliers_words(t.number || ' ' || t.order_number || ' ' || t.external_reference)) n(word)
UNION ALL SELECT t.tenant_id, 'order', n.word, t.id, t.owner_tenant_id FROM suppliers_receivedorder t
CROSS JOIN LATERAL unnest(suppliers_words(t.number || ' ' || t.po_number)) n(word)""",
    """INSERT INTO suppliers_receivedordercounter (tenant_id, orders)
SELECT tenant_id, count(*) FROM suppliers_receivedorder GROUP BY 1""",
)
_PLENTY: Final = """
UPDATE suppliers_stocklevel SET reserved = 0, on_hand = 1000000000 WHERE tenant_id = %(supplier)s AND product_id = ANY(%(products)s::uuid[])
"""


def fill(connection: "psycopg.Connection[Any]", world: dict[str, Any], orders: int) -> float:
    """Let there be so many orders between the buyers and the suppliers of the world; return the seconds it took, 0 if there are."""
    started = time.monotonic()
    buyers, suppliers = [one["tenant"] for one in world["buyers"]], world["tenants"]
    given = {
        "buyers": buyers, "suppliers": suppliers, "orders": orders, "goods": GOODS, "buyer_count": len(buyers),
        "supplier_count": len(suppliers),
    }  # fmt: skip
    if connection.execute("SELECT 1 FROM suppliers_purchaseorder LIMIT 1").fetchone():
        return 0.0
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("SET LOCAL work_mem = '256MB'")
        connection.execute(f"DROP TABLE IF EXISTS {', '.join(_STAGES)}")
        for sql in (_PARTIES, _GOODS, _INDEX, _ORDERS, _LINES, _LOCATIONS, *_ROWS):
            connection.execute(sql, given if "%(" in sql or "%%" in sql else None)
            told = sql.split("(")[0].split(" AS ")[0].strip()
            print(f"{time.monotonic() - started:6.1f} s {told}", flush=True)
        connection.execute(world["copying"])
        print(f"{time.monotonic() - started:6.1f} s received copies", flush=True)
        for sql in _BY_TRIGGERS:
            connection.execute(sql)
        connection.execute(f"DROP TABLE {', '.join(_STAGES)}")
    for table in TABLES:
        connection.execute(f"VACUUM (ANALYZE) {table}")
    return time.monotonic() - started


def restock(connection: "psycopg.Connection[Any]", supplier: str, products: list[str]) -> None:
    """Let there be plenty of these products, and nothing of them promised."""
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute(_PLENTY, {"supplier": supplier, "products": products})
    connection.execute("VACUUM (ANALYZE) suppliers_stocklevel")
