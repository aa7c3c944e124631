"""Responses to invoices as UBL: the code that JSON has in each state, with reasons that both parties may read."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.suppliers.exchange.bills import content, document
from tests.suppliers.exchange.network import BUYER_GLN, SUPPLIER_GLN, ask, texts
from tests.suppliers.invoices.bills import ISSUED, PATH, Desk

RESPONSE = "?document=invoice_response"
PAYMENTS = "/v1/procurement/payments"
SECRET = "qxoverride"  # what the buyer alone reads


def dearer(desk: Desk) -> dict[str, Any]:
    """Return an invoice at another price than ordered."""
    order = desk.arrived(100)
    return desk.issue(order, desk.line(order, 1, 100, unit_price="99.00"))


def overridden(desk: Desk) -> dict[str, Any]:
    """Return an invoice that was released although it is too dear."""
    made = dearer(desk)
    desk.did(made, "approve", override_reason=SECRET)
    return made


def acted(action: str, **body: Any) -> Callable[[Desk], dict[str, Any]]:
    """Return a way to an invoice that matches, with which something was done."""

    def made(desk: Desk) -> dict[str, Any]:
        found = desk.issue(desk.arrived(100), 100)
        desk.did(found, action, **body)
        return found

    return made


def paid(desk: Desk, share: str = "") -> dict[str, Any]:
    """Return an invoice that was paid, or so much of it."""
    made = acted("approve")(desk)
    amount = share or made["gross_total"]
    body = {
        "supplier_id": str(desk.dock.shelf.id), "currency": "EUR", "amount": amount,
        "allocations": [{"invoice_id": made["id"], "amount": amount}],
    }  # fmt: skip
    payment = desk.clerk.post(PAYMENTS, json=body)
    assert payment.status_code == 201, payment.content
    done = desk.clerk.post(f"{PAYMENTS}/{payment.json()['data']['id']}/confirm", json={"status": "succeeded"})
    assert done.status_code == 200, done.content
    return made


WAYS: dict[str, tuple[Callable[[Desk], dict[str, Any]], str, list[str], list[str]]] = {
    "matched": (lambda desk: desk.issue(desk.arrived(100), 100), "AB", [], []),
    "mismatched": (dearer, "IP", [], []),
    "disputed": (acted("dispute", reason_code="price", note="4.55 < 4.90"), "UQ", ["PRI"], ["4.55 < 4.90"]),
    "disputed twice": (acted("dispute", reason_code="duplicate"), "UQ", ["OTH"], ["It was invoiced before"]),
    "overridden": (overridden, "CA", ["PRI"], ["Dearer than ordered"]),
    "approved": (acted("approve"), "AP", [], []),
    "rejected": (acted("reject", reason="Another entity"), "RE", ["OTH"], ["Another entity"]),
    "partly paid": (lambda desk: paid(desk, "1.00"), "AP", [], []),
    "paid": (paid, "PD", [], []),
}


@pytest.mark.parametrize("way", WAYS)
def test_response_says_how_far_the_buyer_is(desk: Desk, way: str) -> None:
    make, code, reasons, words = WAYS[way]
    made = make(desk)

    root = document(desk, made, RESPONSE)

    assert desk.read(made)["peppol_status"] == code
    response = "DocumentResponse/Response"
    assert texts(root, f"{response}/ResponseCode") == [code]
    assert texts(root, f"{response}/Status/StatusReasonCode") == reasons
    assert texts(root, f"{response}/Status/StatusReason") == words
    assert texts(root, "SenderParty/EndpointID") == [BUYER_GLN]
    assert texts(root, "ReceiverParty/EndpointID") == [SUPPLIER_GLN]
    assert texts(root, "DocumentResponse/DocumentReference/ID") == [made["invoice_number"]]
    assert texts(root, "DocumentResponse/DocumentReference/IssueDate") == [ISSUED]
    (day,) = texts(root, "IssueDate")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", day or "")
    assert SECRET.encode() not in content(desk, made, RESPONSE)


def test_each_answer_has_a_number_of_its_own(desk: Desk) -> None:
    made = desk.issue(desk.arrived(100), 100)
    before = texts(document(desk, made, RESPONSE), "ID")
    desk.did(made, "dispute", reason_code="quantity")
    between = texts(document(desk, made, RESPONSE), "ID")

    assert before != between
    assert desk.did(made, "dispute", withdraw=True)["status"] == "matched"
    assert texts(document(desk, made, RESPONSE), "ID") == before


def test_withdrawn_invoice_has_no_response(desk: Desk) -> None:
    made = acted("cancel", reason="Wrong date")(desk)

    for api in (desk.clerk, desk.supplier):
        refused = ask(api, f"{PATH}/{made['id']}{RESPONSE}")
        assert (refused.status_code, refused.json()["code"]) == (409, "invalid_transition")
        assert (refused.json()["from"], refused.json()["action"]) == ("cancelled", "invoice_response")


def test_response_needs_addresses_alone(desk: Desk) -> None:
    made = desk.issue(desk.arrived(100), 100)  # without a day on which it is due, which its invoice would need
    assert texts(document(desk, made, RESPONSE), "DocumentResponse/Response/ResponseCode") == ["AB"]
    desk.supplier.patch("/v1/suppliers/me", json={"registrations": []})

    refused = ask(desk.clerk, f"{PATH}/{made['id']}{RESPONSE}")

    assert (refused.status_code, refused.json()["code"]) == (422, "document_incomplete")
    assert [one["field"] for one in refused.json()["errors"]] == ["supplier.endpoint"]
