"""An invoice from its issue to its release, as both sides read it."""

from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import Desk


def test_invoice_of_received_goods_matches(desk: Desk) -> None:
    order = desk.arrived(100)

    made = desk.issue(order, 100)

    assert (made["status"], made["peppol_status"]) == ("matched", "AB")
    assert made["match"]["lines"] == [{"line_no": 1, "result": "ok"}]
    assert made["balance_due"] == made["gross_total"]
    read = desk.read(made)
    assert read["match"]["lines"] == [{"line_no": 1, "result": "ok", "quantity_variance": 0, "price_variance": "0"}]
    told = [
        ("invoice.issued", None, "issued", "supplier"),
        ("invoice.matched", "issued", "matched", "system"),
    ]
    assert desk.facts(desk.dock.buyer, made) == told
    assert desk.facts(desk.dock.shelf, made) == told
    assert desk.billing(order) == ("closed", "invoiced", [100])
    assert desk.stored() == [("invoice", "matched")]


def test_invoice_before_receipt_is_matched_by_the_receipt(desk: Desk) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 40)
    made = desk.issue(order, 40)
    assert (made["status"], desk.results(made)) == ("mismatched", ["not_received"])

    receipt = desk.receive(delivery, 40)

    assert desk.read(made)["status"] == "matched"
    assert desk.stored() == [("invoice", "matched")]
    answer = desk.dock.post(delivery, reverses=receipt["id"])
    assert answer.status_code == 201, answer.content
    assert (desk.read(made)["status"], desk.results(made)) == ("mismatched", ["not_received"])
    assert desk.billing(order) == ("accepted", "partially_invoiced", [40])
    assert desk.stored() == [("invoice", "mismatched")]


def test_receipt_is_corrected_after_the_last_invoice_has_closed_the_order(desk: Desk) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 100)
    receipt = desk.receive(delivery, 100)
    made = desk.issue(order, 100)
    assert desk.billing(order)[0] == "closed"

    answer = desk.dock.post(delivery, reverses=receipt["id"])

    assert answer.status_code == 201, answer.content
    assert (desk.read(made)["status"], desk.results(made)) == ("mismatched", ["not_received"])
    again = desk.dock.receive(
        delivery, {"accepted_quantity": 90, "rejected_quantity": 10, "rejection_reason": "damaged"}
    )
    assert [(one["accepted"], one["rejected"]) for one in again["lines"]] == [(90, 10)]
    found = desk.dock.trade.read(order["id"])
    line = found["lines"][0]
    assert (found["status"], line["received"], line["rejected"]) == ("closed", 90, 10)
    assert desk.read(made)["status"] == "mismatched"
    desk.stored()


def test_receipt_on_a_released_invoice_is_not_reversed(desk: Desk) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 40)
    receipt = desk.receive(delivery, 40)
    made = desk.issue(order, 40)
    desk.did(made, "approve")

    answer = desk.dock.post(delivery, reverses=receipt["id"])

    assert (answer.status_code, answer.json()["code"], answer.json()["reason"]) == (
        409,
        "receipt_not_reversible",
        "billed",
    )
    assert [(one["pointer"], one["code"]) for one in answer.json()["errors"]] == [("/lines/0", "billed")]
    assert desk.stored() == [("invoice", "approved")]


def test_more_than_was_shipped_is_not_invoiced(desk: Desk) -> None:
    order = desk.arrived(60)
    desk.issue(order, 50)

    answer = desk.post(order, 11)

    assert (answer.status_code, answer.json()["code"]) == (409, "over_invoiced")
    assert [one["pointer"] for one in answer.json()["errors"]] == ["/lines/0"]
    assert desk.billing(order) == ("accepted", "partially_invoiced", [50])
    assert desk.stored() == [("invoice", "matched")]
    assert desk.issue(order, 10)["status"] == "matched"


def test_number_holds_only_what_can_be_seen(desk: Desk) -> None:
    found = refused(desk.post(desk.arrived(60), 10, invoice_number="INV\ufffe"), 400, "validation_error")
    assert [(one["field"], one["code"]) for one in found["errors"]] == [("invoice_number", "invalid")]


def test_number_is_taken_once(desk: Desk) -> None:
    order = desk.arrived(60)
    desk.issue(order, 10, invoice_number="INV-1")

    answer = desk.post(order, 10, invoice_number="INV-1")

    assert (answer.status_code, answer.json()["code"]) == (409, "invoice_number_taken")
    assert desk.billing(order)[2] == [10]


