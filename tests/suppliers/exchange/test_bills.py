"""Invoices and credit notes as UBL: as they were issued, the same for both parties, complete or refused."""

from typing import Any

import pytest

from tests import factories
from tests.procurement.purchasing.orders import price, submitted
from tests.suppliers.company.profiles import patched
from tests.suppliers.exchange.bills import IBAN, check_totals, content, document, settle
from tests.suppliers.exchange.network import BUYER_GLN, SUPPLIER_GLN, XML, ask, texts
from tests.suppliers.invoices.bills import ISSUED, PATH, Desk
from tests.suppliers.orders.answers import accepted

FREIGHT = {"amount": "12.5", "reason": "Freight <cold>", "tax_category": "S", "tax_rate": "19"}
BONUS = {"amount": "2.500", "reason": "Bonus", "tax_category": "reduced", "tax_rate": "19.00"}


def test_invoice_names_parties_references_lines_and_totals(desk: Desk) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 100)
    desk.receive(delivery, 100)
    lines = [desk.line(order, 1, 60, allowance="1.25"), desk.line(order, 1, 40, tax_category="reduced")]
    made = desk.issue(
        order, *lines, charges=[FREIGHT], allowances=[BONUS], delivery_ids=[str(delivery)], due_date="2026-12-02",
        discount={"percent": "2.50", "days": 10},
    )  # fmt: skip

    root = document(desk, made)

    assert texts(root, "ID") == [made["invoice_number"]]
    assert texts(root, "InvoiceTypeCode") == ["380"]
    assert (texts(root, "IssueDate"), texts(root, "DueDate")) == ([ISSUED], ["2026-12-02"])
    assert texts(root, "AccountingSupplierParty/Party/EndpointID") == [SUPPLIER_GLN]
    assert texts(root, "AccountingSupplierParty/Party/PartyTaxScheme/CompanyID") == ["DE136695976"]
    assert texts(root, "AccountingSupplierParty/Party/PostalAddress/Country/IdentificationCode") == ["DE"]
    assert texts(root, "AccountingSupplierParty/Party/PartyLegalEntity/RegistrationName") == [
        "Nordic Medical & Söhne GmbH"
    ]
    assert texts(root, "AccountingCustomerParty/Party/EndpointID") == [BUYER_GLN]
    assert texts(root, "AccountingCustomerParty/Party/PostalAddress/StreetName") == ["1 North Street"]
    assert texts(root, "OrderReference/ID") == texts(root, "BuyerReference") == [order["po_number"]]
    assert texts(root, "DespatchDocumentReference/ID") == [desk.dock.delivery(delivery).number]
    assert texts(root, "InvoiceLine/OrderLineReference/LineID") == ["1", "1"]
    assert texts(root, "InvoiceLine/InvoicedQuantity") == ["60", "40"]
    assert texts(root, "InvoiceLine/AllowanceCharge/Amount") == ["1.25"]
    assert texts(root, "AllowanceCharge/Amount") == ["2.50", "12.50"]
    assert texts(root, "AllowanceCharge/AllowanceChargeReason") == ["Bonus", "Freight <cold>"]
    assert texts(root, "PaymentMeans/PaymentID") == [made["invoice_number"]]
    assert texts(root, "PaymentTerms/Note") == ["2.5 % off within 10 days of the date of issue"]
    # Two of the supplier's own categories are one of VAT: one sum, with the tax of both.
    assert texts(root, "TaxTotal/TaxSubtotal/TaxCategory/ID") == ["S"]
    check_totals(root, made)


@pytest.mark.parametrize(
    ("currency", "unit_price", "places"),
    [("JPY", "333", 0), ("EUR", "0.333", 2), ("BHD", "0.333", 3), ("CLF", "0.0333", 4)],
)
def test_totals_are_those_of_the_invoice_in_every_exponent(
    desk: Desk, currency: str, unit_price: str, places: int
) -> None:
    made = billed_in(desk, currency, unit_price)

    root = document(desk, made)

    check_totals(root, made)
    whole, _, decimals = made["gross_total"].partition(".")
    assert (len(decimals), int(whole) >= 0) == (places, True)
    note = desk.credit({"id": made["purchase_order_id"], "lines": made["order_lines"]}, made, 2)
    check_totals(document(desk, note), note, "CreditNoteLine")


def billed_in(desk: Desk, currency: str, unit_price: str) -> dict[str, Any]:
    """Order, ship and bill seven pieces of gauze in a currency, with freight; return the invoice, with the order's lines."""
    gauze = desk.dock.shelf.product(name="Gauze", tax_category="S")
    desk.dock.shelf.stock(gauze, 100)
    desk.dock.shelf.offer(gauze, currency=currency, tiers=price((1, unit_price)))
    sent = submitted(desk.dock.trade, (gauze, 7), currency=currency)
    accepted(desk.dock.trade, sent["id"])
    order = desk.dock.trade.read(sent["id"])
    desk.dock.ship(order, {"units": 7})
    return desk.issue(order, 7, due_date="2026-12-02", charges=[FREIGHT | {"amount": "5"}]) | {
        "order_lines": order["lines"]
    }


