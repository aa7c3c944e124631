"""Metrics of drawn facts agree with the naive model: in zones at :30 and :45, over changes of the clock, summed up or not."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.clock import now
from core.db import tenant_context
from core.invariants import checks
from core.money import Money
from suppliers.analytics.measures import MEASURES
from tests import factories
from tests.suppliers.analytics.copies import follow, summed_up
from tests.suppliers.analytics.figures import answered
from tests.suppliers.analytics.naive import METRICS, Arrival, Line, Order, Question, expected, quarter

ZONES = ("UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns")
# Changes of the clock in these zones, ends of months of 28 and 31 days and of quarters, and the end of a year.
MOMENTS = tuple(
    datetime.fromisoformat(f"{one}+00:00")
    for one in (
        "2026-03-29T01:00", "2026-10-25T01:00", "2026-04-04T15:00", "2026-10-03T15:30", "2026-03-08T05:30",
        "2026-02-28T23:45", "2026-07-31T22:00", "2026-12-31T18:15", "2026-01-01T00:00", "2025-10-26T00:59",
    )
)  # fmt: skip
NAMES = UUID("11111111-2222-7333-8444-555555555555")
PLACES = {"JPY": 0, "EUR": 2, "KWD": 3, "CLF": 4}


@pytest.fixture(scope="module")
def supplier() -> UUID:
    """Return a supplier that nothing was ever ordered of."""
    return UUID(str(factories.provision("supplier").id))


def moments() -> st.SearchStrategy[datetime]:
    near = st.integers(-200_000_000, 200_000_000) | st.integers(-2, 2).map(lambda one: one * 900_000)
    return st.builds(lambda base, ms: base + timedelta(milliseconds=ms), st.sampled_from(MOMENTS), near)


@st.composite
def lines(draw: Any, currency: str) -> Line:
    ordered = draw(st.integers(1, 40))
    cancelled = draw(st.integers(0, ordered))
    accepted = ordered - cancelled
    net = Decimal(draw(st.integers(0, 99_999))).scaleb(-PLACES[currency])
    comes = st.builds(
        lambda at, units, bad: Arrival(at, units, min(units, bad)), moments(), st.integers(1, 40), st.integers(0, 3)
    )
    return Line(
        product=uuid5(NAMES, draw(st.sampled_from("ab"))), category=draw(st.sampled_from(("", "x", "y"))), ordered=ordered,
        cancelled=cancelled, accepted=accepted, shipped=draw(st.integers(0, accepted)), net=net,
        list_net=draw(st.none() | st.just(net + 1)), due=draw(st.none() | moments().map(datetime.date)),
        arrivals=draw(st.lists(comes, max_size=2, unique_by=lambda one: one.at)),
    )  # fmt: skip


@st.composite
def histories(draw: Any) -> list[list[Order]]:
    """Draw orders, and how they stand at one time and at a later one."""
    first = []
    for number in range(draw(st.integers(1, 5))):
        sent, currency = draw(moments()), draw(st.sampled_from([*PLACES]))
        waits = st.integers(0, 400_000_000).map(lambda ms, sent=sent: sent + timedelta(milliseconds=ms))
        first.append(
            Order(
                uuid5(NAMES, f"order {number}"),
                uuid5(NAMES, f"buyer {draw(st.sampled_from('ab'))}"),
                uuid5(NAMES, "ward"),
                currency,
                sent,
                draw(st.none() | waits),
                draw(st.lists(lines(currency), min_size=1, max_size=3)),
            )
        )
    later = deepcopy(first)
    for order in later:
        for line in order.lines:
            if draw(st.booleans()):
                line.cancelled = draw(st.integers(0, line.ordered))
                line.accepted = line.ordered - line.cancelled
                line.shipped = draw(st.integers(0, line.accepted))
                line.product = uuid5(NAMES, draw(st.sampled_from("abc")))
                line.net += draw(st.integers(0, 5))
    return [first, later]


@st.composite
def questions(draw: Any) -> Question:
    begin, zone = quarter(draw(moments())), draw(st.sampled_from(ZONES))
    span = draw(st.sampled_from((1, 3, 40, 400)))
    end = begin + draw(st.timedeltas(timedelta(minutes=15), timedelta(days=span)))
    if draw(st.booleans()):  # whole local days, as most ask
        first, last = (one.astimezone(ZoneInfo(zone)).date() for one in (begin, end))
        starts = [
            datetime(one.year, one.month, one.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
            for one in (first, last + timedelta(days=1))
        ]
        begin, end = starts
    return Question(
        begin, max(quarter(end), begin + timedelta(minutes=15)), draw(st.sampled_from(("day", "week", "month", "quarter"))), zone,
        draw(st.sampled_from(("", "product", "category", "buyer", "location"))), draw(st.sampled_from(("", *PLACES))),
    )  # fmt: skip


@contextmanager
def tried(tenant_id: UUID) -> Iterator[None]:
    """Work in a tenant, and leave nothing behind."""
    with tenant_context(tenant_id):
        yield
        transaction.set_rollback(True)


def wanted(metric: str, orders: list[Order], question: Question) -> list[tuple[Any, str | None, Any]]:
    values = expected(metric, orders, question)
    names = sorted({name for _, name in values}, key=lambda one: one or "") if question.group else [None]
    nothing = 0 if metric == "orders_count" else None
    found = []
    for place, bucket in enumerate(question.buckets()):
        for name in names:
            value = values.get((bucket, name), nothing)
            if metric == "orders_value":
                value = Money(Decimal(value or 0), question.currency).rounded().as_json()
            found.append((place, name, value))
    return found


def compare(tenant_id: UUID, orders: list[Order], question: Question) -> None:
    for metric in METRICS:
        measure = MEASURES[metric]
        if (not question.group or question.group in measure.groups) and (
            question.currency or not measure.needs_currency
        ):
            # Units have no currency, whichever is asked for.
            meant = replace(question, currency="") if metric == "return_rate" else question
            assert answered(tenant_id, metric, question, now()) == wanted(metric, orders, meant), metric


@given(history=histories(), asked=st.lists(questions(), min_size=1, max_size=3), early=st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[*HealthCheck])
def test_metrics_are_what_the_facts_are(
    supplier: UUID, history: list[list[Order]], asked: list[Question], early: bool
) -> None:
    first, later = history
    with tried(supplier):
        follow(supplier, first)
        for question in asked:
            compare(supplier, first, question)
        assert summed_up(supplier) > 0 if early else True
        follow(supplier, later)  # corrections stand beside what was summed up
        for question in asked:
            compare(supplier, later, question)
        summed_up(supplier)
        for question in asked:
            compare(supplier, later, question)
        assert summed_up(supplier) == 0
        assert list(checks()["figures"](supplier)) == []
