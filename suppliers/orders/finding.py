"""Finding the lines of an order for a write, and writing those of a draft."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from core.ids import uuid7
from core.model_rows import rows_of
from core.pipeline import Call, Rows, Statement
from core.rows import insert_all
from organizations.public import reach

from .models import PurchaseOrderLine
from .pricing import OrderedLine

# Members of the buyer who are limited to places see what is delivered there or below; the supplier's see all orders.
WITHIN: Final = reach("delivery_location_id", below=True)
_COLUMNS: Final = ", ".join(f'"{field.column}"' for field in PurchaseOrderLine._meta.concrete_fields)
_LINES = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_purchaseorderline WHERE tenant_id = $1 AND order_id = $2 ORDER BY line_no"
)
_CLEAR = Statement.of("DELETE FROM suppliers_purchaseorderline WHERE tenant_id = $1 AND order_id = $2 RETURNING 1")


def lines_call(tenant_id: UUID, order_id: UUID) -> Call:
    """Return the statement that reads the lines of an order by their numbers, for a transaction bound to its owner."""
    return Call(_LINES, [str(tenant_id), str(order_id)])


def lines_of(found: Rows) -> list[PurchaseOrderLine]:
    """Return the lines that `lines_call` has read."""
    return rows_of(PurchaseOrderLine, found)


def as_asked(line: PurchaseOrderLine) -> dict[str, Any]:
    """Return a stored line in the form of a body, to be priced anew; a line of free text keeps its price."""
    return {
        "product_id": line.product_id, "packaging_id": line.packaging_id, "offer_id": line.offer_id,
        "own_code": line.own_code, "unit": line.unit, "quantity": line.quantity,
        "requested_date": line.requested_date, "description": "" if line.product_id else line.name,
        "supplier_sku": line.supplier_sku, "gtin": "" if line.product_id else line.gtin,
        "unit_price": line.unit_price, "tax_rate": line.tax_rate, "base_unit": line.base_unit,
    }  # fmt: skip


def insert_lines_call(order_id: UUID, tenant_id: UUID, lines: Sequence[OrderedLine], at: datetime) -> Call:
    """Return the statement that inserts the lines of an order, numbered from 1."""
    own = {"tenant_id": tenant_id, "order_id": order_id, "created_at": at, "updated_at": at, "version": 1}
    return insert_all(
        PurchaseOrderLine,
        [
            {"id": uuid7(), "line_no": number, **own, **{name: _json(value) for name, value in line.values.items()}}
            for number, line in enumerate(lines, 1)
        ],
    )


def replace_lines_calls(order_id: UUID, tenant_id: UUID, lines: Sequence[OrderedLine], at: datetime) -> list[Call]:
    """Return the statements that put other lines in the place of a draft's."""
    clear = Call(_CLEAR, [str(tenant_id), str(order_id)])
    return [clear, insert_lines_call(order_id, tenant_id, lines, at)]


def differ(stored: Sequence[PurchaseOrderLine], lines: Sequence[OrderedLine]) -> bool:
    """Tell whether lines have other values than the stored ones."""
    return len(stored) != len(lines) or any(
        getattr(row, name) != value
        for row, line in zip(stored, lines, strict=True)
        for name, value in line.values.items()
    )


def numbered(lines: Iterable[OrderedLine]) -> list[Mapping[str, Any]]:
    """Return the values of lines with their numbers."""
    return [{**one.values, "line_no": number} for number, one in enumerate(lines, 1)]


def _json(value: Any) -> Any:
    return f"{value:f}" if isinstance(value, Decimal) else value
