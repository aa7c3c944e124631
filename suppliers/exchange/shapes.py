"""The statements that read a document as both parties may see it; $1 is the tenant, $2 the document's id."""

from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from api.representations import Representation
from api.shapes import Selection
from core.conditions import TENANT
from core.pipeline import Statement
from suppliers.deliveries.reading.shapes import ROWS
from suppliers.deliveries.representations import DeliveryForSupplierOut, ReceiptForSupplierOut
from suppliers.inventory.queries import WITHIN as PLACES
from suppliers.orders.finding import WITHIN
from suppliers.orders.representations import OrderForSupplierOut


class Found(NamedTuple):
    """A document as both parties see it, as JSON, with its parties; `side` is the reader's."""

    content: str
    version: str
    supplier_id: UUID
    buyer_id: UUID
    side: str


def _whole(kind: type[Representation], where: str) -> str:
    shape = kind.shape
    return f"SELECT row_to_json(r)::jsonb FROM (SELECT {shape.select(Selection())}) r WHERE {where}"


def _statement(sql: str) -> Statement:
    return Statement.of(sql.replace(TENANT, "$1"), row=Found)


def _sides(*, content: str, supplier: str, buyer: str, side: str) -> str:
    """Write the select list of a document and its parties; the arguments but for the side are SQL over its row `t`."""
    return (
        f"SELECT {content}::text AS content, t.version::text AS version, {supplier} AS supplier_id, {buyer} AS buyer_id,"
        f" '{side}' AS side"
    )


@lru_cache(maxsize=1)
def own_order() -> Statement:
    """The statement of an order for its buyer."""
    head = _sides(
        content=f"({_whole(OrderForSupplierOut, 'true')})",
        supplier="t.supplier_tenant_id",
        buyer="t.tenant_id",
        side="buyer",
    )
    return _statement(f"{head} FROM suppliers_purchaseorder t WHERE t.tenant_id = $1 AND t.id = $2 AND {WITHIN.sql}")


@lru_cache(maxsize=1)
def received_order() -> Statement:
    """The statement of an order for its supplier."""
    content = "(t.representation || jsonb_build_object('lines', t.lines))"
    head = _sides(content=content, supplier="t.tenant_id", buyer="t.owner_tenant_id", side="supplier")
    return _statement(f"{head} FROM suppliers_receivedorder t WHERE t.tenant_id = $1 AND t.id = $2")


_LINE_NUMBERS: Final = (
    "(SELECT jsonb_object_agg(n.id, n.line_no) FROM suppliers_purchaseorderline n"
    " WHERE n.tenant_id = $1 AND n.order_id = t.order_id)"
)
_RECEIVED_NUMBERS: Final = (
    "(SELECT jsonb_object_agg(e.line ->> 'id', e.line -> 'line_no') FROM suppliers_receivedorder o"
    " CROSS JOIN LATERAL jsonb_array_elements(o.lines) AS e(line) WHERE o.tenant_id = $1 AND o.id = t.order_id)"
)
# Which deliveries a member may read is said once, by the room that answers them as JSON.
_SEEN: Final = f"$2::uuid IN (SELECT t.id FROM {ROWS} t WHERE t.id = $2 AND t.number <> '' AND {PLACES.sql})"


@lru_cache(maxsize=1)
def delivery() -> Statement:
    """The statement of a delivery with its receipts for either party, with the numbers of the order's lines."""
    listed = (
        f"(SELECT coalesce(jsonb_agg(x.whole ORDER BY x.at, x.id), '[]') FROM (SELECT t.id, t.received_at AS at,"
        f" ({_whole(ReceiptForSupplierOut, 'true')}) AS whole FROM suppliers_receipt t"
        f" WHERE t.tenant_id = {TENANT} AND t.delivery_id = $2) x)"
    )
    own = _sides(
        content=(
            f"(({_whole(DeliveryForSupplierOut, 'true')})"
            f" || jsonb_build_object('order_lines', {_LINE_NUMBERS}, 'receipts', {listed}))"
        ),
        supplier="t.supplier_tenant_id", buyer="t.tenant_id", side="buyer",
    )  # fmt: skip
    copies = (
        "(SELECT coalesce(jsonb_agg(x.representation ORDER BY x.received_at, x.id), '[]') FROM suppliers_receivedreceipt x"
        " WHERE x.tenant_id = $1 AND x.delivery_id = t.id)"
    )
    received = _sides(
        content=(
            "(t.representation || jsonb_build_object('lines', t.lines, 'receipts',"
            f" {copies}, 'order_lines', {_RECEIVED_NUMBERS}))"
        ),
        supplier="t.tenant_id", buyer="t.owner_tenant_id", side="supplier",
    )  # fmt: skip
    return _statement(
        f"{own} FROM suppliers_delivery t WHERE t.tenant_id = $1 AND t.id = $2 AND {_SEEN}"
        f" UNION ALL {received} FROM suppliers_receiveddelivery t WHERE t.tenant_id = $1 AND t.id = $2 AND {_SEEN}"
    )
