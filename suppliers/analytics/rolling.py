"""Roll-ups follow facts: inside the transaction that records them, what a document adds is compared with what was kept.

The difference is a further row, so a correction rewrites nothing, and doing it twice adds nothing. Only the supplier's own
rows are read: its copies of orders, deliveries and receipts, and its offers.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.keyed import keyed
from core.money import minor_units_sql
from core.pipeline import Call, Statement
from ledger.public import Fact

_DIMENSIONS: Final = (
    "kind, bucket, due_date, document_id, line_no, product_id, category, buyer_id, location_id, currency, whole_at"
)
_SUMS: Final = ("entries", "quantity", "base", "net", "list_net")
QUARTER: Final = "date_bin('15 minutes', {}, '2000-01-01 00:00:00+00')"
# Deliveries by which a line of an order `e` of the copy `t` came, and when it was there whole.
_WHOLE_AT: Final = """
(SELECT min(w.at) FROM (
  SELECT g.at, sum(g.units) OVER (ORDER BY g.at) AS units FROM (
    SELECT coalesce((d.representation ->> 'delivered_at')::timestamptz, (
        SELECT min((x.representation ->> 'received_at')::timestamptz) FROM suppliers_receivedreceipt x
        WHERE x.tenant_id = $1 AND x.delivery_id = d.id)) AS at,
      (f ->> 'base_quantity')::bigint - (f ->> 'rejected')::bigint - (f ->> 'short')::bigint AS units
    FROM suppliers_receiveddelivery d CROSS JOIN LATERAL jsonb_array_elements(d.lines) AS f
    WHERE d.tenant_id = $1 AND d.order_id = t.id AND f ->> 'order_line_id' = e ->> 'id') g
  WHERE g.at IS NOT NULL) w
WHERE w.units >= (e ->> 'ordered')::bigint - (e ->> 'cancelled')::bigint)
"""
_LINE: Final = (
    "t.id AS document_id, (e ->> 'line_no')::int AS line_no, (e ->> 'product_id')::uuid AS product_id,"
    " coalesce(e -> 'snapshot' ->> 'category', '') AS category, t.owner_tenant_id AS buyer_id, NULL::uuid AS location_id,"
    " t.representation ->> 'currency' AS currency"
)
# PostgreSQL would count the ids of an array that it sees, and plan each execution for as many.
_NAMED: Final = "SELECT unnest((SELECT $2::uuid[]))"
_ORDER: Final = keyed("suppliers_receivedorder", _NAMED, alias="t")
_DELIVERY: Final = keyed("suppliers_receiveddelivery", _NAMED, alias="d")
_LINES: Final = f"FROM {_ORDER} CROSS JOIN LATERAL jsonb_array_elements(t.lines) AS e WHERE t.tenant_id = $1"
_SENT: Final = QUARTER.format("t.received_at")
_DUE: Final = (
    "coalesce(e ->> 'promised_date', e ->> 'requested_date', t.representation ->> 'requested_delivery_date')::date"
)
# The net of each line, so that their sum is that of the order in the lists. What is cancelled of a line is not in its
# total; an order that is cancelled as a whole keeps its net, to which each line then adds what it was to cost.
_PLACES: Final = minor_units_sql("(t.representation ->> 'currency')")
_FULL: Final = (
    "round((f.value -> 'snapshot' ->> 'unit_price')::numeric * (f.value ->> 'ordered')::numeric"
    " / ((f.value -> 'snapshot' ->> 'price_base_quantity')::numeric * (f.value -> 'snapshot' ->> 'units_per_pack')::numeric),"
    f" {_PLACES})"
)
_NET_LINES: Final = f"""
FROM {_ORDER} CROSS JOIN LATERAL (
  SELECT y.e, y.net + CASE WHEN y.place = 1 THEN coalesce((t.representation -> 'totals' ->> 'net')::numeric - sum(y.net) OVER (), 0)
    ELSE 0 END AS net
  FROM (SELECT f.value AS e, f.ordinality AS place, CASE WHEN bool_and(f.value ->> 'cancelled' = f.value ->> 'ordered') OVER ()
      THEN coalesce({_FULL}, (f.value ->> 'line_total')::numeric) ELSE (f.value ->> 'line_total')::numeric END AS net
    FROM jsonb_array_elements(t.lines) WITH ORDINALITY AS f(value, ordinality)) y) n
WHERE t.tenant_id = $1
"""
_OF_DUE: Final = f"""
SELECT 'due' AS kind, {_SENT} AS bucket, {_DUE} AS due_date, {_LINE}, {_WHOLE_AT} AS whole_at, 1 AS entries,
  (e ->> 'accepted')::bigint AS quantity, (e ->> 'shipped')::bigint AS base, 0::numeric AS net, 0::numeric AS list_net
  {_LINES} AND (e ->> 'accepted')::bigint > 0 AND {_DUE} IS NOT NULL
