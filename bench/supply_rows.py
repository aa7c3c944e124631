"""The rows of `./dev bench supply` beside the seeded products: places, lots, levels, movements, list prices and offers.

They are written by the administrator of the server, set by set and without triggers, as the actions would have left them:
products that are seeded as available have stock above every threshold, limited ones a pack, those on backorder an offer
made to order, the others nothing.
"""

import time
from typing import Any, Final

import psycopg

from . import movement_rows

TABLES: Final = (
    "organizations_location",
    "suppliers_stockplace",
    "suppliers_stockitem",
    "suppliers_lot",
    "suppliers_stocklevel",
    "suppliers_stockmovement",
    "suppliers_movementcounter",
    "suppliers_listprice",
    "suppliers_listpricetier",
    "suppliers_offer",
    "suppliers_product",
    "suppliers_packaging",
    "suppliers_marketword",
    "suppliers_supplierprofile",
)
OFFERED: Final = 12_000  # products of the large tenant that everybody is offered
_STAGE = """
CREATE UNLOGGED TABLE bench_supply AS
SELECT p.tenant_id, p.id, substr(p.supplier_sku, 5)::int AS g, k.id AS packaging_id, k.units_per_pack, p.availability,
  p.created_at
FROM suppliers_product p
JOIN suppliers_packaging k ON k.tenant_id = p.tenant_id AND k.product_id = p.id AND k.state = 'current'
WHERE p.tenant_id = ANY(%(tenants)s) AND p.supplier_sku LIKE 'SKU-%%' AND p.archived_at IS NULL
"""
_PLACES = """
CREATE UNLOGGED TABLE bench_place AS SELECT t AS tenant_id, n, uuidv7() AS id
FROM unnest(%(tenants)s::uuid[]) t, generate_series(1, 2) n
"""
_LEVELS = """
CREATE UNLOGGED TABLE bench_level AS
SELECT b.tenant_id, b.id AS product_id, o.id AS location_id, o.n, b.g, b.created_at, uuidv7() AS id,
  CASE WHEN b.g %% 2 = 0 THEN uuidv7() END AS lot_id,
  CASE b.availability WHEN 'available' THEN 5000 + b.g %% 977 WHEN 'limited' THEN b.units_per_pack ELSE 0 END AS on_hand,
  CASE WHEN b.availability = 'limited' THEN 2000 WHEN b.g %% 3 = 0 THEN 100 END AS threshold
FROM bench_supply b JOIN bench_place o ON o.tenant_id = b.tenant_id WHERE b.availability <> 'unavailable'
"""
_COPIES: Final = (
    """INSERT INTO organizations_location (id, tenant_id, created_at, updated_at, version, name, type, status, opening_hours,
  identifiers, is_dispensing, listed)
SELECT id, tenant_id, now(), now(), 1, 'Hall ' || n, 'warehouse', 'active', '[]', '[]', false, false FROM bench_place""",
    """INSERT INTO suppliers_stockplace (id, tenant_id, created_at, updated_at, version, location_id, code, sellable, gln,
  tracks_stock, license_number, license_types)
SELECT uuidv7(), tenant_id, now(), now(), 1, id, 'H' || n, true, '', true, '', '[]' FROM bench_place""",
    """INSERT INTO suppliers_stockitem (id, tenant_id, created_at, updated_at, version, product_tenant_id, own_product_id,
  supplier_sku, name, category, kind, base_unit, tracking, expiry_required, gtins, codes, packagings)
SELECT product_id, tenant_id, min(created_at), min(created_at), 1, tenant_id, product_id, '', '', '', '', '', '', false, '{}', '{}',
  '[]' FROM bench_level GROUP BY tenant_id, product_id""",
    """INSERT INTO suppliers_lot (id, tenant_id, created_at, updated_at, version, product_id, lot_number, expiry_date, status,
  status_reason)
SELECT lot_id, tenant_id, created_at, created_at, 1, product_id, 'L' || n || '-' || g, date '2032-01-01' + g %% 900,
  'released', '' FROM bench_level WHERE lot_id IS NOT NULL""",
    """INSERT INTO suppliers_stocklevel (id, tenant_id, created_at, updated_at, version, product_id, location_id, lot_id,
  on_hand, reserved, low_stock_threshold)
SELECT id, tenant_id, created_at, created_at, 1, product_id, location_id, lot_id, on_hand, 0, threshold FROM bench_level""",
    """INSERT INTO suppliers_stockmovement (id, created_at, tenant_id, product_id, location_id, level_id, lot_id, lot_number,
  type, quantity, balance_after, reason_code, reference_type, reference_id, reference_text, note, actor_id, actor_kind)
SELECT uuidv7(), created_at, tenant_id, product_id, location_id, id, lot_id,
  CASE WHEN lot_id IS NULL THEN '' ELSE 'L' || n || '-' || g END, 'receipt', on_hand, on_hand, 'receipt', 'adjustment', id,
  '', '', tenant_id, 'system' FROM bench_level WHERE on_hand > 0""",
    """INSERT INTO suppliers_movementcounter (tenant_id, day, stripe, movements)
SELECT tenant_id, (created_at AT TIME ZONE 'UTC')::date, 0, count(*) FROM bench_level WHERE on_hand > 0 GROUP BY 1, 2""",
    """UPDATE suppliers_product p SET tracking = CASE WHEN b.g %% 2 = 0 THEN 'lot' ELSE 'none' END, stock_moved_at = b.created_at
FROM bench_supply b WHERE p.tenant_id = b.tenant_id AND p.id = b.id AND b.availability <> 'unavailable'""",
    """CREATE UNLOGGED TABLE bench_price AS SELECT *, uuidv7() AS price_id FROM bench_supply WHERE g %% 4 <> 0""",
    """INSERT INTO suppliers_listprice (id, tenant_id, created_at, updated_at, version, product_id, packaging_id, currency,
  price_base_quantity, valid_from)
SELECT price_id, tenant_id, created_at, created_at, 1, id, packaging_id, 'EUR', 1, date '2025-01-01' FROM bench_price""",
    """INSERT INTO suppliers_listpricetier (id, tenant_id, created_at, updated_at, version, price_id, min_quantity, unit_price)
SELECT uuidv7(), tenant_id, created_at, created_at, 1, price_id, q, 12.5 - q / 50.0 FROM bench_price, unnest(array[1, 50]) q""",
    """INSERT INTO suppliers_offer (id, tenant_id, created_at, updated_at, version, product_id, packaging_id, title, status,
  currency, tiers, price_base_quantity, stock_policy, stock_display, countries, visibility_mode, audience_id)
SELECT uuidv7(), tenant_id, created_at, created_at, 1, id, packaging_id, '', 'published', 'EUR',
  '[{"min_quantity": 1, "unit_price": "12.5"}]', 1,
  CASE WHEN availability = 'backorder' THEN 'made_to_order' ELSE 'live' END, 'exact', '[]', 'public', %(everybody)s
FROM (SELECT b.*, row_number() OVER (PARTITION BY tenant_id, availability ORDER BY g) AS nth FROM bench_supply b) b
WHERE availability = 'backorder' OR (tenant_id = %(large)s AND availability = 'available' AND nth <= %(offered)s)""",
)
LOTS: Final = 50
_LOTTED: Final = """
SELECT 1 FROM suppliers_lot WHERE tenant_id = %(tenant)s AND product_id = %(product)s AND lot_number = 'B' || %(lots)s
"""
_MORE_LOTS: Final = (
    """INSERT INTO suppliers_lot (id, tenant_id, created_at, updated_at, version, product_id, lot_number, expiry_date, status,
  status_reason)
SELECT uuidv7(), %(tenant)s, now(), now(), 1, %(product)s, 'B' || n, date '2033-01-01' + n, 'released', ''
FROM generate_series(1, %(lots)s) n""",
    """INSERT INTO suppliers_stocklevel (id, tenant_id, created_at, updated_at, version, product_id, location_id, lot_id,
  on_hand, reserved)
SELECT uuidv7(), l.tenant_id, now(), now(), 1, l.product_id, o.location_id, l.id, 40, 0 FROM suppliers_lot l
CROSS JOIN (SELECT location_id FROM suppliers_stockplace WHERE tenant_id = %(tenant)s ORDER BY code LIMIT 1) o
WHERE l.tenant_id = %(tenant)s AND l.product_id = %(product)s AND l.lot_number LIKE 'B%%'""",
    """INSERT INTO suppliers_stockmovement (id, created_at, tenant_id, product_id, location_id, level_id, lot_id, lot_number,
  type, quantity, balance_after, reason_code, reference_type, reference_id, reference_text, note, actor_id, actor_kind)
SELECT uuidv7(), now(), v.tenant_id, v.product_id, v.location_id, v.id, v.lot_id, l.lot_number, 'receipt', v.on_hand, v.on_hand,
  'receipt', 'adjustment', v.id, '', '', v.tenant_id, 'system' FROM suppliers_stocklevel v
JOIN suppliers_lot l ON l.tenant_id = v.tenant_id AND l.id = v.lot_id
WHERE v.tenant_id = %(tenant)s AND v.product_id = %(product)s AND l.lot_number LIKE 'B%%'""",
)
_FREED = """
UPDATE suppliers_allocation SET status = 'released' WHERE tenant_id = %(tenant)s AND status = 'active'
"""
_PLENTY = """
UPDATE suppliers_stocklevel SET reserved = 0, on_hand = CASE WHEN product_id = %(hot)s THEN 1000000000 ELSE on_hand END
WHERE tenant_id = %(tenant)s AND (product_id = %(hot)s OR reserved > 0)
"""
_QUALIFIED = """
INSERT INTO suppliers_supplierprofile (id, tenant_id, created_at, updated_at, version, legal_name, trade_name, country,
  registrations, addresses, contacts, currencies, ships_to, categories, tax_rates, order_settings, bank_account_last4,
  qualification_status)
SELECT uuidv7(), n.id, now(), now(), 1, n.name, '', '', '[]', '[]', '[]', '[]', '[]', '[]', '[]', '{}', '', 'qualified'
FROM organizations_tenant n WHERE n.id = ANY(%(tenants)s::uuid[])
ON CONFLICT (tenant_id) DO UPDATE SET qualification_status = excluded.qualification_status
"""
_SHOWN: Final = (
    """UPDATE suppliers_product p SET offered = true WHERE p.tenant_id = ANY(%(tenants)s::uuid[]) AND NOT p.offered
AND EXISTS (SELECT 1 FROM suppliers_offer o WHERE o.tenant_id = p.tenant_id AND o.product_id = p.id AND o.on_market)""",
    *(
        f"""UPDATE {table} c SET on_market = true FROM suppliers_product p WHERE c.tenant_id = ANY(%(tenants)s::uuid[])
AND p.tenant_id = c.tenant_id AND p.id = c.product_id AND p.on_market AND NOT c.on_market"""
        for table in ("suppliers_packaging", "suppliers_listprice")
    ),
    """INSERT INTO suppliers_marketword (tenant_id, audience_id, word, product_id)
SELECT p.tenant_id, %(everybody)s::uuid, n.word, p.id FROM suppliers_product p
CROSS JOIN LATERAL (SELECT '' AS word UNION ALL SELECT w.word FROM suppliers_productword w
  WHERE w.tenant_id = p.tenant_id AND w.product_id = p.id) n
WHERE p.tenant_id = ANY(%(tenants)s::uuid[]) AND p.on_market ON CONFLICT DO NOTHING""",
)
_SHARE = """
UPDATE suppliers_supplierprofile SET order_settings = '{"reservation_cap_percent": 100}' WHERE tenant_id = %(tenant)s
"""


