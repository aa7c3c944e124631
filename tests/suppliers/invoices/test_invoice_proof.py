"""Planted faults of invoices, returns and copies: `prove_invariants` finds each, and a healthy story has none."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

from core.db import tenant_context
from core.invariants import breaches
from suppliers.invoices.models import InvoiceLine
from suppliers.orders.models import PurchaseOrderLine, ReceivedOrder
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.returns.backs import Back
from tests.suppliers.returns.backs import back as fresh


def plant(tenant: Any, sql: str, *given: Any) -> None:
    """Change rows of a tenant behind the back of their writers."""
    with tenant_context(tenant.id), connections["default"].cursor() as cursor:
        cursor.execute(sql, [*given, tenant.id])
        assert cursor.rowcount > 0


def rules(*tenants: Any) -> set[tuple[str, str]]:
    """Return the rules that do not hold, with the tables of the rows that break them."""
    return {(one.rule, one.table) for tenant in tenants for one in breaches(tenant.id)}


FAULTS: dict[str, tuple[str, tuple[str, str]]] = {
    "invoiced": (
        "UPDATE suppliers_purchaseorderline SET invoiced = invoiced - 1 WHERE invoiced > 0 AND tenant_id = %s",
        ("invoices", "suppliers_purchaseorderline"),
    ),
    "billing": (
        "UPDATE suppliers_purchaseorder SET billing_status = 'paid' WHERE tenant_id = %s",
        ("invoices", "suppliers_purchaseorder"),
    ),
    "credited": (
        "UPDATE suppliers_invoice SET credited_total = credited_total + 0.01 WHERE type = 'invoice' AND tenant_id = %s",
        ("invoices", "suppliers_invoice"),
    ),
    "credited units": (
        "UPDATE suppliers_invoiceline SET credited = credited + 1 WHERE credited > 0 AND tenant_id = %s",
        ("invoices", "suppliers_invoice"),
    ),
    "result": (
        "UPDATE suppliers_invoiceline SET result = 'price_over' WHERE result = 'ok' AND tenant_id = %s",
        ("invoices", "suppliers_invoice"),
    ),
    "lines": (
        "UPDATE suppliers_invoice SET lines_total = lines_total + 1 WHERE tenant_id = %s",
        ("invoices", "suppliers_invoice"),
    ),
    "held": (
        "UPDATE suppliers_invoice SET held_total = 1, status = 'approved', approved_at = now() WHERE type = 'invoice' AND tenant_id = %s",
        ("payments", "suppliers_invoice"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(desk: Desk, fault: str) -> None:
    order = desk.arrived(60)
    desk.credit(order, desk.issue(order, 60), 10)
    desk.stored()
    sql, wanted = FAULTS[fault]

    plant(desk.dock.buyer, sql)

    assert wanted in rules(desk.dock.buyer, desk.dock.shelf)


def test_a_copy_that_was_not_rewritten_is_found(desk: Desk) -> None:
    made = desk.issue(desk.arrived(60), 60)
    plant(
        desk.dock.shelf,
        "UPDATE suppliers_receivedinvoice SET representation = jsonb_set(representation, '{gross_total}', '\"1.00\"')"
        " WHERE id = %s AND tenant_id = %s",
        made["id"],
    )

    assert [table for _, table in rules(desk.dock.buyer, desk.dock.shelf)] == ["suppliers_receivedinvoice"]
    call_command("rebuild_received", tenant=str(desk.dock.shelf.id), stdout=StringIO())
    desk.stored()


@pytest.fixture
def back() -> Back:
    """Return a hospital that sends goods back."""
    return fresh()


def replaced(back: Back) -> dict[str, Any]:
    """Let goods be replaced; return the new order as its buyer reads it."""
    one = back.brought("received", 20, resolution="replacement")
    done = back.done(one["id"], "inspect", lines=[back.disposed(one, "quarantine")])
    found: dict[str, Any] = back.dock.trade.read(done["replacement_order_id"])
    assert found["return_id"] == one["id"]
    return found


REPLACED: dict[str, tuple[str, str]] = {
    "price": (
        "UPDATE suppliers_purchaseorderline SET unit_price = 1 WHERE price_source = 'return' AND tenant_id = %s",
        "suppliers_purchaseorderline",
    ),
    "source": (
        "UPDATE suppliers_purchaseorderline SET price_source = 'offer' WHERE price_source = 'return' AND tenant_id = %s",
        "suppliers_purchaseorderline",
    ),
    "a price from nowhere": (
        "UPDATE suppliers_purchaseorderline SET price_source = 'return' WHERE price_source <> 'return' AND tenant_id = %s",
        "suppliers_purchaseorderline",
    ),
    "order": (
        "UPDATE suppliers_purchaseorder SET return_id = gen_random_uuid() WHERE return_id IS NOT NULL AND tenant_id = %s",
        "suppliers_purchaseorder",
    ),
}


@pytest.mark.parametrize("fault", REPLACED)
def test_an_order_that_replaces_goods_names_its_return_and_costs_nothing(back: Back, fault: str) -> None:
    replaced(back)
    back.sound()
    sql, table = REPLACED[fault]

    plant(back.dock.buyer, sql)

    assert ("returns", table) in rules(back.dock.buyer)


def test_copies_from_before_returns_are_rebuilt_with_them(back: Back) -> None:
    order = replaced(back)
    shelf = back.dock.shelf
    plant(
        shelf, "UPDATE suppliers_receivedorder SET representation = representation - 'return_id' WHERE tenant_id = %s"
    )
    assert ("received copies", "suppliers_receivedorder") in rules(shelf, back.dock.buyer)

    call_command("rebuild_received", tenant=str(shelf.id), stdout=StringIO())

    back.sound()
    with tenant_context(shelf.id):
        copy = ReceivedOrder.objects.get(tenant_id=shelf.id, pk=order["id"])
    assert copy.representation["return_id"] == order["return_id"]
    (line,) = copy.lines
    assert (line["snapshot"]["price_source"], line["snapshot"]["unit_price"], line["line_total"]) == (
        "return", "0.00", "0.00",
    )  # fmt: skip
    seen = back.supplier.get(f"/v1/orders/{order['id']}").json()["data"]
    assert (seen["return_id"], seen["items"][0]["snapshot"]["price_source"]) == (order["return_id"], "return")


def test_counters_follow_any_course_of_bills(desk: Desk) -> None:
    order = desk.arrived(100)
    first, second = desk.issue(order, 40), desk.issue(order, 60)
    desk.credit(order, first, 15)
    desk.did(second, "reject", reason="Once more")
    third = desk.issue(order, 30, 30)
    desk.credit(order, third, desk.line(order, 1, 30, unit_price="0.50"))
    desk.did(third, "approve")
    desk.stored()
    with tenant_context(desk.dock.buyer.id):
        line = PurchaseOrderLine.objects.get(tenant_id=desk.dock.buyer.id, order_id=order["id"])
        live = InvoiceLine.objects.filter(tenant_id=desk.dock.buyer.id, invoice_id__in=[first["id"], third["id"]])
        assert line.invoiced == sum(one.base_quantity - one.credited for one in live) == 85