"""
_OF_ORDERS: Final = f"""
SELECT 'ordered' AS kind, {_SENT} AS bucket, NULL::date AS due_date, {_LINE}, NULL::timestamptz AS whole_at, 1 AS entries,
  (e ->> 'ordered')::bigint AS quantity, (e ->> 'cancelled')::bigint AS base, n.net AS net,
  0::numeric AS list_net {_NET_LINES}
UNION ALL SELECT 'listed', {_SENT}, NULL, {_LINE}, NULL, 1, 0, 0, (e ->> 'line_total')::numeric, (e ->> 'list_net')::numeric
  {_LINES} AND e ->> 'list_net' IS NOT NULL
UNION ALL SELECT 'accepted', {QUARTER.format("a.at")}, NULL, t.id, 0, NULL, '', t.owner_tenant_id, NULL,
  t.representation ->> 'currency', NULL, 1, (1000 * extract(epoch FROM a.at - date_trunc('milliseconds', t.received_at)))::bigint, 0, 0, 0
  FROM {_ORDER} CROSS JOIN LATERAL (SELECT (t.representation ->> 'accepted_at')::timestamptz AS at) a
  WHERE t.tenant_id = $1 AND a.at IS NOT NULL
UNION ALL {_OF_DUE}"""
# Goods of a line of a delivery `g.f` that are on a return and have not left their buyer yet: they may never come back.
_ASKED_BACK: Final = """
(SELECT coalesce(sum((l ->> 'base_quantity')::bigint), 0)::bigint AS units FROM suppliers_receivedreturn q
  CROSS JOIN LATERAL jsonb_array_elements(q.lines) AS l
  WHERE q.tenant_id = $1 AND q.delivery_id = d.id AND q.status IN ('requested', 'authorized')
    AND l ->> 'delivery_line_id' = g.f ->> 'id' OFFSET 0)
"""
# Receipts that stand, of lines of deliveries; the category is that of the order's line. OFFSET 0 and the order of the index: the
# receipts and the order of each delivery are found by their keys, never all of the tenant's.
_AT: Final = QUARTER.format("(x.representation ->> 'received_at')::timestamptz")
_STANDING: Final = f"""
SELECT {_AT} AS bucket, d.id AS document_id, (g.f ->> 'line_no')::int AS line_no, (g.f ->> 'product_id')::uuid AS product_id,
  coalesce(c.category, '') AS category, d.owner_tenant_id AS buyer_id, (d.representation ->> 'to_location_id')::uuid AS location_id,
  '' AS currency, NULL::timestamptz AS whole_at, (r ->> 'accepted')::bigint AS accepted,
  (r ->> 'rejected')::bigint AS rejected, (g.f ->> 'returned')::bigint - b.units AS returned,
  g.f ->> 'id' AS line_id, x.received_at, x.id AS receipt_id
FROM {_DELIVERY} CROSS JOIN LATERAL (
  SELECT x.id, x.received_at, x.representation, x.representation ->> 'reverses' IS NULL AS is_first, coalesce(array_agg(
    x.representation ->> 'reverses') FILTER (WHERE x.representation ->> 'reverses' IS NOT NULL) OVER (), '{{}}') AS reversed
  FROM suppliers_receivedreceipt x WHERE x.tenant_id = $1 AND x.delivery_id = d.id ORDER BY x.received_at, x.id OFFSET 0) x
CROSS JOIN LATERAL jsonb_array_elements(x.representation -> 'lines') AS r
CROSS JOIN LATERAL (SELECT f FROM jsonb_array_elements(d.lines) AS f WHERE f ->> 'id' = r ->> 'delivery_line_id') g
CROSS JOIN LATERAL {_ASKED_BACK} b
LEFT JOIN LATERAL (SELECT o.lines FROM suppliers_receivedorder o WHERE o.tenant_id = $1 AND o.id = d.order_id OFFSET 0) t
  ON true
LEFT JOIN LATERAL (SELECT e -> 'snapshot' ->> 'category' AS category FROM jsonb_array_elements(t.lines) AS e
  WHERE e ->> 'id' = g.f ->> 'order_line_id') c ON true
WHERE d.tenant_id = $1 AND x.is_first AND NOT x.id::text = ANY(x.reversed)
"""
_GOODS: Final = "document_id, line_no, product_id, category, buyer_id, location_id, currency, whole_at"
_OF_DELIVERIES: Final = f"""
WITH standing AS MATERIALIZED ({_STANDING})
SELECT 'received' AS kind, bucket, NULL::date AS due_date, {_GOODS}, 1 AS entries, accepted AS quantity,
  rejected AS base,
  0::numeric AS net, 0::numeric AS list_net FROM standing
UNION ALL SELECT * FROM (SELECT DISTINCT ON (document_id, line_id) 'returned', bucket, NULL::date, {_GOODS}, 1, returned, 0,
  0::numeric, 0::numeric FROM standing WHERE returned > 0 ORDER BY document_id, line_id, received_at DESC, receipt_id DESC) b