def show(connection: "psycopg.Connection[Any]", tenants: list[str]) -> None:
    """Let these suppliers trade, and buyers see what they offer to everybody."""
    from suppliers.marketplace.states import EVERYBODY

    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        for sql in (_QUALIFIED, *_SHOWN):
            connection.execute(sql, {"tenants": tenants, "everybody": EVERYBODY})
    settle(connection)


def fill(connection: "psycopg.Connection[Any]", tenants: list[str]) -> float:
    """Put stock, prices and offers to the seeded products of these tenants, the large one first; return the seconds it took.

    Tenants that have places already are filled, and nothing is done.
    """
    from suppliers.marketplace.states import EVERYBODY

    started = time.monotonic()
    given = {"tenants": tenants, "large": tenants[0], "everybody": EVERYBODY, "offered": OFFERED}
    if connection.execute(
        "SELECT 1 FROM suppliers_stockplace WHERE tenant_id = ANY(%(tenants)s) LIMIT 1", given
    ).fetchone():
        return 0.0
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("SET LOCAL work_mem = '256MB'")
        for stage in ("bench_supply", "bench_place", "bench_level", "bench_price"):
            connection.execute(f"DROP TABLE IF EXISTS {stage}")
        for sql in (_STAGE, _PLACES, _LEVELS, *_COPIES):
            connection.execute(sql, given)
        for stage in ("bench_supply", "bench_place", "bench_level", "bench_price"):
            connection.execute(f"DROP TABLE {stage}")
    settle(connection)
    return time.monotonic() - started


