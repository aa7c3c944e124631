"""SQL that the representations of both parties share: states of lines, unit prices, timelines, pages of items."""

from typing import Final

from api.representation_sql import INSTANT
from core.conditions import TENANT

EMBEDDED: Final = 100  # lines and entries that one document shows
_NOBODY: Final = "00000000-0000-0000-0000-000000000000"
# As many decimals as needed, at least two.
UNIT_PRICE: Final = "(CASE WHEN scale(trim_scale({0})) < 2 THEN round({0}, 2) ELSE trim_scale({0}) END)::text"
# The amount of what is not cancelled, of an amount, what is ordered, what is cancelled, and the decimals of the currency.
KEPT: Final = "round({0} * ({1} - {2}) / greatest({1}, 1), {3})::text"
# Of a line `t`; a line of an order that was rejected or cancelled is cancelled wholly.
LINE_STATUS: Final = (
    "CASE WHEN t.cancelled = t.ordered THEN 'cancelled'"
    " WHEN t.received > 0 AND t.received + t.rejected + t.short >= t.shipped AND t.shipped >= t.accepted THEN 'received'"
    " WHEN t.shipped > 0 AND t.shipped - t.rejected - t.short >= t.accepted THEN 'shipped'"
    " WHEN t.shipped > 0 THEN 'partially_shipped' WHEN t.backordered > 0 THEN 'backordered'"
    " WHEN t.accepted > 0 AND t.accepted + t.cancelled = t.ordered THEN 'accepted' ELSE 'open' END"
)


def timeline_total_sql(key: str) -> str:
    """Write the SQL of the number of all facts of the reader's own ledger about the document whose id is given as SQL."""
    return f"SELECT count(*) FROM ledger_event f WHERE f.tenant_id = {TENANT} AND f.resource_id = {key}"


def timeline_sql(key: str, *, revisions: bool = True) -> str:
    """Write the SQL of the newest facts of the reader's own ledger about the document whose id is given as SQL.

    Who acted is told of the reader's own side alone; the other side's facts have the platform as their subject. Without
    `revisions`, of a document that has none.
    """
    revision = " (f.data ->> 'revision')::int AS revision," if revisions else ""
    mine = f"f.subject_id <> '{_NOBODY}'::uuid"
    return (
        "SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM (SELECT"
        f" {INSTANT.format('f.occurred_at')} AS at, f.data ->> 'by' AS by, split_part(f.type, '.', 2) AS action,"
        f"{revision} f.data ->> 'was' AS \"from\", f.data ->> 'status' AS \"to\","
        " nullif(f.figures ->> 'reason', '') AS reason,"
        f" CASE WHEN {mine} THEN f.subject_id END AS actor_id, CASE WHEN {mine} THEN f.credential END AS credential"
        f" FROM ledger_event f WHERE f.tenant_id = {TENANT} AND f.resource_id = {key}"
        f" ORDER BY f.occurred_at DESC, f.id DESC LIMIT {EMBEDDED}) r"
    )


def allocated_sql(line: str) -> str:
    """Write the base units that the reader, a supplier, holds for a line of an order, whose id is given as SQL."""
    return (
        "coalesce((SELECT sum(v.base_quantity) FROM suppliers_reservation v"
        f" WHERE v.tenant_id = {TENANT} AND v.purchase_order_line_id = {line} AND v.status = 'active'), 0)::bigint"
    )


def received_lines_sql(where: str) -> str:
    """Write the SQL of lines of a received order `t`, with what is allocated and the trace; `where` is over the number `e.number`."""
    key = "(e.line ->> 'id')"
    return (
        f"SELECT coalesce(json_agg(e.line || jsonb_build_object('allocated', {allocated_sql(f'{key}::uuid')},"
        f" 'trace', coalesce(p.traces -> {key}, '[]'::jsonb)) ORDER BY e.number), '[]')"
        " FROM jsonb_array_elements(t.lines) WITH ORDINALITY AS e(line, number)"
        f" LEFT JOIN suppliers_pricetrace p ON p.tenant_id = {TENANT} AND p.id = t.id WHERE {where}"
    )


