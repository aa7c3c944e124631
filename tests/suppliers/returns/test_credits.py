"""What the buyer is credited for goods that came back, and what becomes of invoices and the order."""

from typing import Any

import pytest

from core.clock import now
from core.db import tenant_context
from suppliers.orders.models import PurchaseOrderLine
from tests import factories
from tests.factories import Api
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.returns import backs
from tests.suppliers.returns.backs import Back, found


def invoiced(back: Back, number: str, units: int = 100) -> dict[str, Any]:
    """Let the supplier invoice base units of the order."""
    order = str(back.dock.delivery(back.delivery).order_id)
    line = back.dock.trade.read(order)["lines"][0]
    given = {
        "order_line_id": line["id"],
        "quantity": units,
        "unit": "base",
        "unit_price": line["snapshot"]["unit_price"],
    }
    body = {"invoice_number": number, "type": "invoice", "issue_date": now().date().isoformat(), "lines": [given]}
    return found(back.supplier.post(f"/v1/orders/{order}/invoices", json=body), 201)


def counted(back: Back) -> tuple[int, int]:
    """Return what the line of the order counts as returned and as invoiced."""
    key = back.line().order_line_id
    with tenant_context(back.dock.buyer.id):
        line = PurchaseOrderLine.objects.get(tenant_id=back.dock.buyer.id, pk=key)
    return line.returned, line.invoiced


def finance(back: Back) -> Api:
    """Return a client of a member of the buyer that settles invoices."""
    return factories.as_member(back.dock.buyer.tenant, ["finance"])


def test_goods_that_were_invoiced_are_credited_at_their_price(back: Back) -> None:
    invoice = invoiced(back, "INV-1")
    one = back.brought("received", 20)
    entries = [back.disposed(one, "not_received", quantity=10), back.disposed(one, "quarantine")]
    error = refused(back.act(one["id"], "inspect", lines=entries), 400, "validation_error")["errors"][0]
    assert (error["field"], error["code"]) == ("credit_note_number", "required")
    answer = back.act(one["id"], "inspect", lines=entries, credit_note_number="INV-1")
    refused(answer, 409, "invoice_number_taken")
    assert counted(back) == (0, 100)
    assert back.stored(one["id"])[0].status == "received"
    done = back.done(one["id"], "inspect", lines=entries, credit_note_number="CN-1")
    (line,) = done["lines"]
    assert (line["credited"], line["credited_amount"]) == (10, "4.90")
    note = found(back.api.get(f"/v1/procurement/invoices/{done['credit_note_id']}"), 200)
    assert (note["invoice_number"], note["type"], note["return_id"]) == ("CN-1", "credit_note", one["id"])
    assert (note["original_invoice_id"], note["net_total"]) == (invoice["id"], "4.90")
    assert counted(back) == (10, 90)
    back.stored(one["id"])


def test_goods_that_nobody_has_invoiced_get_no_credit(back: Back) -> None:
    one = back.brought("completed", 20)
    assert (one["credit_note_id"], one["lines"][0]["credited"], one["lines"][0]["credited_amount"]) == (None, 0, None)
    assert counted(back) == (20, 0)
    invoice = invoiced(back, "INV-1", 80)
    assert invoice["status"] == "matched"


def test_goods_of_two_invoices_make_two_notes(back: Back) -> None:
    for number in (1, 2):
        invoiced(back, f"INV-{number}", 50)
    one = back.brought("received", 60)
    done = back.done(one["id"], "inspect", lines=[back.disposed(one, "destroy")], credit_note_number="CN-9")
    assert (done["lines"][0]["credited"], done["lines"][0]["credited_amount"]) == (60, "29.40")
    answer = back.api.get("/v1/procurement/invoices?search=CN-9").json()
    assert sorted(note["invoice_number"] for note in answer["data"]) == ["CN-9", "CN-9-2"]
    assert counted(back) == (60, 40)


def test_a_closed_order_stays_closed(back: Back) -> None:
    invoiced(back, "INV-1")
    order = str(back.dock.delivery(back.delivery).order_id)
    assert back.dock.trade.read(order)["status"] == "closed"
    one = back.brought("received", 10, resolution="replacement")
    done = back.done(one["id"], "inspect", lines=[back.disposed(one, "quarantine")])
    assert back.dock.trade.read(order)["status"] == "closed"
    assert done["replacement_order_id"] != order
    assert counted(back) == (10, 100)


@pytest.mark.parametrize("resolution", ["replacement", "repair"])
def test_an_invoice_of_goods_that_are_replaced_still_matches(back: Back, resolution: str) -> None:
    invoice = invoiced(back, "INV-1")
    one = back.brought("received", 30, resolution=resolution)
    back.done(one["id"], "inspect", lines=[back.disposed(one, "quarantine")])

    for action in ("read", "match"):
        path = f"/v1/procurement/invoices/{invoice['id']}"
        seen = found(back.api.get(path) if action == "read" else finance(back).post(f"{path}/match", json={}), 200)
        assert (seen["status"], [one["result"] for one in seen["match"]["lines"]]) == ("matched", ["ok"])
    paid = finance(back).post(f"/v1/procurement/invoices/{invoice['id']}/approve", json={})
    assert found(paid, 200)["status"] == "approved"
    back.stored(one["id"])


def test_goods_that_were_replaced_before_they_are_invoiced_are_billable(back: Back) -> None:
    one = back.brought("received", 30, resolution="replacement")
    back.done(one["id"], "inspect", lines=[back.disposed(one, "quarantine")])
    assert counted(back) == (30, 0)

    assert invoiced(back, "INV-1")["status"] == "matched"
    back.stored(one["id"])


def test_a_credit_note_of_the_supplier_names_a_return_of_its_order(back: Back) -> None:
    invoice, one = invoiced(back, "INV-1"), back.request(10)
    body = {
        "invoice_number": "CN-1", "type": "credit_note", "issue_date": now().date().isoformat(),
        "original_invoice_id": invoice["id"], "return_id": one["id"],
        "lines": [{name: invoice["lines"][0][name] for name in ("order_line_id", "unit_price")} | {"quantity": 1, "unit": "base"}],
    }  # fmt: skip
    path = f"/v1/orders/{invoice['purchase_order_id']}/invoices"
    other = backs.received(back.dock)
    strange = back.request(10, delivery=other)
    declined = back.brought("declined")
    for given, code in (
        ({"return_id": strange["id"]}, "unknown_return"), ({"return_id": declined["id"]}, "unknown_return"),
        ({"return_id": invoice["id"]}, "unknown_return"),
        ({"type": "invoice", "original_invoice_id": None}, "invalid"),
    ):  # fmt: skip
        error = refused(back.supplier.post(path, json=body | given), 400, "validation_error")["errors"][0]
        assert (error["field"], error["code"]) == ("return_id", code)

    note = found(back.supplier.post(path, json=body), 201)

    assert (note["return_id"], note["original_invoice_id"]) == (one["id"], invoice["id"])
    assert found(back.api.get(f"/v1/procurement/invoices/{note['id']}"), 200)["return_id"] == one["id"]
    over = body | {
        "invoice_number": "CN-2",
        "lines": [body["lines"][0] | {"quantity": 100}],
    }  # held to the gross as any other
    refused(back.supplier.post(path, json=over), 409, "credit_exceeds_invoice")
    back.sound()
