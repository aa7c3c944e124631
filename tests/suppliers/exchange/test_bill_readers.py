"""Who reads bills as documents: members with places, and the buyer of a supplier that is not on the platform."""

from typing import Any

import pytest

from tests import factories
from tests.procurement.purchasing.orders import submitted, ward
from tests.suppliers.exchange.bills import VATS, check_totals, settle
from tests.suppliers.exchange.network import ask, texts, tree_of
from tests.suppliers.invoices.bills import ISSUED, PATH, Desk

RESPONSE = "?document=invoice_response"


def test_member_with_places_reads_bills_of_these_alone(desk: Desk) -> None:
    made = desk.issue(desk.arrived(100), 100, due_date="2026-12-02")
    seen = {}
    for name, place in (("here", desk.dock.trade.ward), ("away", ward(desk.dock.buyer, "Ward 9"))):
        person, _ = factories.member(desk.dock.buyer.tenant, ["finance"], location_ids=[place])
        api = factories.Api(token=factories.bearer(person), tenant=desk.dock.buyer.tenant)
        answers = [ask(api, f"{PATH}/{made['id']}{query}") for query in ("", RESPONSE)]
        seen[name] = [one.status_code for one in (*answers, api.get(f"{PATH}/{made['id']}"))]

    assert seen == {"here": [200, 200, 200], "away": [404, 404, 404]}


def managed(desk: Desk, country: str) -> dict[str, Any]:
    """Record an invoice of a supplier that is not on the platform."""
    numbers = [{"scheme": "VAT", "value": VATS[country]}]
    body = {"legal_name": f"Bakery {factories.suffix()}", "country": country, "registrations": numbers}
    answer = desk.dock.trade.api.post("/v1/suppliers", json=body)
    assert answer.status_code == 201, answer.content
    line = {"description": "Bread rolls", "quantity": 40, "unit_price": "0.35", "tax_rate": "7"}
    order = submitted(desk.dock.trade, line, supplier_id=answer.json()["data"]["id"])
    given = desk.body(order, 40, purchase_order_id=order["id"], type="prepayment", due_date="2026-12-02")
    made = desk.clerk.post(PATH, json=given)
    assert made.status_code == 201, made.content
    found: dict[str, Any] = made.json()["data"]
    return found | {"supplier": body["legal_name"]}


def test_bill_of_a_managed_supplier_is_read_by_its_buyer(desk: Desk) -> None:
    made = managed(desk, "FR")

    root = tree_of(ask(desk.clerk, f"{PATH}/{made['id']}"))

    assert texts(root, "AccountingSupplierParty/Party/EndpointID") == [VATS["FR"]]
    assert texts(root, "AccountingSupplierParty/Party/PartyLegalEntity/RegistrationName") == [made["supplier"]]
    assert texts(root, "IssueDate") == [ISSUED]
    check_totals(root, made)
    answered = tree_of(ask(desk.clerk, f"{PATH}/{made['id']}{RESPONSE}"))
    assert texts(answered, "DocumentResponse/Response/ResponseCode") == [made["peppol_status"]]


@pytest.mark.parametrize("country", ["DE", "IT"])
def test_bill_of_a_managed_supplier_may_lack_what_its_country_asks_for(desk: Desk, country: str) -> None:
    made = managed(desk, country)
    settle(desk.dock.buyer.tenant, contact={})

    refused = ask(desk.clerk, f"{PATH}/{made['id']}")

    assert (refused.status_code, refused.json()["code"]) == (422, "document_incomplete")
    lacking = {one["field"].removeprefix("supplier.") for one in refused.json()["errors"]}
    asked = {"DE": {"contact.phone", "contact.email"}, "IT": {"address.lines"}}[country]
    assert lacking == asked | {"address.city", "address.postal_code"}
