"""What a tenant has of shipments and deliveries, as one table: its drafts, its deliveries as buyer, its copies as supplier.

Every row has the columns of a delivery; `side` is the tenant's own side, `location_id` the place that decides who of its
members sees the row. What a copy shows stands in its JSON. Lists of lines are built only where they are asked for.
"""

from collections.abc import Mapping
from typing import Final

from api.shapes import Selection, Shape
from api.unions import union_of
from core.conditions import TENANT
from suppliers.deliveries.models import TEMPERATURE, Delivery
from suppliers.deliveries.receiving.representations import ReceiptOut
from suppliers.deliveries.representations import DeliveryExceptionOut, DeliveryLineOut, PackageOut
from suppliers.orders.shapes import EMBEDDED

_SHARED: Final = ("id", "tenant_id", "status", "version", "updated_at", "order_number", "order_id")
_TEXTS: Final = ("carrier", "service", "tracking_url", "tracking_number")
_COPIED: Final = {
    "estimated_at": "timestamptz", "gross_weight_g": "bigint", "lines_total": "int",
}  # fmt: skip
_OF_DELIVERIES: Final = {
    "delivered_at": "timestamptz", "completed_at": "timestamptz", "lost_at": "timestamptz", "cold_chain": "boolean",
}  # fmt: skip
_DEGREES: Final = "numeric(4,1)"
_KINDS: Final = {"logger_id": "text", "excursion_minutes": "int"}


def _member(name: str, kind: str) -> str:
    return f"(c.representation ->> '{name}')::{kind}"


def _temperature(name: str) -> str:
    found = f"(c.representation -> 'temperature' ->> '{name}')::{_KINDS.get(name, _DEGREES)}"
    return f"coalesce({found}, '')" if name == "logger_id" else found


def _listed(shape: Shape, where: str, order: str) -> str:
    """Write the SQL of rows of a shape as JSON; `where` is over its row `t`, which lies inside a row of the union."""
    return (
        f"(SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]') FROM (SELECT s.* FROM {shape.table} t"
        f" CROSS JOIN LATERAL (SELECT {shape.select(Selection())}) s WHERE t.tenant_id = {TENANT} AND {where} ORDER BY {order}) r)"
    )


def _first(lines: str) -> str:
    return (
        "(SELECT coalesce(jsonb_agg(e.line ORDER BY e.number), '[]') FROM jsonb_array_elements("
        f"{lines}) WITH ORDINALITY AS e(line, number) WHERE e.number <= {EMBEDDED})"
    )


def page_sql(first: str, limit: str) -> str:
    """Write the SQL of a page of lines of a row `t`, as JSON by their numbers; the arguments are SQL."""
    own = _listed(
        DeliveryLineOut.shape, f"t.delivery_id = $2 AND t.line_no >= {first} AND t.line_no < {first} + {limit}", "t.line_no"
    )  # fmt: skip
    copied = (
        "SELECT coalesce(jsonb_agg(e.line ORDER BY e.number), '[]') FROM suppliers_receiveddelivery c"
        " CROSS JOIN LATERAL jsonb_array_elements(c.lines) WITH ORDINALITY AS e(line, number)"
        f" WHERE c.tenant_id = {TENANT} AND c.id = $2 AND e.number >= {first} AND e.number < {first} + {limit}"
    )
    return f"SELECT ({own} || ({copied}))::text"


_COPIED_RECEIPTS: Final = (
    "(SELECT coalesce(jsonb_agg(x.representation ORDER BY x.received_at, x.id), '[]') FROM suppliers_receivedreceipt x"
    f" WHERE x.tenant_id = {TENANT} AND x.delivery_id = c.id)"
)


def _private(column: str) -> str:
    """Write the SQL of what is the supplier's alone of a copy `c`."""
    return f"(SELECT p.{column} FROM suppliers_shipmentprivate p WHERE p.tenant_id = {TENANT} AND p.id = c.id)"


# By column, the SQL of a draft `d`, of a delivery `a`, of a copy `c`.
_NAMED: Final = {
    "side": ("'supplier'", "'buyer'", "'supplier'"),
    "number": ("''", "a.number", "c.number"),
    "po_number": ("''", "a.po_number", "c.po_number"),
    "supplier_tenant_id": ("d.tenant_id", "a.supplier_tenant_id", "c.tenant_id"),
    "buyer_tenant_id": ("d.buyer_tenant_id", "a.tenant_id", "c.owner_tenant_id"),
    "shipped_at": ("NULL::timestamptz", "a.shipped_at", "c.shipped_at"),
    "created_at": ("d.created_at", "a.created_at", "c.received_at"),
    "location_id": ("d.from_location_id", "a.delivery_location_id", _private("from_location_id")),
    "from_location_id": ("d.from_location_id", "NULL::uuid", _private("from_location_id")),
    "picking_notes": ("d.picking_notes", "NULL::text", _private("picking_notes")),
    "picked": ("NULL::jsonb", "NULL::jsonb", _private("picked")),
    "delivery_location_id": ("NULL::uuid", "a.delivery_location_id", _member("to_location_id", "uuid")),
    "delivery_address": (
        "NULL::jsonb", "a.delivery_address", "nullif(c.representation -> 'to_location', 'null'::jsonb)",
    ),
}  # fmt: skip
_OF_DELIVERY: Final = "t.delivery_id = a.id"
_LISTS: Final = {
    "file_ids": ("d.file_ids", "a.file_ids", "c.representation -> 'file_ids'"),
    "packages": (
        "d.packages", _listed(PackageOut.shape, _OF_DELIVERY, "t.position"), "c.representation -> 'packages'",
    ),
    "exceptions": (
        "'[]'::jsonb", _listed(DeliveryExceptionOut.shape, _OF_DELIVERY, "t.at, t.id"), "c.representation -> 'exceptions'",
    ),
    "receipts": (
        "'[]'::jsonb", _listed(ReceiptOut.shape, _OF_DELIVERY, "t.created_at, t.id"), _COPIED_RECEIPTS,
    ),
    "lines": (
        _first("d.lines"), _listed(DeliveryLineOut.shape, f"{_OF_DELIVERY} AND t.line_no <= {EMBEDDED}", "t.line_no"),
        _first("c.lines"),
    ),
}  # fmt: skip


def _columns() -> Mapping[str, tuple[str, str, str]]:
    """Return each column's SQL, of a draft, of a delivery, of a copy."""
    found = {name: (f"d.{name}", f"a.{name}", f"c.{name}") for name in _SHARED}
    found |= {name: (f"d.{name}", f"a.{name}", f"coalesce({_member(name, 'text')}, '')") for name in _TEXTS}
    found |= {name: (f"d.{name}", f"a.{name}", _member(name, kind)) for name, kind in _COPIED.items()}
    found |= {name: (f"d.{name}", f"a.{name}", _temperature(name)) for name in TEMPERATURE}
    found |= {
        name: ("false" if kind == "boolean" else f"NULL::{kind}", f"a.{name}", _member(name, kind))
        for name, kind in _OF_DELIVERIES.items()
    }
    return found | _NAMED | _LISTS


_TABLES: Final = ("suppliers_shipmentdraft d", "suppliers_delivery a", "suppliers_receiveddelivery c")
ROWS: Final = union_of(Delivery, _columns(), _TABLES, texts=("side", "picking_notes"))
