"""Invoices of suppliers that the buyer manages: recorded by its members, released by others, and told to nobody else."""

from typing import Any
from uuid import UUID

import pytest

from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from suppliers.files.models import FileBinding
from suppliers.invoices.models import Invoice, ReceivedInvoice
from suppliers.orders.number_models import DocumentNumber
from tests import factories
from tests.suppliers.deliveries.receiving.test_managed import managed, received
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import PATH, Desk
from tests.suppliers.notifications.test_messages import a_file
from tests.suppliers.payments.tills import PATH as PAYMENTS
from tests.suppliers.snapshots import everything


def bought(desk: Desk, units: int = 6) -> dict[str, Any]:
    """Order of a managed supplier and receive a part."""
    order = managed(desk.dock)
    assert received(desk.dock, order, {"accepted_quantity": units}).status_code == 201
    found: dict[str, Any] = desk.dock.trade.read(order["id"])
    return found


def recorded(desk: Desk, order: dict[str, Any], *lines: Any, api: Any = None, **more: Any) -> Any:
    """Ask for an invoice to be recorded."""
    return (api or desk.clerk).post(PATH, json=desk.body(order, *lines, purchase_order_id=order["id"], **more))


def test_a_recorded_invoice_is_matched_released_and_paid(desk: Desk) -> None:
    order = bought(desk)
    supplier = order["supplier_id"]

    answer = recorded(desk, order, 6)

    assert answer.status_code == 201, answer.content
    made = answer.json()["data"]
    assert answer.headers["Location"] == f"{PATH}/{made['id']}"
    assert (made["status"], made["supplier_id"], made["net_total"]) == ("matched", supplier, "75.00")
    assert made["recorded_by"] is not None
    assert desk.did(made, "approve")["status"] == "approved"
    body = {
        "supplier_id": supplier, "amount": made["gross_total"], "currency": "EUR", "method": "check",
        "allocations": [{"invoice_id": made["id"], "amount": made["gross_total"]}],
    }  # fmt: skip
    paid = desk.clerk.post(PAYMENTS, json=body).json()["data"]
    desk.clerk.post(f"{PAYMENTS}/{paid['id']}/confirm", json={"status": "succeeded"})
    assert desk.read(made)["status"] == "paid"
    assert [one[0] for one in desk.facts(desk.dock.buyer, made)] == [
        "invoice.issued", "invoice.matched", "invoice.approved", "invoice.paid",
    ]  # fmt: skip
    assert list(breaches(desk.dock.buyer.id)) == []
    with tenant_context(UUID(supplier)):  # nobody reads there
        assert not ReceivedInvoice.objects.filter(tenant_id=supplier).exists()
        assert not Event.objects.filter(tenant_id=supplier, resource_type="invoice").exists()
        number = DocumentNumber.objects.get(tenant_id=supplier, kind="invoice")
    assert (number.number, str(number.document_id)) == (made["invoice_number"], made["id"])


def test_who_records_does_not_release(desk: Desk) -> None:
    order = bought(desk)
    made = recorded(desk, order, 6).json()["data"]
    before = everything(desk.dock.buyer)

    refused(desk.act(made, "approve", api=desk.clerk), 403, "separation_of_duties")
    refused(desk.act(made, "cancel", api=desk.clerk, reason="No"), 403, "insufficient_scope")

    assert everything(desk.dock.buyer) == before
    assert desk.did(made, "approve")["approved_by"] is not None


def test_credit_notes_of_managed_suppliers_are_recorded_too(desk: Desk) -> None:
    order = bought(desk)
    made = recorded(desk, order, 6).json()["data"]
    desk.did(made, "dispute", reason_code="quantity")

    note = recorded(desk, order, 2, type="credit_note", original_invoice_id=made["id"])

    assert note.status_code == 201, note.content
    found = desk.read(made)
    assert (found["status"], found["credited_total"]) == ("matched", note.json()["data"]["gross_total"])
    assert desk.billing(order)[2] == [4]
    assert list(breaches(desk.dock.buyer.id)) == []


@pytest.mark.parametrize("case", ["over", "number", "unknown order", "place"])
def test_what_is_not_recorded(desk: Desk, case: str) -> None:
    order = bought(desk)
    recorded(desk, order, 1, invoice_number="M-1")
    person, _ = factories.member(desk.dock.buyer.tenant, ["finance"], location_ids=[UUID(desk.dock.place["id"])])
    before = everything(desk.dock.buyer)

    if case == "over":
        refused(recorded(desk, order, 6), 409, "over_invoiced")
    elif case == "number":
        refused(recorded(desk, order, 1, invoice_number="M-1"), 409, "invoice_number_taken")
    elif case == "unknown order":
        body = desk.body(order, 1, purchase_order_id=order["supplier_id"])
        error = refused(desk.clerk.post(PATH, json=body), 400, "validation_error")["errors"][0]
        assert (error["field"], error["code"]) == ("purchase_order_id", "unknown_order")
    else:
        elsewhere = factories.Api(token=factories.bearer(person), tenant=desk.dock.buyer.tenant)
        error = refused(recorded(desk, order, 1, api=elsewhere), 400, "validation_error")["errors"][0]
        assert (error["field"], error["code"]) == ("purchase_order_id", "unknown_order")

    assert everything(desk.dock.buyer) == before


def test_two_buyers_manage_suppliers_with_the_same_number(desk: Desk) -> None:
    first, second = bought(desk), bought(desk)

    answers = [recorded(desk, one, 1, invoice_number="2026-1") for one in (first, second)]

    assert [one.status_code for one in answers] == [201, 201]
    with tenant_context(desk.dock.buyer.id):
        assert Invoice.objects.filter(tenant_id=desk.dock.buyer.id, number="2026-1").count() == 2


def test_files_of_a_recorded_invoice_are_the_buyer_s_evidence(desk: Desk) -> None:
    order = bought(desk)
    paper = a_file(desk.dock.buyer.tenant)

    made = recorded(desk, order, 6, file_ids=[paper]).json()["data"]

    assert made["file_ids"] == [paper]
    with tenant_context(desk.dock.buyer.id):
        bound = FileBinding.objects.get(tenant_id=desk.dock.buyer.id, file_id=paper)
    assert (bound.resource_type, str(bound.resource_id)) == ("invoice", made["id"])
    refused(desk.clerk_of("buyer").delete(f"/v1/files/{paper}"), 409, "file_bound")