def test_dearer_invoice_needs_a_reason(desk: Desk) -> None:
    order = desk.arrived(100)
    price = float(order["lines"][0]["snapshot"]["unit_price"]) + 1
    made = desk.issue(order, desk.line(order, 1, 100, unit_price=f"{price:.2f}"))
    assert (made["status"], desk.results(made)) == ("mismatched", ["price_over"])

    refused = desk.act(made, "approve")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "override_reason")
    approved = desk.did(made, "approve", override_reason="Agreed by telephone")

    assert (approved["status"], approved["peppol_status"], approved["override_reason"]) == (
        "approved",
        "CA",
        "Agreed by telephone",
    )
    seen = desk.read(made, api=desk.supplier)
    assert (seen["status"], seen["override_reason"], seen["approved_by"]) == ("approved", None, None)
    assert "Agreed by telephone" not in str(seen)
    again = desk.act(made, "approve")
    assert (again.status_code, again.json()["code"], again.json()["from"]) == (409, "invalid_transition", "approved")
    assert desk.stored() == [("invoice", "approved")]


def test_credit_note_ends_a_dispute(desk: Desk) -> None:
    order = desk.arrived(100)
    price = float(order["lines"][0]["snapshot"]["unit_price"])
    made = desk.issue(order, desk.line(order, 1, 100, unit_price=f"{price + 1:.2f}"))
    disputed = desk.did(made, "dispute", reason_code="price", note="As ordered, please.")
    assert (disputed["status"], disputed["dispute"]["reason_code"]) == ("disputed", "price")

    note = desk.credit(order, made, desk.line(order, 1, 100, unit_price="1.00"))

    assert (note["type"], note["status"], note["balance_due"]) == ("credit_note", "issued", "0.00")
    read = desk.read(made)
    assert (read["status"], read["dispute"], read["credited_total"]) == ("matched", None, note["gross_total"])
    assert desk.billing(order)[2] == [100]
    assert [one[0] for one in desk.facts(desk.dock.shelf, made)][-2:] == ["invoice.dispute_resolved", "invoice.matched"]
    assert desk.stored() == [("invoice", "matched"), ("credit_note", "issued")]


def test_credit_note_takes_units_back(desk: Desk) -> None:
    order = desk.arrived(100)
    made = desk.issue(order, 100)

    desk.credit(order, made, 30)
    answer = desk.post(order, 71, type="credit_note", original_invoice_id=made["id"])

    assert (answer.status_code, answer.json()["code"]) == (409, "credit_exceeds_invoice")
    assert desk.billing(order)[2] == [70]
    desk.credit(order, made, 70)
    read = desk.read(made)
    assert (read["balance_due"], read["credited_total"]) == ("0.00", read["gross_total"])
    assert desk.billing(order)[2] == [0]


def test_rejected_and_withdrawn_invoices_may_be_issued_anew(desk: Desk) -> None:
    order = desk.arrived(60)
    first = desk.issue(order, 60)
    assert desk.did(first, "reject", reason="Another entity")["status"] == "rejected"
    second = desk.issue(order, 60)
    assert desk.did(second, "cancel", reason="Wrong date")["status"] == "cancelled"

    third = desk.issue(order, 60)

    assert third["status"] == "matched"
    assert desk.stored() == [("invoice", "rejected"), ("invoice", "cancelled"), ("invoice", "matched")]


def test_small_invoice_is_released_at_once(desk: Desk) -> None:
    desk.policies(invoice_auto_approve_limit="100000")
    order = desk.arrived(60)

    made = desk.issue(order, 60)

    assert made["status"] == "approved"
    assert [one[0] for one in desk.facts(desk.dock.buyer, made)] == [
        "invoice.issued",
        "invoice.matched",
        "invoice.approved",
    ]
    assert desk.stored() == [("invoice", "approved")]


def test_lists_of_both_sides(desk: Desk) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, 60)

    for api in (desk.clerk, desk.supplier):
        found = api.get(
            f"/v1/procurement/invoices?status=matched&from=2026-11-02&to=2026-11-03&search={made['invoice_number']}"
        )
        assert [one["id"] for one in found.json()["data"]] == [made["id"]], found.content
        assert api.get("/v1/procurement/invoices?to=2026-11-02").json()["data"] == []
    assert desk.supplier.get(f"/v1/procurement/invoices?supplier_id={desk.dock.shelf.id}").status_code == 400