def offered(connection: "psycopg.Connection[Any]", tenant: str) -> list[dict[str, Any]]:
    """The products of the large tenant that everybody is offered from stock, in the order of their numbers."""
    sql = (
        "SELECT o.product_id::text FROM suppliers_offer o JOIN suppliers_product p ON p.tenant_id = o.tenant_id"
        " AND p.id = o.product_id WHERE o.tenant_id = %s AND o.stock_policy = 'live' AND o.status = 'published' AND p.status = 'active'"
        " ORDER BY p.supplier_sku"
    )
    return [{"id": row[0]} for row in connection.execute(sql, [tenant]).fetchall()]


def held(connection: "psycopg.Connection[Any]", tenant: str) -> list[tuple[str, str]]:
    """Products of a tenant that have no lots, each with a place where there is plenty of it: two thousand at most."""
    sql = (
        "SELECT v.product_id::text, v.location_id::text FROM suppliers_stocklevel v JOIN suppliers_product p"
        " ON p.tenant_id = v.tenant_id AND p.id = v.product_id WHERE v.tenant_id = %s AND p.tracking = 'none'"
        " AND v.lot_id IS NULL AND v.on_hand BETWEEN 5000 AND 100000 ORDER BY v.id LIMIT 2000"
    )
    return [(str(product), str(location)) for product, location in connection.execute(sql, [tenant]).fetchall()]


