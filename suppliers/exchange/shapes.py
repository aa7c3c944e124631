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
from suppliers.invoices.reading.representations import PEPPOL_STATUS
from suppliers.invoices.representations import InvoiceForSupplierOut
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
_SEEN: Final = (
    f"$2::uuid IN (SELECT t.id FROM {ROWS} t WHERE t.tenant_id = $1 AND t.id = $2 AND t.number <> '' AND {PLACES.sql})"
)


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


# What both parties know of the order, of the invoice that is credited, and of the deliveries, by the reader's own rows.
_OWN_ORDER: Final = (
    "(SELECT jsonb_build_object('external_reference', nullif(o.external_reference, ''), 'delivery_address',"
    " o.delivery_address, 'payment_terms', o.payment_terms)"
    " FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id = t.order_id)"
)
_RECEIVED_ORDER: Final = (
    "(SELECT jsonb_build_object('external_reference', o.representation -> 'external_reference', 'delivery_address',"
    " o.representation -> 'delivery_address', 'payment_terms', o.representation -> 'payment_terms')"
    " FROM suppliers_receivedorder o WHERE o.tenant_id = $1 AND o.id = t.order_id)"
)
_ORIGINAL: Final = (
    "(SELECT jsonb_build_object('number', i.number, 'day', i.issue_date) FROM {table} i"
    " WHERE i.tenant_id = $1 AND i.id = {key})"
)
_DELIVERIES: Final = (
    "(SELECT coalesce(jsonb_agg(jsonb_build_object('number', d.number, 'shipped_at', d.shipped_at) ORDER BY d.number), '[]')"
    " FROM {table} d WHERE d.tenant_id = $1 AND d.order_id = t.order_id AND d.number <> '' AND {ids} @> to_jsonb(d.id::text))"
)


def _bill(content: str, *, overridden: str, order: str, original: str, deliveries: str) -> str:
    status = f"(SELECT {PEPPOL_STATUS} FROM (SELECT t.type, t.status, {overridden} AS is_overridden) t)"
    return (
        f"({content} || jsonb_build_object('order', {order}, 'original', {original}, 'deliveries', {deliveries},"
        f" 'peppol_status', {status}))"
    )


@lru_cache(maxsize=1)
def invoice() -> Statement:
    """The statement of an invoice or credit note for either party, with what it refers to."""
    own = _sides(
        content=_bill(
            f"({_whole(InvoiceForSupplierOut, 'true')})",
            overridden="t.override_reason <> ''",
            order=_OWN_ORDER,
            original=_ORIGINAL.format(table="suppliers_invoice", key="t.original_id"),
            deliveries=_DELIVERIES.format(table="suppliers_delivery", ids="t.delivery_ids"),
        ),
        supplier="t.supplier_tenant_id", buyer="t.tenant_id", side="buyer",
    )  # fmt: skip
    received = _sides(
        content=_bill(
            "(t.representation || jsonb_build_object('lines', t.lines))",
            overridden="(t.representation ->> 'is_overridden')::boolean",
            order=_RECEIVED_ORDER,
            original=_ORIGINAL.format(
                table="suppliers_receivedinvoice", key="(t.representation ->> 'original_invoice_id')::uuid"
            ),
            deliveries=_DELIVERIES.format(
                table="suppliers_receiveddelivery", ids="(t.representation -> 'delivery_ids')"
            ),
        ),
        supplier="t.tenant_id", buyer="t.owner_tenant_id", side="supplier",
    )  # fmt: skip
    return _statement(
        f"{own} FROM suppliers_invoice t WHERE t.tenant_id = $1 AND t.id = $2 AND {WITHIN.sql}"
        f" UNION ALL {received} FROM suppliers_receivedinvoice t WHERE t.tenant_id = $1 AND t.id = $2"
    )
