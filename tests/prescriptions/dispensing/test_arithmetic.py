"""The arithmetic of fills, held against a plain count of what every line was and over generated histories."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prescriptions.dispensing.arithmetic import (
    ItemState,
    Line,
    counters,
    dispense_status,
    give,
    is_finished,
    lines_of_rest,
    take_back,
)
from prescriptions.dispensing.refusals import OverDispensed, TooEarly, UnitMismatch
from prescriptions.lifecycle.refusals import UnknownItem

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ONE = Decimal(1)


def item(quantity="30", fills=2, **more):
    return ItemState(uuid4(), Decimal(quantity), "tablet", fills, **more)


def given_of(one, quantity, unit=""):
    return Line(one.id, Decimal(quantity), unit)


def after(one, *quantities, at=NOON, ratio=ONE):
    for quantity in quantities:
        (one,) = give([one], [given_of(one, quantity)], at=at, ratio=ratio).items
    return one


@pytest.mark.parametrize(
    ("parts", "whole", "used", "remaining", "status"),
    [
        ((), 0, 0, "30", "pending"),
        (("0.0001",), 0, 1, "29.9999", "partial"),
        (("10", "20"), 1, 1, "30", "partial"),
        (("30", "29"), 1, 2, "1", "partial"),
        (("30", "30"), 2, 2, "0", "complete"),
    ],
)
def test_counters_of_parts(parts, whole, used, remaining, status):
    found = after(item(), *parts)
    assert (found.whole_fills, found.fills_used, found.remaining) == (whole, used, Decimal(remaining))
    assert counters(found) == {
        "dispensed_quantity": sum(map(Decimal, parts), Decimal(0)),
        "fills_used": used,
        "status": status,
        "not_dispensed_reason": "",
    }


def test_line_stays_within_its_fill():
    one = after(item(), "20")
    with pytest.raises(OverDispensed) as refusal:
        give([one], [given_of(one, "10.0001")], at=NOON, ratio=ONE)
    assert refusal.value.extra == {"item_id": str(one.id), "remaining": "10"}
    outcome = give([one], [given_of(one, "10"), given_of(one, "30")], at=NOON, ratio=ONE)
    assert outcome.fill_numbers == (1, 2)
    assert outcome.items[0].is_complete


def test_nothing_remains_of_complete_and_closed_items():
    complete = after(item(fills=1), "30")
    closed = give([item()], [], at=NOON, ratio=ONE).items[0]
    closed = replace(closed, closed="out_of_stock")
    for one in (complete, closed):
        for line in (given_of(one, "0.0001"), Line(one.id, reason="patient_refused")):
            with pytest.raises(OverDispensed) as refusal:
                give([one], [line], at=NOON, ratio=ONE)
            assert refusal.value.extra["remaining"] == "0"


def test_reason_closes_also_what_was_given_in_part():
    one = item()
    outcome = give([one], [given_of(one, "10"), Line(one.id, reason="out_of_stock")], at=NOON, ratio=ONE)
    (found,) = outcome.items
    assert (found.status, found.closed, found.is_open, outcome.fill_numbers) == (
        "partial",
        "out_of_stock",
        False,
        (1, 1),
    )
    (untouched,) = give([one], [Line(one.id, reason="out_of_stock")], at=NOON, ratio=ONE).items
    assert (untouched.status, untouched.fills_used) == ("not_dispensed", 0)
    assert is_finished([found, untouched])
    assert dispense_status([untouched]) == "none"
    assert dispense_status([found, untouched]) == "partial"


@pytest.mark.parametrize(
    ("ratio", "controlled", "days"),
    [("0.75", False, "21"), ("0.75", True, "28"), ("0.3333", False, "9.3324"), ("0", False, "0")],
)
def test_next_fill_waits_for_its_part_of_the_interval(ratio, controlled, days):
    one = after(item(interval_days=28, is_controlled=controlled), "30")
    due = NOON + timedelta(seconds=float(Decimal(days) * 86_400))
    assert one.earliest_at(Decimal(ratio)) == due
    if days != "0":
        with pytest.raises(TooEarly) as refusal:
            give([one], [given_of(one, "1")], at=due - timedelta(milliseconds=1), ratio=Decimal(ratio))
        assert refusal.value.extra["item_id"] == str(one.id)
    assert give([one], [given_of(one, "1")], at=due, ratio=Decimal(ratio)).fill_numbers == (2,)


def test_interval_counts_from_the_last_part_and_holds_up_no_rest():
    one = after(item(interval_days=10), "20")
    later = NOON + timedelta(days=3)
    (one,) = give([one], [given_of(one, "10")], at=later, ratio=ONE).items
    assert one.earliest_at(ONE) == later + timedelta(days=10)
    assert item(interval_days=10).earliest_at(ONE) is None
    with pytest.raises(TooEarly):
        give([item_ := item(interval_days=10)], [given_of(item_, "30"), given_of(item_, "1")], at=NOON, ratio=ONE)


def test_reason_is_never_too_early():
    one = after(item(interval_days=10), "30")
    assert give([one], [Line(one.id, reason="patient_refused")], at=NOON, ratio=ONE).items[0].closed


def test_refusals_have_one_order_whatever_the_order_of_lines():
    early, free = after(item(interval_days=10), "30"), item()
    faults = [
        (Line(uuid4(), ONE), UnknownItem),
        (given_of(free, "1", "ml"), UnitMismatch),
        (given_of(free, "31"), OverDispensed),
        (given_of(early, "1"), TooEarly),
    ]
    for first in range(len(faults)):
        lines = [line for line, _ in faults[first:]]
        for order in (lines, lines[::-1]):
            with pytest.raises(faults[first][1]):
                give([early, free], order, at=NOON, ratio=ONE)


def test_rest_is_that_of_the_current_fill():
    items = [after(item(), "12.5"), item("7", 1), after(item("1", 1), "1"), replace(item(), closed="other")]
    assert [(line.item_id, line.quantity) for line in lines_of_rest(items)] == [
        (items[0].id, Decimal("17.5")),
        (items[1].id, Decimal(7)),
    ]


# -- generated histories -----------------------------------------------------------------------------------------------

AMOUNTS = st.decimals(min_value="0.0001", max_value="40", places=4)


@dataclass
class Ledger:
    """What every line gave, counted without knowing of fills."""

    given: dict[UUID, list[Fraction]] = field(default_factory=dict)

    def total(self, key):
        return sum(self.given.get(key, []), Fraction(0))


@settings(max_examples=300, deadline=None)
@given(
    items=st.lists(st.tuples(AMOUNTS, st.integers(1, 5)), min_size=1, max_size=4),
    acts=st.lists(
        st.tuples(st.integers(0, 3), AMOUNTS, st.sampled_from(["give", "rest", "close", "reverse"])), max_size=30
    ),
)
def test_histories(items, acts):
    states = tuple(ItemState(UUID(int=n + 1), quantity, "mg", fills) for n, (quantity, fills) in enumerate(items))
    ledger, done = Ledger(), []
    for number, amount, act in acts:
        one = states[number % len(states)]
        if act == "reverse":
            if done:
                line = done.pop(number % len(done))
                states = take_back(states, [line])
                if line.quantity is not None:
                    ledger.given[line.item_id].remove(Fraction(line.quantity))
        else:
            line = {
                "give": Line(one.id, amount),
                "rest": next(
                    (found for found in lines_of_rest(states) if found.item_id == one.id), Line(one.id, amount)
                ),
                "close": Line(one.id, reason="other"),
            }[act]
            before = one
            try:
                outcome = give(states, [line], at=NOON, ratio=ONE)
            except OverDispensed as refusal:
                assert not before.is_open or (line.quantity or 0) > before.remaining
                assert Decimal(refusal.extra["remaining"]) == before.remaining
                continue
            states = outcome.items
            done.append(line)
            if line.quantity is not None:
                ledger.given.setdefault(one.id, []).append(Fraction(line.quantity))
                assert outcome.fill_numbers == (int(Fraction(before.dispensed) // Fraction(before.quantity)) + 1,)
        for state in states:
            total, size = ledger.total(state.id), Fraction(state.quantity)
            assert Fraction(state.dispensed) == total <= size * state.fills_allowed
            assert state.fills_used == -(-total // size) <= state.fills_allowed
            assert state.is_complete == (total == size * state.fills_allowed)
            assert state.remaining == (
                0 if not state.is_open else state.quantity * (state.whole_fills + 1) - state.dispensed
            )
        complete = [one.is_complete for one in states]
        assert (dispense_status(states) == "complete") == all(complete)
        assert (dispense_status(states) == "none") == (not all(complete) and not any(one.dispensed for one in states))
        assert is_finished(states) == all(one.is_complete or one.closed for one in states)
