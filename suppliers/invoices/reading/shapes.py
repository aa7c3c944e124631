"""What a tenant has of invoices, as one table: its own as buyer, and its copies as supplier.

Every row has the columns of an invoice; `side` is the tenant's own side, `location_id` the place that decides who of a buyer's
members sees the row. What a copy shows stands in its JSON.
"""

from collections.abc import Mapping
from typing import Final

from api.shapes import Selection
from api.unions import union_of
from core.conditions import TENANT, Condition
from suppliers.inventory.queries import WITHIN
from suppliers.invoices.models import Invoice
from suppliers.invoices.representations import AMOUNTS, InvoiceLineOut
from suppliers.orders.shapes import EMBEDDED

_SHARED: Final = (
    "id",
    "tenant_id",
    "number",
    "status",
    "version",
    "updated_at",
    "order_id",
    "type",
    "order_number",
    "po_number",
    "issue_date",
)
_COPIED: Final = {
    "due_date": "date", "currency": "text", "charges": "jsonb", "allowances": "jsonb", "discount": "jsonb",
    "delivery_ids": "jsonb", "file_ids": "jsonb", "stated_totals": "jsonb", "taxes": "jsonb", "return_id": "uuid",
    "issued_at": "timestamptz", "match_status": "text", "match_checked_at": "timestamptz", "dispute_reason": "text",
    "dispute_note": "text", "disputed_at": "timestamptz", "approved_at": "timestamptz", "reason": "text",
    "ended_at": "timestamptz", "paid_at": "timestamptz", "lines_total": "int",
} | dict.fromkeys(AMOUNTS, "numeric")  # fmt: skip
_BLANK: Final = ("match_status", "dispute_reason", "dispute_note", "reason")


def _member(name: str, kind: str) -> str:
    if kind == "jsonb":
        return f"nullif(c.representation -> '{name}', 'null'::jsonb)"
    found = f"(c.representation ->> '{name}')::{kind}"
    return f"coalesce({found}, '')" if name in _BLANK else found


def _own_lines(first: str, limit: str, key: str) -> str:
    shape = InvoiceLineOut.shape
    return (
        f"(SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]') FROM (SELECT s.* FROM {shape.table} t"
        f" CROSS JOIN LATERAL (SELECT {shape.select(Selection())}) s WHERE t.tenant_id = {TENANT} AND t.invoice_id = {key}"
        f" AND t.line_no >= {first} AND t.line_no < {first} + {limit} ORDER BY t.line_no) r)"
    )


def page_sql(first: str, limit: str) -> str:
    """Write the SQL of a page of lines of an invoice $2, as JSON by their numbers; the arguments are SQL."""
    copied = (
        "SELECT coalesce(jsonb_agg(e.line ORDER BY e.number), '[]') FROM suppliers_receivedinvoice c"
        " CROSS JOIN LATERAL jsonb_array_elements(c.lines) WITH ORDINALITY AS e(line, number)"
        f" WHERE c.tenant_id = {TENANT} AND c.id = $2 AND e.number >= {first} AND e.number < {first} + {limit}"
    )
    return f"SELECT ({_own_lines(first, limit, '$2')} || ({copied}))::text"


_FIRST: Final = (
    "(SELECT coalesce(jsonb_agg(e.line ORDER BY e.number), '[]') FROM jsonb_array_elements(c.lines)"
    f" WITH ORDINALITY AS e(line, number) WHERE e.number <= {EMBEDDED})"
)
_MATCHED: Final = (
    "(SELECT coalesce(jsonb_agg(jsonb_build_object('line_no', l.line_no, 'result', nullif(l.result, ''),"
    " 'quantity_variance', l.quantity_variance, 'price_variance', trim_scale(l.price_variance)::text) ORDER BY l.line_no), '[]')"
    f" FROM suppliers_invoiceline l WHERE l.tenant_id = {TENANT} AND l.invoice_id = a.id)"
)
_RESULTS: Final = (
    "(SELECT coalesce(jsonb_agg(jsonb_build_object('line_no', e.line -> 'line_no', 'result', e.line -> 'result')"
    " ORDER BY e.number), '[]') FROM jsonb_array_elements(c.lines) WITH ORDINALITY AS e(line, number))"
)
_NAMED: Final = {
    "side": ("'buyer'", "'supplier'"),
    "supplier_tenant_id": ("a.supplier_tenant_id", "c.tenant_id"),
    "buyer_tenant_id": ("a.tenant_id", "c.owner_tenant_id"),
    "location_id": ("a.delivery_location_id", "NULL::uuid"),
    "original_id": ("a.original_id", "(c.representation ->> 'original_invoice_id')::uuid"),
    "is_overridden": ("a.override_reason <> ''", "(c.representation ->> 'is_overridden')::boolean"),
    "override_reason": ("a.override_reason", "''"),
    "approved_by_id": ("a.approved_by_id", "NULL::uuid"),
    "recorded_by_id": ("a.recorded_by_id", "NULL::uuid"),
    "created_at": ("a.created_at", "c.received_at"),
    "match_lines": (_MATCHED, _RESULTS),
    "lines": (_own_lines("1", str(EMBEDDED), "a.id"), _FIRST),
}  # fmt: skip


def _columns() -> Mapping[str, tuple[str, str]]:
    found = {name: (f"a.{name}", f"c.{name}") for name in _SHARED}
    found |= {name: (f"a.{name}", _member(name, kind)) for name, kind in _COPIED.items()}
    return found | _NAMED


_TABLES: Final = ("suppliers_invoice a", "suppliers_receivedinvoice c")
ROWS: Final = union_of(Invoice, _columns(), _TABLES, texts=("side",))
# A buyer's member that is limited to places sees what was ordered for there or below; a supplier's members see all.
SEEN: Final = Condition(f"(t.side = 'supplier' OR {WITHIN.sql})")
