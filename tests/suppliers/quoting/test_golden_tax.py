"""The golden table of tax: the totals of quotes, and the oracle, give what each row says."""

from collections import defaultdict
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suppliers.quoting.totals import Net, totals_of
from tests.suppliers.pricing import golden, oracle

ROWS = list(golden.cells_of(golden.FOLDER / "4-tax.md"))
ONE, TWO = UUID(int=1), UUID(int=2)


def lines_of(text, supplier=ONE):
    """Return the lines of a row."""
    for one in text.split(";"):
        amount, category, rate = one.split()[-3:]
        times = int(one.split("x")[0]) if "x" in one else 1
        yield from [Net(supplier, Decimal(amount), category, None if rate == "-" else rate)] * times


def amounts(totals):
    return totals["net"], totals["tax"], totals["gross"]


@pytest.mark.parametrize(("number", "cells"), ROWS, ids=[f"4-tax:{number}" for number, _ in ROWS])
def test_totals_are_what_the_golden_table_says(number, cells):
    _, currency, lines, net, tax, gross = cells
    wanted = (net, None if tax == "none" else tax, gross)
    given_lines = [*lines_of(lines)]
    for turned in (given_lines, given_lines[::-1]):
        (found,) = totals_of(turned, currency)
        assert amounts(found) == wanted


@pytest.mark.parametrize(("number", "cells"), ROWS, ids=[f"4-tax:{number}" for number, _ in ROWS])
def test_suppliers_are_taxed_by_themselves(number, cells):
    _, currency, lines, net, tax, gross = cells
    both = [*lines_of(lines), *lines_of(lines, TWO)]
    found = totals_of(both, currency)
    assert [one["supplier_id"] for one in found] == [ONE, TWO]
    assert [amounts(one) for one in found] == [(net, None if tax == "none" else tax, gross)] * 2


@st.composite
def taxed(draw):
    """Return a currency and lines with rates."""
    currency = draw(st.sampled_from(list(oracle.EXPONENTS)))
    amount = st.integers(0, 10 ** draw(st.sampled_from([2, 6, 20]))).map(
        lambda whole: Decimal(f"{whole}E-{oracle.EXPONENTS[currency]}")
    )
    rate = st.sampled_from(["0", "5", "7", "8.875", "19", "19.0", "25"])
    line = st.builds(Net, st.just(ONE), amount, st.sampled_from(["S", "AA"]), rate)
    return currency, draw(st.lists(line, min_size=1, max_size=8))


@given(taxed())
def test_totals_are_those_of_fractions(given_lines):
    currency, lines = given_lines
    groups = defaultdict(Decimal)
    for line in lines:
        groups[line.tax_category, Decimal(line.rate)] += line.amount
    net, tax, gross = oracle.vat([(amount, rate) for (_, rate), amount in groups.items()], currency)
    (found,) = totals_of(lines, currency)
    assert amounts(found) == (f"{net:f}", f"{tax:f}", f"{gross:f}")
    assert sum(Decimal(group["net"]) for group in found["taxes"]) == net
    assert sum(Decimal(group["tax"]) for group in found["taxes"]) == tax
