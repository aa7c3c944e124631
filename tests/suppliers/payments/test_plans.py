"""What the books of a payment read of a buyer with hundreds of invoices: each row once or twice, never in nested loops."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections, transaction

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from core.pipeline import Call
from suppliers.invoices.models import Invoice, InvoiceLine
from suppliers.orders.models import PurchaseOrderLine
from suppliers.payments.books import given_calls, of_payment_calls
from tests.suppliers.payments.tills import Till

MANY = 300
TABLES = ("invoice", "invoiceline", "paymentallocation", "creditsource", "purchaseorder", "purchaseorderline")


def _fill(till: Till) -> None:
    """Give the order hundreds of further invoices, as rows."""
    at, owner = now(), till.buyer.id
    with tenant_context(owner), transaction.atomic():
        of = PurchaseOrderLine.objects.filter(tenant_id=owner, order_id=till.order)[0]
        rows = [
            Invoice(
                id=uuid7(), tenant_id=owner, number=f"MANY-{number}", type="invoice", supplier_tenant_id=till.shelf.id,
                order_id=till.order, po_number="PO-1", order_number="SO-1", delivery_location_id=till.trade.ward,
                issue_date=at.date(), currency="EUR", net_total=1, tax_total=0, gross_total=1, lines_total=1, issued_at=at,
                created_at=at, updated_at=at,
            )
            for number in range(MANY)
        ]  # fmt: skip
        Invoice.objects.bulk_create(rows)
        InvoiceLine.objects.bulk_create(
            InvoiceLine(
                id=uuid7(), tenant_id=owner, invoice_id=row.id, line_no=1, order_line_id=of.id, order_line_no=1, name="Masks",
                base_unit="EA", unit="base", base_quantity=1, currency="EUR", unit_price=1, net=1, tax_rate=Decimal(0),
            )
            for row in rows
        )  # fmt: skip
    with connections["owner"].cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ANALYZE suppliers_{table}")
    connections["owner"].close()


def _rows_read(node: dict[str, Any]) -> int:
    """Return how many rows the nodes of a plan gave, over all their loops."""
    return round(node["Actual Rows"] * node["Actual Loops"]) + sum(map(_rows_read, node.get("Plans", ())))


def _explained(tenant_id: UUID, call: Call, mode: str) -> int:
    name = f"plan_{uuid7().hex}"
    values = ", ".join(f"'{one}'" for one in call.parameters)
    with tenant_context(tenant_id), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
        cursor.execute(f"PREPARE {name} AS {call.statement.sql.decode()}")
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE {name} ({values})")
        (plan,) = cursor.fetchone()
        cursor.execute(f"DEALLOCATE {name}")
    return _rows_read(plan[0]["Plan"])


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_what_a_payment_reads_grows_with_its_invoices_alone(till: Till, mode: str) -> None:
    invoice = till.invoice("100")
    made = till.pay((invoice, "40"))
    _fill(till)

    buyer = till.buyer.id
    calls = [
        *of_payment_calls(buyer, UUID(made["id"]))[:4],
        *given_calls(buyer, till.shelf.id, [UUID(invoice)])[:4],
    ]
    read = [_explained(buyer, one, mode) for one in calls]

    assert max(read) <= 10 * MANY, read
