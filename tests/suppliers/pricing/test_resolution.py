"""Which price holds, among given ones: the order of precedence, tiers, currencies, and the trace."""

from decimal import Decimal
from uuid import UUID

import pytest

from suppliers.pricing.resolution import Candidate, Source, currencies_of, resolve_price, shown

OFFER = Candidate(Source.OFFER, str(UUID(int=1)), 3, "EUR", 1, [(1, Decimal("5.00")), (10, Decimal("4.5"))])
OLD = Candidate(Source.LIST_PRICE, str(UUID(int=2)), 1, "EUR", 1, [(1, Decimal("6.00"))], "2026-01-01")
NEW = Candidate(Source.LIST_PRICE, str(UUID(int=3)), 1, "EUR", 10, [(5, Decimal(55))], "2026-02-01")
CROWNS = Candidate(Source.LIST_PRICE, str(UUID(int=4)), 1, "NOK", 1, [(1, Decimal(60))], "2026-01-01")


@pytest.mark.parametrize(
    ("candidates", "quantity", "currency", "source", "price"),
    [
        ([OLD, OFFER], 1, "EUR", 1, "5.00"), ([OLD, OFFER], 9, "EUR", 1, "5.00"), ([OLD, OFFER], 10, "EUR", 1, "4.50"),
        ([OLD, NEW], 5, "EUR", 3, "55.00"), ([OLD, NEW], 4, "EUR", 2, "6.00"), ([OFFER, CROWNS], 1, "NOK", 4, "60.00"),
        ([OFFER._replace(tiers=[(2, Decimal(1))]), OLD], 1, "EUR", 2, "6.00"),
        ([OLD, OLD._replace(id=str(UUID(int=9)), tiers=[(1, Decimal(5))])], 1, "EUR", 9, "5.00"),
        ([OLD, OLD._replace(id=str(UUID(int=9)))], 1, "EUR", 2, "6.00"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turn", [1, -1])
def test_first_that_fits_holds_in_whatever_order_they_come(candidates, quantity, currency, source, price, turn):
    found = resolve_price(candidates[::turn], quantity, currency)
    assert found is not None
    assert (found.source_id, shown(found.unit_price)) == (str(UUID(int=source)), price)


def test_trace_says_why_the_others_do_not_hold():
    found = resolve_price([OLD, CROWNS, NEW, OFFER], 1, "EUR")
    assert found is not None
    assert [(one["step"], UUID(one["source_id"]).int, one["matched"], one["reason"]) for one in found.trace] == [
        (1, 1, True, None), (2, 3, False, "below_min_quantity"), (3, 2, False, "lower_precedence"),
        (4, 4, False, "other_currency"),
    ]  # fmt: skip
    assert [one["unit_price"] for one in found.trace] == ["5.00", None, "6.00", "60.00"]


@pytest.mark.parametrize("candidates", [[], [CROWNS], [NEW]])
def test_nothing_fits(candidates):
    assert resolve_price(candidates, 1, "EUR") is None


def test_currencies_begin_with_the_preferred_one():
    assert [*currencies_of([CROWNS, OFFER], "USD")] == ["EUR", "NOK"]
    assert [*currencies_of([CROWNS, OFFER], "NOK")] == ["NOK", "EUR"]
