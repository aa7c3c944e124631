"""Invoices, credit notes and responses by the published rules: EN 16931, Peppol BIS Billing 3 and Invoice Response 3."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.suppliers.exchange.bills import buyer, document, seller
from tests.suppliers.exchange.network import ask, kept, texts
from tests.suppliers.exchange.published_rules import findings
from tests.suppliers.exchange.test_bills import BONUS, FREIGHT, billed_in
from tests.suppliers.exchange.test_responses import RESPONSE, WAYS
from tests.suppliers.invoices.bills import PATH, Desk

INVOICE, NOTE, ANSWER = "invoice", "creditnote", "invoice-message-response"
DUE = "2026-12-02"
# Amounts of more than two decimals, which the profile does not know, and sums that it rounds to two (decision 116).
DECIMALS = ("BR-DEC-", "UBL-DT-01", "BR-CO-1", "BR-S-08")


def against(desk: Desk, folder: Path, *documents: tuple[str, dict[str, Any]], query: str = "") -> Sequence[str]:
    """Return what the published rules say against documents, as the buyer reads them."""
    answers = [(kind, ask(desk.clerk, f"{PATH}/{one['id']}{query}")) for kind, one in documents]
    assert {one.status_code for _, one in answers} == {200}, [one.content for _, one in answers]
    return findings(*kept(folder, *answers))


def test_bills_hold_to_the_rules(desk: Desk, tmp_path: Path) -> None:
    order = desk.ordered()
    delivery = desk.ship(order, 100)
    desk.receive(delivery, 100)
    plain = desk.issue(order, 40, due_date=DUE)
    full = desk.issue(
        order, desk.line(order, 1, 33, allowance="1.25"), desk.line(order, 1, 10, tax_category="reduced"),
        desk.line(order, 1, 3, tax_category="zero", tax_rate="0"),
        due_date=DUE, discount={"percent": "2", "days": 10}, charges=[FREIGHT], allowances=[BONUS],
        delivery_ids=[str(delivery)],
    )  # fmt: skip
    units = desk.credit(order, plain, 30)
    part = desk.credit(order, plain, desk.line(order, 1, 10, unit_price="1.00"), charges=[FREIGHT | {"amount": "0.50"}])
    rest = desk.credit(order, full, desk.line(order, 1, 33))

    found = against(desk, tmp_path, (INVOICE, plain), (INVOICE, full), (NOTE, units), (NOTE, part), (NOTE, rest))

    assert found == []


def test_prepayment_holds_to_the_rules(desk: Desk, tmp_path: Path) -> None:
    made = desk.issue(desk.ordered(), 100, type="prepayment", due_date=DUE)
    assert texts(document(desk, made), "InvoiceTypeCode") == ["386"]

    found = against(desk, tmp_path, (INVOICE, made))

    assert [one for one in found if "DE-R-017" not in one] == []  # a warning: the code is unusual in Germany


@pytest.mark.parametrize("category", ["exempt", "reverse", "export", "intra", "outside", "zero"])
def test_what_has_no_tax_holds_to_the_rules(desk: Desk, tmp_path: Path, category: str) -> None:
    seller(desk, "FR")
    buyer(desk, "DE")
    order = desk.ordered()
    delivery = desk.ship(order, 100)
    free = {"tax_category": category, "tax_rate": "0"}
    made = desk.issue(
        order, desk.line(order, 1, 90, **free), charges=[FREIGHT | free], due_date=DUE, delivery_ids=[str(delivery)]
    )
    note = desk.credit(order, made, desk.line(order, 1, 20, **free), delivery_ids=[str(delivery)])

    assert against(desk, tmp_path, (INVOICE, made), (NOTE, note)) == []


@pytest.mark.parametrize("country", ["AT", "DK", "IT", "NL", "NO", "SE"])
def test_bills_hold_to_the_rules_of_countries(desk: Desk, tmp_path: Path, country: str) -> None:
    seller(desk, country)
    buyer(desk, country)
    order = desk.arrived(100)
    rate = {"tax_rate": "25"}
    made = desk.issue(order, desk.line(order, 1, 100, **rate), due_date=DUE)
    note = desk.credit(order, made, desk.line(order, 1, 20, **rate))

    found = against(desk, tmp_path, (INVOICE, made), (NOTE, note))

    assert [one for one in found if "NO-R-002" not in one] == []  # a warning: a word that not every supplier needs


@pytest.mark.parametrize(("currency", "unit_price"), [("JPY", "333"), ("BHD", "0.333"), ("CLF", "0.0333")])
def test_bills_hold_to_the_rules_in_every_exponent(desk: Desk, tmp_path: Path, currency: str, unit_price: str) -> None:
    made = billed_in(desk, currency, unit_price)

    found = against(desk, tmp_path, (INVOICE, made))

    tolerated = () if currency == "JPY" else DECIMALS
    assert [one for one in found if not any(f"[{rule}" in one for rule in tolerated)] == []


def test_responses_hold_to_the_rules(desk: Desk, tmp_path: Path) -> None:
    made = [(ANSWER, make(desk)) for make, *_ in WAYS.values()]

    assert against(desk, tmp_path, *made, query=RESPONSE) == []


def test_rules_find_what_is_wrong(desk: Desk, tmp_path: Path) -> None:
    """The rules are asked at all: a total that is not the sum is found."""
    made = desk.issue(desk.arrived(100), 100, due_date=DUE)
    answer = ask(desk.clerk, f"{PATH}/{made['id']}")
    file = tmp_path / "wrong.xml"
    right = f">{made['gross_total']}</cbc:PayableAmount>".encode()
    assert right in answer.content
    file.write_bytes(answer.content.replace(right, b">1.00</cbc:PayableAmount>"))

    assert any("BR-CO-16" in one for one in findings(INVOICE, str(file)))
