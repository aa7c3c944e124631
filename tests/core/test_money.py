"""Exponents of ISO 4217, and what is no active currency."""

from decimal import Decimal

import pytest
from django.db import connection

from core.money import Money, UnknownCurrency, is_currency, minor_units, minor_units_sql

EXPONENTS = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: "AUD CAD CHF CNY DKK EUR GBP HUF INR MGA MRU NOK PLN SEK USD XCG ZWG",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_exponent_is_that_of_the_standard(exponent: int) -> None:
    assert {code: minor_units(code) for code in EXPONENTS[exponent].split()} == dict.fromkeys(
        EXPONENTS[exponent].split(), exponent
    )


def test_sql_knows_the_same_exponents() -> None:
    expected = {code: places for places, codes in EXPONENTS.items() for code in codes.split()}
    sql = f"SELECT c, {minor_units_sql('c')} FROM unnest(%s::text[]) AS given(c)"

    with connection.cursor() as cursor:
        cursor.execute(sql, [list(expected)])
        assert dict(cursor.fetchall()) == expected


@pytest.mark.parametrize(
    "code", ["DEM", "HRK", "BGN", "ANG", "SLL", "ZWL", "XXX", "XTS", "XAU", "XDR", "eur", "EURO", "E", "", "€"]
)
def test_what_is_no_active_currency_is_refused(code: str) -> None:
    assert not is_currency(code)
    with pytest.raises(UnknownCurrency):
        minor_units(code)
    with pytest.raises(UnknownCurrency):
        Money(Decimal("1.005"), code).rounded()


@pytest.mark.parametrize(
    ("amount", "currency", "rounded"),
    [
        ("2.5", "JPY", "3"),
        ("12.345", "EUR", "12.35"),
        ("-12.345", "EUR", "-12.35"),
        ("1.0005", "KWD", "1.001"),
        ("1.00005", "CLF", "1.0001"),
        ("7", "USD", "7.00"),
    ],
)
def test_amount_is_rounded_half_up_to_the_smallest_unit(amount: str, currency: str, rounded: str) -> None:
    assert Money(Decimal(amount), currency).rounded().as_json() == {"amount": rounded, "currency": currency}


def test_sums_of_many_digits_are_rounded() -> None:
    amount = Decimal("205999999999999794000000000000.005")
    assert Money(amount, "EUR").rounded().as_json() == {
        "amount": "205999999999999794000000000000.01",
        "currency": "EUR",
    }
