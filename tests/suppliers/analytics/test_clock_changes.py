"""Every metric agrees with the naive model at the edges of the days at which a clock changes, and where days begin at a quarter to an hour."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID, uuid5

import pytest

from tests import factories
from tests.suppliers.analytics.copies import follow, summed_up
from tests.suppliers.analytics.figures import answered
from tests.suppliers.analytics.naive import Arrival, Line, Order, Question, rate
from tests.suppliers.analytics.naive_stock import Hold, Level, Move, Price, cover, worth
from tests.suppliers.analytics.test_naive_model import NAMES, compare, tried
from tests.suppliers.analytics.test_naive_stock import NOW, Store, amount, write
from tests.suppliers.analytics.test_naive_stock import store as store  # a fixture
from tests.suppliers.analytics.test_zones import CHANGES

QUARTER, TINY, DAY = timedelta(minutes=15), timedelta(milliseconds=1), timedelta(days=1)


@pytest.fixture(scope="module")
def supplier() -> UUID:
    """Return a supplier that nothing was ever ordered of."""
    return UUID(str(factories.provision("supplier").id))


def edges(begin: str, end: str) -> list[datetime]:
    """Return instants at the begin and the end of a day, beside them, and in it."""
    first, last = (datetime.fromisoformat(f"{one}+00:00") for one in (begin, end))
    near = [at + step for at in (first, last) for step in (-QUARTER, -TINY, timedelta(0), QUARTER)]
    return [*near, first + (last - first) / 2]


def spans(zone: str, begin: str, end: str) -> list[Question]:
    """Return three days and forty, the day of the change in the middle, by each interval."""
    first, last = (datetime.fromisoformat(f"{one}+00:00") for one in (begin, end))
    asked = [
        (first - days * DAY, last + days * DAY, interval)
        for days in (1, 20)
        for interval in ("day", "week", "month", "quarter")
    ]
    return [Question(start, stop, interval, zone, "", "EUR") for start, stop, interval in asked]


def orders_at(instants: list[datetime], due: date) -> list[Order]:
    """Return an order for each instant: sent, accepted, delivered at one of them, and due on the day."""
    found = []
    for number, at in enumerate(instants):
        came = instants[-number - 1]
        line = Line(
            uuid5(NAMES, "a"),
            "x",
            10 + number,
            number % 3,
            10,
            9,
            Decimal(number),
            Decimal(7),
            due,
            [Arrival(came, 12 + number, 1)],
        )
        accepted = at + timedelta(minutes=7 * number)
        found.append(
            Order(
                uuid5(NAMES, f"edge {number}"), uuid5(NAMES, "buyer"), uuid5(NAMES, "ward"), "EUR", at, accepted, [line]
            )
        )
    return found


@pytest.mark.parametrize(("zone", "first", "hours", "begin", "end"), CHANGES)
def test_metrics_of_trade(supplier: UUID, zone: str, first: str, hours: float, begin: str, end: str) -> None:
    orders = orders_at(edges(begin, end), date.fromisoformat(first))
    with tried(supplier):
        follow(supplier, orders)
        for is_summed_up in (False, True):
            assert summed_up(supplier) > 0 if is_summed_up else True
            for question in spans(zone, begin, end):
                compare(supplier, orders, question)


@pytest.mark.parametrize(("zone", "first", "hours", "begin", "end"), CHANGES)
def test_metrics_of_stock(store: Store, zone: str, first: str, hours: float, begin: str, end: str) -> None:
    instants, day = sorted(edges(begin, end)), date.fromisoformat(first)
    good = UUID(store.goods[0]["id"])
    moves = [Move(at, -7 if number % 2 else 5, number % 2 == 1) for number, at in enumerate(instants)]
    holds = [Hold(instants[0], 3, instants[-1], None), Hold(instants[2], 2, None, instants[-2])]
    made: list[Any] = [(None, moves, holds), (day, [Move(instants[3], 4, False)], [])]
    levels = [
        Level(good, "gloves", store.places[0], True, expiry, True, 90, moved, held) for expiry, moved, held in made
    ]
    prices = [Price(good, 1, 1, Decimal("1.37"), day - 30 * DAY, day), Price(good, 1, 1, Decimal("2.11"), day, None)]
    with tried(store.shelf.id):
        write(store, levels, prices, "EUR")
        for question in spans(zone, begin, end):
            for metric, within in (("stock_value", None), ("expiring_value", 90)):
                expected = worth(levels, prices, question, NOW, within)
                found = answered(store.shelf.id, metric, question, NOW)
                assert [value for _, _, value in found] == [
                    amount(expected.get((place, None), Fraction(0)), "EUR") for place, _, _ in found
                ], metric
            covered = cover(levels, question, NOW)
            for place, name, value in answered(store.shelf.id, "days_of_cover", question, NOW):
                assert value == rate(*covered.get((place, name), (0, 0))), place