# What an order shows of its shipments; the tables belong to the room of deliveries. Drafts are the supplier's alone.
_DRAFTS: Final = f"FROM suppliers_shipmentdraft d WHERE d.tenant_id = {TENANT} AND d.order_id = t.id"
_OWN_DELIVERIES: Final = f"FROM suppliers_delivery d WHERE d.tenant_id = {TENANT} AND d.order_id = t.id"
_DELIVERY_COPIES: Final = f"FROM suppliers_receiveddelivery d WHERE d.tenant_id = {TENANT} AND d.order_id = t.id"


def _listed(columns: str, source: str, order: str) -> str:
    return (
        f"SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM (SELECT {columns} {source}"
        f" ORDER BY {order}, d.id LIMIT {EMBEDDED}) r"
    )


SHIPMENTS_SQL: Final = _listed(
    "d.id, d.status, d.from_location_id, nullif(d.carrier, '') AS carrier,"
    " nullif(d.tracking_number, '') AS tracking_number, d.file_ids, d.lines_total,"
    " (SELECT coalesce(json_agg(json_build_object('line_no', e.line -> 'line_no', 'order_line_id', e.line -> 'order_line_id',"
    " 'unit', e.line -> 'unit', 'base_quantity', e.line -> 'base_quantity', 'lot_number', e.line -> 'lot_number',"
    " 'serial_numbers', e.line -> 'serial_numbers') ORDER BY e.number), '[]')"
    f" FROM jsonb_array_elements(d.lines) WITH ORDINALITY AS e(line, number) WHERE e.number <= {EMBEDDED}) AS lines,"
    f" {INSTANT.format('d.created_at')} AS created_at, d.version",
    _DRAFTS,
    "d.created_at",
)
SHIPMENTS_TOTAL_SQL: Final = f"SELECT count(*) {_DRAFTS}"
_TAG: Final = "(SELECT left(md5(string_agg(x.id::text || x.version, ',' ORDER BY x.id)), 12) FROM ({}) x)"
_SELECT: Final = "SELECT d.id, d.version "
# Shipments and deliveries move the order's ETag, not its version; null without any.
SHIPMENTS_TAG_SQL: Final = _TAG.format(f"{_SELECT}{_DRAFTS} UNION ALL {_SELECT}{_DELIVERY_COPIES}")
DELIVERIES_TAG_SQL: Final = _TAG.format(f"{_SELECT}{_OWN_DELIVERIES}")
DELIVERIES_SQL: Final = _listed(
    "d.id, d.number AS delivery_number, d.status, nullif(d.carrier, '') AS carrier,"
    f" nullif(d.tracking_number, '') AS tracking_number, {INSTANT.format('d.shipped_at')} AS shipped_at,"
    f" {INSTANT.format('d.estimated_at')} AS estimated_at, {INSTANT.format('d.delivered_at')} AS delivered_at, d.lines_total",
    _OWN_DELIVERIES,
    "d.shipped_at DESC",
)
DELIVERIES_TOTAL_SQL: Final = f"SELECT count(*) {_OWN_DELIVERIES}"
RECEIVED_DELIVERIES_SQL: Final = _listed(
    "d.id, d.number AS delivery_number, d.status, d.representation ->> 'carrier' AS carrier,"
    f" nullif(d.tracking_number, '') AS tracking_number, {INSTANT.format('d.shipped_at')} AS shipped_at,"
    " d.representation ->> 'estimated_at' AS estimated_at, d.representation ->> 'delivered_at' AS delivered_at,"
    " (d.representation ->> 'lines_total')::int AS lines_total",
    _DELIVERY_COPIES,
    "d.shipped_at DESC",
)
RECEIVED_DELIVERIES_TOTAL_SQL: Final = f"SELECT count(*) {_DELIVERY_COPIES}"
