"""What is not invoiced, not credited and not released: each refusal with its code and its lines, and nothing changed."""

from typing import Any
from uuid import uuid4

import pytest

from tests import factories
from tests.procurement.purchasing.orders import price
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.invoices.bills import PATH, Desk
from tests.suppliers.orders.answers import answer as answered
from tests.suppliers.snapshots import everything


def faults(answer: Any, status: int, code: str) -> list[tuple[str, str]]:
    """Return the fields and codes of a refusal."""
    return [(one["field"], one["code"]) for one in refused(answer, status, code)["errors"]]


def kept(desk: Desk) -> list[Any]:
    """Return everything that both sides keep."""
    return everything(desk.dock.buyer, desk.dock.shelf)


WRONG: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "no lines": ({"lines": []}, [("lines", "min_length")]),
    "no number": ({"invoice_number": ""}, [("invoice_number", "blank")]),
    "long number": ({"invoice_number": "x" * 65}, [("invoice_number", "max_length")]),
    "type": ({"type": "proforma"}, [("type", "invalid_choice")]),
    "date": ({"issue_date": "soon"}, [("issue_date", "invalid")]),
    "due before": ({"due_date": "2026-11-01"}, [("due_date", "min_value")]),
    "no original": ({"type": "credit_note"}, [("original_invoice_id", "required")]),
    "an original": ({"original_invoice_id": str(uuid4())}, [("original_invoice_id", "invalid")]),
    "delivery": ({"delivery_ids": [str(uuid4())]}, [("delivery_ids.0", "unknown_delivery")]),
    "file": ({"file_ids": [str(uuid4())]}, [("file_ids.0", "unknown_file")]),
    "discount": ({"discount": {"percent": "101", "days": 1}}, [("discount.percent", "max_value")]),
    "charge": ({"charges": [{"amount": "1.234", "reason": "Freight", "tax_rate": "19"}]}, [("charges.0.amount", "max_decimal_places")]),
    "allowance": ({"allowances": [{"amount": "9999", "reason": "Bonus", "tax_rate": "19"}]}, [("allowances", "max_value")]),
    "stated": ({"stated_totals": {"net": "29.43"}}, [("stated_totals.net", "total_differs")]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_body_that_cannot_be(desk: Desk, name: str) -> None:
    changes, wrong = WRONG[name]
    order = desk.arrived(60)
    before = kept(desk)

    assert faults(desk.post(order, 60, **changes), 400, "validation_error") == wrong
    assert kept(desk) == before


LINES: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "order line": ({"order_line_id": str(uuid4())}, ("lines.0.order_line_id", "unknown_line")),
    "delivery line": ({"delivery_line_id": str(uuid4())}, ("lines.0.delivery_line_id", "unknown_line")),
    "nothing": ({"quantity": 0}, ("lines.0.quantity", "min_value")),
    "price": ({"unit_price": "-1"}, ("lines.0.unit_price", "min_value")),
    "base": ({"price_base_quantity": 0}, ("lines.0.price_base_quantity", "min_value")),
    "allowance": ({"allowance": "30"}, ("lines.0.allowance", "max_value")),
    "places": ({"allowance": "1.001"}, ("lines.0.allowance", "max_decimal_places")),
    "rate": ({"tax_rate": "101"}, ("lines.0.tax_rate", "max_value")),
    "unit": ({"unit": "pallet"}, ("lines.0.unit", "invalid_choice")),
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_cannot_be(desk: Desk, name: str) -> None:
    changes, wrong = LINES[name]
    order = desk.arrived(60)
    before = kept(desk)

    assert faults(desk.post(order, desk.line(order, 1, 60) | changes), 400, "validation_error") == [wrong]
    assert kept(desk) == before


@pytest.mark.parametrize("asked", ["0", "0.000001"])
def test_an_ordered_price_of_too_many_packs(desk: Desk, asked: str) -> None:
    shelf = desk.dock.shelf
    dear = shelf.product(name="Scanners")
    shelf.offer(dear, currency="EUR", tiers=price((1, "20000000")))
    shelf.stock(dear, 5)
    order = desk.ordered((dear, 1))
    before = kept(desk)

    answer = desk.post(order, desk.line(order, 1, 1, unit_price=asked, price_base_quantity=1_000_000))

    assert faults(answer, 400, "validation_error") == [("lines.0.price_base_quantity", "max_value")]
    assert kept(desk) == before


def test_all_lines_that_are_over_are_named_in_one_answer(desk: Desk) -> None:
    order = desk.ordered((desk.dock.vials, 10), (desk.dock.vials, 10))
    desk.ship(order, 30)
    before = kept(desk)

    answer = desk.post(order, desk.line(order, 1, 20), desk.line(order, 1, 11), desk.line(order, 2, 1))

    found = refused(answer, 409, "over_invoiced")["errors"]
    assert [(one["pointer"], one["remaining"]) for one in found] == [("/lines/1", 10), ("/lines/2", 0)]
    assert kept(desk) == before


def test_a_prepayment_goes_as_far_as_the_order(desk: Desk) -> None:
    order = desk.ordered()
    before = kept(desk)
    refused(desk.post(order, 1), 409, "over_invoiced")  # goods that nobody has shipped
    refused(desk.post(order, 101, type="prepayment"), 409, "over_invoiced")
    assert kept(desk) == before

    made = desk.issue(order, 100, type="prepayment")

    assert (made["type"], made["status"]) == ("prepayment", "matched")
    refused(desk.post(order, 1, type="prepayment"), 409, "over_invoiced")
    desk.ship(order, 100)
    refused(desk.post(order, 1), 409, "over_invoiced")  # what was paid before is not invoiced again
    assert desk.billing(order) == ("accepted", "invoiced", [100])
    desk.stored()


def test_services_go_as_far_as_the_order(desk: Desk) -> None:
    service = desk.dock.shelf.product(name="Training", kind="service")
    desk.dock.shelf.offer(service, currency="EUR", tiers=price((1, "50")))
    order = desk.ordered({"product_id": service["id"], "quantity": 3})
    refused(desk.post(order, 4), 409, "over_invoiced")

    made = desk.issue(order, 2)

    assert (made["status"], desk.results(made)) == ("matched", ["ok"])
    desk.issue(order, 1)
    assert desk.billing(order)[1:] == ("invoiced", [3])
    desk.stored()


def test_a_number_is_taken_once_by_its_supplier(desk: Desk) -> None:
    order = desk.arrived(60)
    first = desk.issue(order, 10, invoice_number="INV-7")
    before = kept(desk)

    refused(desk.post(order, 10, invoice_number="INV-7"), 409, "invoice_number_taken")
    note = {"type": "credit_note", "original_invoice_id": first["id"]}
    refused(desk.post(order, 5, invoice_number="INV-7", **note), 409, "invoice_number_taken")
    assert kept(desk) == before
    wrong = desk.post(order, desk.line(order, 1, 10, order_line_id=str(uuid4())), invoice_number="INV-7")
    refused(wrong, 400, "validation_error")  # what is wrong of itself comes first


@pytest.mark.parametrize("state", ["sent", "rejected", "draft"])
def test_only_accepted_orders_are_invoiced(desk: Desk, state: str) -> None:
    trade = desk.dock.trade
    order = trade.draft((desk.dock.vials, 10))
    if state != "draft":
        assert trade.api.post(f"/v1/purchase-orders/{order['id']}/submit", json={}).status_code == 200
    if state == "rejected":
        assert answered(trade, order["id"], "reject", reason_code="late").status_code == 200
    order = trade.read(order["id"])
    before = kept(desk)

    answer = desk.post(order, 10)

    if state == "draft":  # which nobody but its buyer knows
        refused(answer, 404, "not_found")
    else:
        found = refused(answer, 409, "invalid_transition")
        assert (found["from"], found["action"], found["allowed"]) == (state, "invoices", [])
    assert kept(desk) == before


def test_who_may_not_issue_or_record(desk: Desk) -> None:
    order = desk.arrived(60)
    own = desk.dock.shelf.tenant
    reader = factories.Api(key=factories.api_key(own, ["supplier_pricing"]), tenant=own)
    stranger, other = factories.as_member(shelves.buyer().tenant, ["finance"]), shelves.shelf().api
    others = [desk.clerk_of(role) for role in ("buyer", "approver", "receiving_clerk")]
    before = kept(desk)

    refused(desk.post(order, 10, api=desk.clerk), 403, "insufficient_scope")
    refused(desk.post(order, 10, api=other), 404, "not_found")
    refused(desk.post(order, 10, api=reader), 403, "insufficient_scope")
    body = desk.body(order, 10, purchase_order_id=order["id"])
    refused(desk.clerk.post(PATH, json=body), 403, "counterparty_only")
    refused(desk.supplier.post(PATH, json=body), 403, "insufficient_scope")
    assert faults(stranger.post(PATH, json=body), 400, "validation_error") == [("purchase_order_id", "unknown_order")]
    for api in others:
        refused(api.post(PATH, json=body), 403, "insufficient_scope")

    assert kept(desk) == before


def test_no_more_is_credited_than_was_invoiced(desk: Desk) -> None:
    order = desk.arrived(60)
    made, other = desk.issue(order, 40), desk.issue(order, 20)
    note = {"type": "credit_note", "original_invoice_id": made["id"]}
    before = kept(desk)

    found = refused(desk.post(order, 41, **note), 409, "credit_exceeds_invoice")["errors"]
    assert [(one["pointer"], one["remaining"]) for one in found] == [("/lines/0", 40)]
    refused(desk.post(order, 30, 11, **note), 409, "credit_exceeds_invoice")
    dear = desk.line(order, 1, 40, unit_price="5.00")  # no more than the price either
    refused(desk.post(order, dear, **note), 409, "credit_exceeds_invoice")
    freight = {"charges": [{"amount": "0.01", "reason": "Freight", "tax_rate": "0"}]}
    refused(desk.post(order, 40, **note, **freight), 409, "credit_exceeds_invoice")
    unknown = note | {"original_invoice_id": str(uuid4())}
    assert faults(desk.post(order, 1, **unknown), 400, "validation_error") == [
        ("original_invoice_id", "unknown_invoice")
    ]
    assert kept(desk) == before

    first = desk.credit(order, made, 10)
    of_note = note | {"original_invoice_id": first["id"]}
    assert faults(desk.post(order, 1, **of_note), 400, "validation_error") == [
        ("original_invoice_id", "unknown_invoice")
    ]
    desk.did(other, "reject", reason="No")
    found = refused(desk.post(order, 1, **(note | {"original_invoice_id": other["id"]})), 409, "invalid_transition")
    assert (found["from"], found["action"]) == ("rejected", "credit")
    desk.stored()


def test_a_mismatch_is_released_for_a_reason_alone(desk: Desk) -> None:
    order = desk.arrived(60)
    right, dear = desk.issue(order, 30), desk.issue(order, desk.line(order, 1, 30, unit_price="9"))
    others = [desk.clerk_of(role) for role in ("buyer", "approver")]
    before = kept(desk)

    for blank in ({}, {"override_reason": " "}, {"override_reason": None}):
        assert faults(desk.act(dear, "approve", **blank), 400, "validation_error") == [("override_reason", "required")]
    assert faults(desk.act(right, "approve", override_reason="x"), 400, "validation_error") == [
        ("override_reason", "invalid")
    ]
    for api in others:
        refused(desk.act(right, "approve", api=api), 403, "insufficient_scope")

    assert kept(desk) == before
    assert desk.did(dear, "approve", override_reason="Agreed")["peppol_status"] == "CA"


@pytest.mark.parametrize("given", [{"blocks": ["invoices"]}, {"status": "blocked"}, {"blocks": ["orders", "payments"]}])
def test_a_relationship_stops_releases(desk: Desk, given: dict[str, Any]) -> None:
    desk.policies(invoice_auto_approve_limit="100000")
    order = desk.arrived(60)
    path = f"/v1/suppliers/{desk.dock.shelf.id}/relationship"
    put = desk.dock.buyer.api.put(path, json={"status": "active"} | given)
    assert put.status_code in (200, 201), put.content

    made = desk.issue(order, 60)

    if given == {"blocks": ["orders", "payments"]}:
        assert made["status"] == "approved"
        return
    assert made["status"] == "matched"  # nor does it happen by itself
    before = kept(desk)
    refused(desk.act(made, "approve"), 409, "relationship_blocked")
    assert kept(desk) == before
    assert desk.did(made, "dispute", reason_code="terms")["status"] == "disputed"  # what keeps money back goes on


def test_one_key_issues_one_invoice(desk: Desk) -> None:
    order = desk.arrived(60)
    body = desk.body(order, 10)
    path, header = f"/v1/orders/{order['id']}/invoices", {"Idempotency-Key": "invoice-1"}

    answers = [desk.supplier.post(path, json=body, headers=header) for _ in range(2)]

    assert [one.status_code for one in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert answers[0].headers["Location"] == f"{PATH}/{answers[0].json()['data']['id']}"
    other = desk.supplier.post(path, json=body | {"invoice_number": "INV-8"}, headers=header)
    refused(other, 422, "idempotency_key_reused")
    assert desk.billing(order)[2] == [10]
    made = answers[0].json()["data"]
    approved = [
        desk.approver.post(f"{PATH}/{made['id']}/approve", json={}, headers={"Idempotency-Key": "release"})
        for _ in "ab"
    ]
    assert [one.json()["data"]["status"] for one in approved] == ["approved"] * 2
    assert [one[0] for one in desk.facts(desk.dock.shelf, made)].count("invoice.approved") == 1


def test_versions_of_each_side_are_compared(desk: Desk) -> None:
    made = desk.issue(desk.arrived(60), 60)
    for api, action in ((desk.clerk, "dispute"), (desk.supplier, "cancel")):
        body = {"reason_code": "price"} if action == "dispute" else {"reason": "No"}
        stale = api.post(f"{PATH}/{made['id']}/{action}", json=body, headers={"If-Match": '"99"'})
        refused(stale, 409, "version_conflict")
        tag = api.get(f"{PATH}/{made['id']}").headers["ETag"]
        fresh = api.post(f"{PATH}/{made['id']}/{action}", json=body, headers={"If-Match": tag})
        assert fresh.status_code == 200, fresh.content


DISPUTES: dict[str, dict[str, Any]] = {
    "nothing": {}, "code": {"reason_code": "mood"}, "withdrawn for a reason": {"withdraw": True, "reason_code": "price"},
    "note": {"reason_code": "price", "note": "x" * 2001},
}  # fmt: skip


@pytest.mark.parametrize("name", DISPUTES)
def test_a_dispute_that_cannot_be(desk: Desk, name: str) -> None:
    made = desk.issue(desk.arrived(60), 60)
    before = kept(desk)
    refused(desk.act(made, "dispute", **DISPUTES[name]), 400, "validation_error")
    refused(desk.act(made, "reject"), 400, "validation_error")
    refused(desk.act(made, "cancel", reason=""), 400, "validation_error")
    assert kept(desk) == before
