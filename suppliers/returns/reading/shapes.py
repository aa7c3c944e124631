"""What a tenant has of returns, as one table: its own as buyer, its copies as supplier.

Every row has the columns of a return; `side` is the tenant's own side, `location_id` the place where the supplier has received the
goods, which it alone reads. Lists of lines are built only where they are asked for.
"""

from collections.abc import Mapping
from typing import Final

from api.shapes import Selection
from api.unions import union_of
from core.conditions import TENANT
from suppliers.orders.shapes import EMBEDDED
from suppliers.returns.models import Return
from suppliers.returns.representations import ReturnLineOut

_SHARED: Final = (
    "id", "tenant_id", "number", "status", "version", "updated_at", "po_number", "order_number", "order_id", "delivery_id",
    "delivery_number", "type",
)  # fmt: skip
_COPIED: Final = {
    "requested_at": "timestamptz", "shipped_at": "timestamptz", "received_at": "timestamptz", "completed_at": "timestamptz",
    "cancelled_at": "timestamptz", "credit_note_id": "uuid", "replacement_order_id": "uuid", "lines_total": "int",
    "resolution": "text", "currency": "text",
}  # fmt: skip
_TEXTS: Final = ("note", "carrier", "tracking_number")
_DECIDED: Final = {"decided_at": "timestamptz", "valid_until": "timestamptz"}
_WHY: Final = ("instructions", "decline_reason")


def _member(name: str, kind: str, of: str = "c.representation") -> str:
    return f"({of} ->> '{name}')::{kind}"


_AUTHORIZATION: Final = "c.representation -> 'authorization'"
_LINES: Final = (
    f"(SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]') FROM (SELECT s.* FROM {ReturnLineOut.shape.table} t"
    f" CROSS JOIN LATERAL (SELECT {ReturnLineOut.shape.select(Selection())}) s WHERE t.tenant_id = {TENANT}"
    f" AND t.document_id = {{}} ORDER BY t.line_no) r)"
)
_FIRST: Final = (
    "(SELECT coalesce(jsonb_agg(e.line ORDER BY e.number), '[]') FROM jsonb_array_elements(c.lines) WITH ORDINALITY"
    f" AS e(line, number) WHERE e.number <= {EMBEDDED})"
)
# By column, the SQL of an own return `a`, and of a copy `c`; the place is the supplier's alone.
_NAMED: Final = {
    "side": ("'buyer'", "'supplier'"),
    "supplier_tenant_id": ("a.supplier_tenant_id", "c.tenant_id"),
    "buyer_tenant_id": ("a.tenant_id", "c.owner_tenant_id"),
    "created_at": ("a.created_at", "c.received_at"),
    "delivery_location_id": ("a.delivery_location_id", "NULL::uuid"),
    "location_id": (
        "NULL::uuid", f"(SELECT p.location_id FROM suppliers_returnprivate p WHERE p.tenant_id = {TENANT} AND p.id = c.id)",
    ),
    "file_ids": ("a.file_ids", "c.representation -> 'file_ids'"),
    "lines": (
        _LINES.format(f"a.id AND t.line_no <= {EMBEDDED}"),
        _FIRST,
    ),
}  # fmt: skip


def _columns() -> Mapping[str, tuple[str, str]]:
    """Return each column's SQL, of an own return, of a copy."""
    found = {name: (f"a.{name}", f"c.{name}") for name in _SHARED}
    found |= {name: (f"a.{name}", _member(name, kind)) for name, kind in _COPIED.items()}
    found |= {name: (f"a.{name}", f"coalesce({_member(name, 'text')}, '')") for name in _TEXTS}
    found |= {name: (f"a.{name}", _member(name, kind, _AUTHORIZATION)) for name, kind in _DECIDED.items()}
    found |= {name: (f"a.{name}", f"coalesce({_member(name, 'text', _AUTHORIZATION)}, '')") for name in _WHY}
    return found | _NAMED


_TABLES: Final = ("suppliers_return a", "suppliers_receivedreturn c")
ROWS: Final = union_of(Return, _columns(), _TABLES, texts=("side",))


def page_sql(first: str, limit: str) -> str:
    """Write the SQL of a page of lines of the return $2, as JSON by their numbers; the arguments are SQL."""
    own = _LINES.format(f"$2 AND t.line_no >= {first} AND t.line_no < {first} + {limit}")
    copied = (
        "SELECT coalesce(jsonb_agg(e.line ORDER BY e.number), '[]') FROM suppliers_receivedreturn c"
        " CROSS JOIN LATERAL jsonb_array_elements(c.lines) WITH ORDINALITY AS e(line, number)"
        f" WHERE c.tenant_id = {TENANT} AND c.id = $2 AND e.number >= {first} AND e.number < {first} + {limit}"
    )
    return f"SELECT ({own} || ({copied}))::text"