def test_credit_note_names_its_invoice(desk: Desk) -> None:
    order = desk.arrived(100)
    made = desk.issue(order, 100, due_date="2026-12-02")
    before = content(desk, made)
    note = desk.credit(order, made, 30)

    root = document(desk, note)

    assert texts(root, "CreditNoteTypeCode") == ["381"]
    assert texts(root, "BillingReference/InvoiceDocumentReference/ID") == [made["invoice_number"]]
    assert texts(root, "BillingReference/InvoiceDocumentReference/IssueDate") == [ISSUED]
    assert texts(root, "CreditNoteLine/CreditedQuantity") == ["30"]
    check_totals(root, note, "CreditNoteLine")
    assert content(desk, note, "?document=credit_note") == content(desk, note)
    assert content(desk, made) == before  # an invoice says what was issued, whatever is credited or paid


def test_document_of_another_kind_is_refused(desk: Desk) -> None:
    order = desk.arrived(100)
    made = desk.issue(order, 100, due_date="2026-12-02")
    note = desk.credit(order, made, 30)

    assert content(desk, made, "?document=invoice") == content(desk, made)
    for of, query, status, code in (
        (made, "?document=credit_note", 400, "validation_error"),
        (note, "?document=invoice", 400, "validation_error"),
        (made, "?document=order", 400, "validation_error"),
        (made, "?fields=id", 400, "unknown_parameter"),
        (made, "?include=lines", 400, "unknown_parameter"),
        (made, "?lines_page=2", 400, "unknown_parameter"),
        (note, "?document=invoice_response", 409, "invalid_transition"),
    ):
        for api in (desk.clerk, desk.supplier):
            refused = ask(api, f"{PATH}/{of['id']}{query}")
            assert (refused.status_code, refused.json()["code"]) == (status, code), query
    assert desk.clerk.get(f"{PATH}/{made['id']}?document=invoice").status_code == 400
    assert ask(desk.clerk, f"{PATH}/{made['id']}", "image/png").status_code == 406


def test_document_is_read_as_json_is(desk: Desk) -> None:
    made = desk.issue(desk.arrived(100), 100, due_date="2026-12-02")
    path = f"{PATH}/{made['id']}"
    stranger = factories.as_member(factories.provision("provider"), ["finance"])
    other = factories.as_member(desk.dock.buyer.tenant, ["clinic_receptionist"])

    assert (ask(stranger, path).status_code, ask(stranger, path).json()["code"]) == (404, "not_found")
    refused = ask(other, path)
    assert (refused.status_code, refused.json()["code"]) == (403, other.get(path).json()["code"])
    first = ask(desk.clerk, path)
    again = desk.clerk.get(path, headers={"Accept": XML, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    plain = desk.clerk.get(path, headers={"Accept": "application/xml;q=0.5, application/json"})
    assert (plain.headers["Content-Type"], plain.json()["data"]["id"]) == ("application/json", made["id"])
    assert "Accept" in first.headers["Vary"]
    changed = desk.clerk.post(
        f"{path}/dispute", json={"reason_code": "price"}, headers={"If-Match": first.headers["ETag"]}
    )
    assert changed.status_code == 200, changed.content


def test_no_account_is_told(desk: Desk) -> None:
    made = desk.issue(desk.arrived(100), 100, due_date="2026-12-02")

    found = content(desk, made)

    assert [one for one in (IBAN.encode(), b"COBADEFFXXX") if one in found] == []
    assert b"PayeeFinancialAccount" not in found


def test_what_is_lacking_is_named_all_at_once(desk: Desk) -> None:
    order = desk.arrived(100)
    due = desk.issue(order, 40, due_date="2026-12-02")
    undue = desk.issue(order, desk.line(order, 1, 60, tax_category="intra", tax_rate="0"))
    settle(desk.dock.shelf.tenant, address={}, contact={"phone": "1"})
    settle(desk.dock.buyer.tenant, identifiers=[])
    patched(desk.supplier, registrations=[])

    assert missing(desk, due) == [
        "supplier.endpoint", "buyer.endpoint", "supplier.vat", "supplier.address.city", "supplier.address.postal_code",
        "supplier.contact.email",
    ]  # fmt: skip
    assert missing(desk, undue) == [
        "supplier.endpoint", "buyer.endpoint", "supplier.vat", "buyer.vat", "supplier.address.city",
        "supplier.address.postal_code", "supplier.contact.email", "due_date", "delivery_ids",
    ]  # fmt: skip


def missing(desk: Desk, invoice: dict[str, Any]) -> list[str]:
    """Return what an invoice lacks, which both parties are told alike."""
    answers = [ask(one, f"{PATH}/{invoice['id']}") for one in (desk.clerk, desk.supplier)]
    assert {(one.status_code, one.json()["code"]) for one in answers} == {(422, "document_incomplete")}
    own, other = ([entry["field"] for entry in one.json()["errors"]] for one in answers)
    assert own == other
    return list(own)


def test_line_without_a_rate_is_named(desk: Desk) -> None:
    patched(desk.supplier, tax_rates=[])
    order = desk.arrived(100)
    made = desk.issue(order, desk.line(order, 1, 10, tax_rate="19"), 90, due_date="2026-12-02")
    assert made["tax_total"] is None

    assert missing(desk, made) == ["lines.1.tax_rate"]


def test_supplier_of_greece_bills_elsewhere(desk: Desk) -> None:
    made = desk.issue(desk.arrived(100), 100, due_date="2026-12-02")
    patched(desk.supplier, country="GR")

    assert missing(desk, made) == ["mark"]