"""


def _difference(wanted: str, kinds: Sequence[str]) -> Statement:
    """Return the INSERT of what rows of these kinds lack; $1 the tenant, $2 the documents."""
    sums = ", ".join(f"sum({one})" for one in _SUMS)
    kept = ", ".join(f"-{one}" for one in _SUMS)
    return Statement.of(
        f"INSERT INTO suppliers_rollup (id, tenant_id, {_DIMENSIONS}, {', '.join(_SUMS)})"
        f" SELECT uuidv7(), $1::uuid, {_DIMENSIONS}, {sums} FROM ({wanted} UNION ALL"
        f" SELECT {_DIMENSIONS}, {kept} FROM (SELECT * FROM suppliers_rollup k WHERE k.tenant_id = $1"
        f" AND k.document_id = ANY($2::uuid[]) OFFSET 0) k"  # by the document, never by the kinds
        f" WHERE k.kind IN ({', '.join(repr(one) for one in kinds)})) z"
        f" GROUP BY {_DIMENSIONS} HAVING {' OR '.join(f'sum({one}) <> 0' for one in _SUMS)} RETURNING 1"
    )


# Of two writers that concern one document, the second sees what the first has added.
_LOCK_ORDERS, _LOCK_DELIVERIES = (
    Statement.of(f"SELECT 1 FROM {keyed(table, _NAMED, alias='t', lock='FOR NO KEY UPDATE')}")
    for table in ("suppliers_receivedorder", "suppliers_receiveddelivery")
)
_LINES_DUE = _difference(_OF_DUE, ("due",))
_ORDERS = _difference(_OF_ORDERS, ("ordered", "listed", "accepted", "due"))
_DELIVERIES = _difference(_OF_DELIVERIES, ("received", "returned"))
_OFFERS = Statement.of(
    "INSERT INTO suppliers_rollup (id, tenant_id, kind, bucket, document_id, line_no, product_id, category, currency,"
    " entries, quantity, base, net, list_net)"
    f" SELECT uuidv7(), $1::uuid, 'offered', {QUARTER.format('$3::timestamptz')}, f.id, 0, f.product_id, p.category, '',"
    f" n.change, 0, 0, 0, 0 FROM {keyed('suppliers_offer', _NAMED, alias='f')} JOIN suppliers_product p ON p.tenant_id = $1 AND p.id = f.product_id"
    " CROSS JOIN LATERAL (SELECT (f.status = 'published')::int - coalesce((SELECT sum(k.entries) FROM suppliers_rollup k"
    " WHERE k.tenant_id = $1 AND k.document_id = f.id AND k.kind = 'offered'), 0) AS change) n"
    " WHERE f.tenant_id = $1 AND n.change <> 0 RETURNING 1"
)


def orders_calls(tenant_id: UUID, keys: Sequence[str], *, only_due: bool = False) -> list[Call]:
    """Return the statements that bring the roll-ups of orders up to their copies; of `only_due`, those of the lines due alone."""
    values = [str(tenant_id), array_literal(sorted(set(keys)))]
    return [Call(_LOCK_ORDERS, values), Call(_LINES_DUE if only_due else _ORDERS, values)]


def deliveries_calls(tenant_id: UUID, keys: Sequence[str]) -> list[Call]:
    """Return the statements that bring the roll-ups of receipts and returns up to the copies of their deliveries."""
    values = [str(tenant_id), array_literal(sorted(set(keys)))]
    return [Call(_LOCK_DELIVERIES, values), Call(_DELIVERIES, values)]


def offers_calls(tenant_id: UUID, keys: Sequence[str], at: str) -> list[Call]:
    """Return the statement that counts offers that are published since, or no longer; `at` is the instant as text."""
    return [Call(_OFFERS, [str(tenant_id), array_literal(sorted(set(keys))), at])]


def follow_orders(facts: list[Fact]) -> Iterator[Call]:
    """Let the roll-ups follow facts of orders, of their lines, and of their deliveries, by which only lines due may change."""
    mine = [one for one in facts if _is_suppliers(one)]
    keys = [one.data.get("order_id") or one.data.get("purchase_order_id") or str(one.resource_id) for one in mine]
    if mine:
        only_due = all(one.type.startswith("delivery.") for one in mine)
        yield from orders_calls(mine[0].tenant_id, keys, only_due=only_due)


def follow_receipts(facts: list[Fact]) -> Iterator[Call]:
    """Let the roll-ups follow receipts and returns."""
    mine = [one for one in facts if _is_suppliers(one)]
    keys = [one.data.get("delivery_id") or str(one.resource_id) for one in mine]
    if mine:
        yield from deliveries_calls(mine[0].tenant_id, keys)


def follow_offers(facts: list[Fact]) -> Iterator[Call]:
    """Let the roll-ups follow offers that are published, hidden or ended."""
    keys = [str(one.resource_id) for one in facts]
    yield from offers_calls(facts[0].tenant_id, keys, facts[0].occurred_at.isoformat())


def _is_suppliers(fact: Fact) -> bool:
    return str(fact.data.get("supplier_id")) == str(fact.tenant_id)
