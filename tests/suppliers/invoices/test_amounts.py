"""Totals in currencies of 0, 2, 3 and 4 decimals, by hand."""

from decimal import Decimal
from typing import Any

import pytest

from core.errors import InvalidFields
from suppliers.invoices.amounts import check_places, check_stated, line_net, totals
from suppliers.invoices.models import InvoiceLine


def _line(currency: str, **more: Any) -> InvoiceLine:
    given: dict[str, Any] = {
        "base_quantity": 3, "units_per_pack": 1, "unit_price": Decimal("3.333333"), "price_base_quantity": 1,
        "tax_category": "S", "tax_rate": Decimal(19),
    }  # fmt: skip
    line = InvoiceLine(**given | more)
    line.net = line_net(line, currency)
    return line


@pytest.mark.parametrize(
    ("currency", "net", "tax", "gross"),
    [
        ("JPY", "10", "2", "12"),
        ("EUR", "10.00", "1.90", "11.90"),
        ("KWD", "10.000", "1.900", "11.900"),
        ("CLF", "10.0000", "1.9000", "11.9000"),
    ],
)
def test_totals_have_the_decimals_of_the_currency(currency: str, net: str, tax: str, gross: str) -> None:
    made = totals([_line(currency)], [], [], currency)

    assert [f"{one:f}" for one in (made.net, made.tax or 0, made.gross)] == [net, tax, gross]


def test_charges_and_allowances_join_the_group_of_their_rate() -> None:
    entry = {"reason": "Freight", "tax_category": "S", "tax_rate": "19"}
    made = totals([_line("EUR")], [entry | {"amount": "5.00"}], [entry | {"amount": "1.00"}], "EUR")

    assert (made.net, made.tax, made.gross) == (Decimal("14.00"), Decimal("2.66"), Decimal("16.66"))
    with pytest.raises(InvalidFields):
        totals([_line("EUR")], [], [entry | {"amount": "10.01"}], "EUR")


def test_stated_totals_may_differ_by_two_hundredths() -> None:
    made = totals([_line("EUR")], [], [], "EUR")

    check_stated({"net": Decimal("10.02"), "tax": None, "gross": Decimal("11.88")}, made)
    with pytest.raises(InvalidFields):
        check_stated({"gross": Decimal("11.93")}, made)


def test_amounts_have_no_more_decimals_than_the_currency() -> None:
    assert check_places(Decimal("1.5"), "JPY", "x")
    assert not check_places(Decimal("1.500"), "EUR", "x")
