"""The rows of `./dev bench invoice` beside those of `./dev bench order`: an invoice of every old order that is closed, paid.

They are written by the administrator of the server, set by set and without triggers, as the actions would have left them, but for
what lines of orders count as invoiced. The copies of invoices are computed by the statement of the service itself.
"""

import time
from typing import Any, Final

import psycopg

TABLES: Final = (
    "suppliers_invoice", "suppliers_invoiceline", "suppliers_receivedinvoice", "suppliers_documentnumber",
    "suppliers_purchaseorder",
)  # fmt: skip
_STAGE: Final = """
CREATE UNLOGGED TABLE bench_invoice AS
SELECT o.id AS order_id, o.tenant_id, uuidv7(o.updated_at - now()) AS id, o.updated_at AS at, 'INV-' || o.order_number AS number
FROM suppliers_purchaseorder o WHERE o.status = 'closed' AND o.external_reference LIKE 'REQ-%'
"""
_ROWS: Final = (
    """INSERT INTO suppliers_invoice (id, tenant_id, created_at, updated_at, version, number, supplier_tenant_id, type, order_id,
  po_number, order_number, delivery_location_id, delivery_ids, status, issue_date, due_date, currency, charges, allowances, file_ids,
  net_total, tax_total, gross_total, taxes, lines_total, paid_total, issued_at, match_status, match_checked_at, dispute_reason,
  dispute_note, approved_at, approved_by_id, override_reason, reason, paid_at, shared_version)
SELECT b.id, o.tenant_id, b.at, b.at, 4, b.number, o.supplier_tenant_id, 'invoice', o.id, o.number, o.order_number,
  o.delivery_location_id, '[]', 'paid', b.at::date, b.at::date + 30, o.currency, '[]', '[]', '[]', o.net, o.tax, o.gross,
  jsonb_build_array(jsonb_build_object('tax_category', 'S', 'tax_rate', '19', 'net', o.net::text, 'tax', o.tax::text)), o.lines_total, o.gross, b.at, 'matched', b.at, '', '', b.at,
  o.tenant_id, '', '', b.at, 4
FROM bench_invoice b JOIN suppliers_purchaseorder o ON o.tenant_id = b.tenant_id AND o.id = b.order_id""",
    """INSERT INTO suppliers_invoiceline (id, tenant_id, created_at, updated_at, version, invoice_id, line_no, order_line_id,
  order_line_no, product_id, packaging_id, name, supplier_sku, gtin, category, is_service, base_unit, units_per_pack, unit,
  base_quantity, currency, unit_price, price_base_quantity, net, tax_category, tax_rate, frees, result, quantity_variance,
  price_variance)
SELECT uuidv7(), l.tenant_id, b.at, b.at, 1, b.id, l.line_no, l.id, l.line_no, l.product_id, l.packaging_id, l.name, l.supplier_sku,
  l.gtin, l.category, false, l.base_unit, l.units_per_pack, l.unit, l.ordered, l.currency, l.unit_price, 1, l.net, l.tax_category,
  l.tax_rate, true, 'ok', 0, 0
FROM bench_invoice b JOIN suppliers_purchaseorderline l ON l.tenant_id = b.tenant_id AND l.order_id = b.order_id""",
    """INSERT INTO suppliers_documentnumber (tenant_id, kind, number, sequence, document_id)
SELECT i.supplier_tenant_id, 'invoice', i.number, row_number() OVER (PARTITION BY i.supplier_tenant_id ORDER BY i.id), i.id
FROM bench_invoice b JOIN suppliers_invoice i ON i.tenant_id = b.tenant_id AND i.id = b.id""",
)


def fill(connection: "psycopg.Connection[Any]", world: dict[str, Any]) -> float:
    """Let old orders be invoiced and paid; return the seconds it took, 0 if they are."""
    started = time.monotonic()
    if connection.execute("SELECT 1 FROM suppliers_invoice LIMIT 1").fetchone():
        return 0.0
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("SET LOCAL work_mem = '256MB'")
        connection.execute("DROP TABLE IF EXISTS bench_invoice")
        for sql in (_STAGE, *_ROWS, world["copying_invoices"]):
            connection.execute(sql)
        connection.execute("DROP TABLE bench_invoice")
    for table in TABLES:
        connection.execute(f"VACUUM (ANALYZE) {table}")
    return time.monotonic() - started
