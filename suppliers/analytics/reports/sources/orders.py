"""The report of orders: a row for each line, from the supplier's own copies.

A copy that has changed since the time of the report is undone: its state is that of the newest fact before, what was ordered
and cancelled is the sum of the roll-ups that were written until then. What has left comes from the deliveries that were told of until then.
"""

from typing import Final

from .base import AS_OF, Column, Source, among, amount, between, equals, given, instant, number, text

_STATUS: Final = (
    f"CASE WHEN t.updated_at <= {AS_OF} THEN t.status ELSE coalesce((SELECT f.data ->> 'status' FROM ledger_event f"
    f" WHERE f.tenant_id = $1 AND f.resource_id = t.id AND f.type LIKE 'order.%' AND f.occurred_at <= {AS_OF}"
    " ORDER BY f.occurred_at DESC, f.id DESC LIMIT 1), t.status) END"
)
# Ids of roll-ups tell when they were written; one of an order that is older than the roll-ups has none.
_UNTIL: Final = given("boundary", "uuid")
_ROLLED: Final = (
    f"t.updated_at > {AS_OF} AND EXISTS (SELECT 1 FROM suppliers_rollup k WHERE k.tenant_id = $1"
    f" AND k.document_id = t.id AND k.id <= {_UNTIL})"
)
_PAGE: Final = (
    f"SELECT t.id::text AS key, t.id, t.owner_tenant_id, t.number, t.po_number, {_STATUS} AS status, t.received_at,"
    f" {_ROLLED} AS rolled, t.representation, t.lines FROM suppliers_receivedorder t WHERE t.tenant_id = $1"
    f" AND t.id > $3::uuid AND t.received_at <= {AS_OF} AND {between('t.received_at')}"
    f" AND {equals('t.owner_tenant_id', 'buyer_id', 'uuid')} AND ({given('product_id')} IS NULL OR EXISTS ("
    "SELECT 1 FROM suppliers_receivedorderline i WHERE i.tenant_id = $1 AND i.document_id = t.id"
    f" AND i.product_id = {given('product_id', 'uuid')})) ORDER BY t.id LIMIT $4::bigint"
)
_PRODUCT: Final = "e.line ->> 'product_id'"
_ROWS: Final = (
    "page p CROSS JOIN LATERAL jsonb_array_elements(p.lines) AS e(line)"
    " LEFT JOIN organizations_tenant o ON o.id = p.owner_tenant_id"
    " LEFT JOIN LATERAL (SELECT sum(k.entries) AS entries, sum(k.quantity)::bigint AS ordered, sum(k.base)::bigint AS cancelled,"
    " sum(k.net) AS net FROM suppliers_rollup k WHERE p.rolled AND k.tenant_id = $1 AND k.document_id = p.id"
    f" AND k.kind = 'ordered' AND k.line_no = (e.line ->> 'line_no')::int AND k.id <= {_UNTIL}) s ON true"
    f" WHERE (NOT p.rolled OR s.entries > 0) AND {among('p.status', 'status')}"
    f" AND {equals(_PRODUCT, 'product_id')}"
)


def _was(rolled: str, now: str) -> str:
    return f"CASE WHEN p.rolled THEN {rolled} ELSE {now} END"


def _line(member: str, cast: str = "") -> str:
    return f"(e.line ->> '{member}'){f'::{cast}' if cast else ''}"


_ACCEPTED: Final = "(p.representation ->> 'accepted_at')::timestamptz"
_SHIPPED: Final = (
    "(SELECT coalesce(sum((f.line ->> 'base_quantity')::bigint), 0)::bigint FROM suppliers_receiveddelivery d"
    " CROSS JOIN LATERAL jsonb_array_elements(d.lines) AS f(line) WHERE d.tenant_id = $1 AND d.order_id = p.id"
    f" AND d.received_at <= {AS_OF} AND f.line ->> 'order_line_id' = e.line ->> 'id')"
)
_TOTAL: Final = _line("line_total", "numeric")

ORDERS: Final = Source(
    columns=(
        Column("order_id", "p.id"),
        text("order_number", "p.number"),
        text("po_number", "p.po_number"),
        Column("status", "p.status"),
        Column("buyer_id", "p.owner_tenant_id"),
        text("buyer", "o.name"),
        instant("sent_at", "p.received_at"),
        instant("accepted_at", f"CASE WHEN {_ACCEPTED} <= {AS_OF} THEN {_ACCEPTED} END"),
        number("line_no", _line("line_no", "int")),
        Column("product_id", _line("product_id")),
        text("supplier_sku", "e.line -> 'snapshot' ->> 'supplier_sku'"),
        text("name", "e.line -> 'snapshot' ->> 'name'"),
        text("category", "e.line -> 'snapshot' ->> 'category'"),
        text("base_unit", _line("base_unit")),
        number("ordered", _was("s.ordered", _line("ordered", "bigint"))),
        number("cancelled", _was("s.cancelled", _line("cancelled", "bigint"))),
        number("shipped", _SHIPPED),
        Column("currency", "p.representation ->> 'currency'"),
        amount("net", f"({_was(f'round(s.net, scale({_TOTAL}))', _TOTAL)})::text"),
    ),
    page=_PAGE,
    order="p.id",
    rows=_ROWS,
    row_order="p.id, (e.line ->> 'line_no')::int",
    keys=500,
)
