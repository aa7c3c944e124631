"""SQL that the representations of both parties share: states of lines, unit prices, timelines, pages of items."""

from typing import Final

from api.representation_sql import INSTANT
from core.conditions import TENANT
from core.money import minor_units_sql
from organizations.public import reach

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


# What an order shows of its shipments; the tables belong to the room of deliveries. Drafts are the supplier's alone. Its
# members who are limited to places see the order, and of its shipments those from there. Source: contract, supply.md 3.5.
_FROM: Final = reach("from_location_id", below=True)
_DRAFTS: Final = (
    f"FROM suppliers_shipmentdraft d WHERE d.tenant_id = {TENANT} AND d.order_id = t.id AND {_FROM.over('d').sql}"
)
_OWN_INVOICES: Final = f"FROM suppliers_invoice d WHERE d.tenant_id = {TENANT} AND d.order_id = t.id"
_INVOICE_COPIES: Final = f"FROM suppliers_receivedinvoice d WHERE d.tenant_id = {TENANT} AND d.order_id = t.id"
_OWN_DELIVERIES: Final = f"FROM suppliers_delivery d WHERE d.tenant_id = {TENANT} AND d.order_id = t.id"
_DELIVERY_COPIES: Final = (
    f"FROM suppliers_receiveddelivery d WHERE d.tenant_id = {TENANT} AND d.order_id = t.id AND ({_FROM.whole} OR EXISTS"
    f" (SELECT 1 FROM suppliers_shipmentprivate p WHERE p.tenant_id = {TENANT} AND p.id = d.id AND {_FROM.over('p').sql}))"
)


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
_ALLOCATED: Final = (
    f"FROM suppliers_reservation d WHERE d.tenant_id = {TENANT} AND d.status = 'active' AND d.purchase_order_line_id = ANY(ARRAY("
    "SELECT (e.line ->> 'id')::uuid FROM jsonb_array_elements(t.lines) WITH ORDINALITY AS e(line, number)"
    f" WHERE e.number <= {EMBEDDED}))"
)
# Shipments, deliveries and invoices move the order's ETag, not its version, and so does stock that the supplier allocates to
# the lines shown; null without any.
RECEIVED_TAG_SQL: Final = _TAG.format(
    " UNION ALL ".join(f"{_SELECT}{one}" for one in (_DRAFTS, _DELIVERY_COPIES, _INVOICE_COPIES, _ALLOCATED))
)
OWN_TAG_SQL: Final = _TAG.format(f"{_SELECT}{_OWN_DELIVERIES} UNION ALL {_SELECT}{_OWN_INVOICES}")
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
# What it shows of its invoices and credit notes; a credit note owes nothing itself.
_IS_NOTE: Final = "d.type = 'credit_note'"
_DUE: Final = f"CASE WHEN {_IS_NOTE} THEN 0 ELSE d.gross_total - d.credited_total - d.paid_total + d.offset_total END"


def _amount(expression: str) -> str:
    return f"round({expression}, {minor_units_sql('d.currency')})::text"


def _told(name: str) -> str:
    return f"(d.representation ->> '{name}')"


_GROSS: Final = f"{_told('gross_total')}::numeric"
# The amounts of a copy have the decimals of its currency, and so has what they come to.
_LEFT: Final = (
    f"{_GROSS} - {_told('credited_total')}::numeric - {_told('paid_total')}::numeric + {_told('offset_total')}::numeric"
)
INVOICES_SQL: Final = _listed(
    "d.id, d.number AS invoice_number, d.type, d.status, d.issue_date, d.due_date, d.original_id AS original_invoice_id,"
    f" d.currency, {_amount('d.gross_total')} AS gross_total, {_amount(_DUE)} AS balance_due",
    _OWN_INVOICES,
    "d.issued_at DESC",
)
INVOICES_TOTAL_SQL: Final = f"SELECT count(*) {_OWN_INVOICES}"
RECEIVED_INVOICES_SQL: Final = _listed(
    f"d.id, d.number AS invoice_number, d.type, d.status, d.issue_date, {_told('due_date')} AS due_date,"
    f" {_told('original_invoice_id')} AS original_invoice_id, {_told('currency')} AS currency,"
    f" {_told('gross_total')} AS gross_total,"
    f" (CASE WHEN {_IS_NOTE} THEN {_GROSS} - {_GROSS} ELSE {_LEFT} END)::text AS balance_due",
    _INVOICE_COPIES,
    f"{_told('issued_at')} DESC",
)
RECEIVED_INVOICES_TOTAL_SQL: Final = f"SELECT count(*) {_INVOICE_COPIES}"