def lots(connection: "psycopg.Connection[Any]", tenant: str, product: dict[str, Any]) -> None:
    """Let a product of the large tenant lie in `LOTS` lots of its own, each at one place, beside what there is of it."""
    given = {"tenant": tenant, "product": product["id"], "lots": LOTS}
    if connection.execute(_LOTTED, given).fetchone():
        return
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        for sql in _MORE_LOTS:
            connection.execute(sql, given)
        movement_rows.recount(connection, tenant)
    settle(connection)


def prepare(connection: "psycopg.Connection[Any]", tenant: str, hot: dict[str, Any], movements: int) -> int:
    """Let the hot product have plenty of stock and no share limit, end what it was reserved before, and let there be so many
    movements; return how many there are.
    """
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        given = {"tenant": tenant, "hot": hot["id"]}
        connection.execute(_FREED, given)
        connection.execute(_PLENTY, given)
        connection.execute(_SHARE, given)
    present = movement_rows.present(connection, tenant)
    if present < movements:
        seconds = movement_rows.move(connection, tenant, movements)
        present = movement_rows.present(connection, tenant)
        print(f"{movements:,} movements made in {seconds:.0f} s", flush=True)
    return present


def settle(connection: "psycopg.Connection[Any]") -> None:
    """Do what autovacuum does some time after."""
    for table in TABLES:
        connection.execute(f"VACUUM (ANALYZE) {table}")
