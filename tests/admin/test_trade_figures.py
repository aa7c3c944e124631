"""The page "Figures of trade": what the acting tenant has ordered or sold in twelve months, as charts with their tables."""

import re
from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any

import pytest

from core.clock import now
from tests import factories
from tests.admin.dispensary import cell_texts
from tests.admin.people import act_in, signed_in
from tests.suppliers.analytics.figures import metric
from tests.suppliers.invoices import bills
from tests.suppliers.invoices.bills import Desk

PAGE = "/admin/suppliers/figures/"


@pytest.fixture
def desk() -> Desk:
    """Return a supplier and a hospital with an order that came whole, and one that is open."""
    made = bills.desk()
    today = now().astimezone(UTC).date()
    order = made.arrived(100)
    made.issue(order, 60, issue_date=today.isoformat())
    made.issue(order, {**made.line(order, 1, 40), "unit_price": "999"}, issue_date=today.isoformat())
    return made


def text(browser: Any, query: str = "") -> str:
    answer = browser.get(f"{PAGE}{query}")
    assert answer.status_code == 200, answer.content[-2000:]
    found: str = answer.content.decode()
    return found


def shown(page: str, table: str) -> list[list[str]]:
    """Return the rows of a table in which there is something; a month may end while a test runs."""
    rows: list[list[str]] = cell_texts(page, table)
    assert len(rows) == 12
    return [one for one in rows if any(cell not in ("–", "0.00") for cell in one[1:])]


def heads(page: str, table: str) -> list[str]:
    found = re.search(rf'id="{table}">\s*<thead>(.*?)</thead>', page, re.DOTALL)
    assert found is not None
    return re.findall(r"<th[^>]*>([^<]*)</th>", found[1])


def test_a_buyer_sees_spend_by_supplier_and_how_it_went(desk: Desk) -> None:
    buyer, supplier = desk.dock.buyer, desk.dock.shelf
    browser = signed_in("supply")
    act_in(browser, buyer.tenant)
    page = text(browser)
    assert "Spend by supplier and month" in page
    assert heads(page, "spent-table") == ["Month", supplier.tenant.name]
    listed = desk.dock.trade.api.get("/v1/purchase-orders").json()["data"]
    total = sum(Decimal(one["totals"]["net"]) for one in listed)
    assert sum(Decimal(row[1]) for row in shown(page, "spent-table")) == total > 0
    assert [row[1] for row in shown(page, "matched-table")] == ["50.0 %"]
    assert [row[1] for row in shown(page, "hours-table")] == ["0.0 h"]
    assert page.count('role="img"') == page.count("<svg ") - page.count("<svg aria-hidden") >= 3


def test_a_supplier_sees_the_same_from_its_side(desk: Desk) -> None:
    buyer, supplier = desk.dock.buyer, desk.dock.shelf
    browser = signed_in("supply")
    act_in(browser, supplier.tenant)
    page = text(browser)
    assert "Ordered by buyer and month" in page
    assert heads(page, "spent-table") == ["Month", buyer.tenant.name]
    span = {
        "from": f"{now() - timedelta(days=40):%Y-%m-%d}",
        "to": f"{now() + timedelta(days=40):%Y-%m-%d}",
        "interval": "quarter",
    }
    values = metric(supplier.api, "orders_value", currency="EUR", **span)["buckets"]
    total = sum(Decimal(one["value"]["amount"]) for one in values)
    assert sum(Decimal(row[1]) for row in shown(page, "spent-table")) == total > 0
    assert [row[1] for row in shown(page, "matched-table")] == ["50.0 %"]
    assert [row[1] for row in shown(page, "hours-table")] == ["0.0 h"]


def test_only_rows_of_the_acting_tenant_are_counted(desk: Desk) -> None:
    browser = signed_in("supply")
    answer = browser.get(PAGE)
    assert answer.status_code == 302
    assert "acting-tenant" in answer["Location"]
    act_in(browser, factories.provision("provider"))
    page = text(browser)
    for words in ("Nothing was ordered.", "No line was due.", "No invoice was matched.", "No order was accepted."):
        assert words in page, words
    assert desk.dock.shelf.tenant.name not in page


def test_a_currency_that_is_not_there_is_not_shown(desk: Desk) -> None:
    browser = signed_in("supply")
    act_in(browser, desk.dock.buyer.tenant)
    page = text(browser, "?currency=%3Cscript%3E")
    assert "<script>EUR" not in page
    assert "The same as a table, in EUR" in page


def test_roles_without_the_area_do_not_open_it(desk: Desk) -> None:
    browser = signed_in("finance")
    act_in(browser, desk.dock.buyer.tenant)
    assert browser.get(PAGE).status_code == 403
