"""The time of one request: statements that are cancelled, and what may still be done."""

import threading
import time

import pytest
from django.db import DatabaseError, connection, transaction

from api.errors import refusal_of
from core import budgets
from core.budgets import AT_ONCE_SECONDS, PATIENT_SECONDS, Budget, Ended, TooCostly, Watchdog
from core.pipeline import Call, Statement, run

SLEEP = Call(Statement.of("SELECT pg_sleep(4)"))
ONE = Call(Statement.of("SELECT 1"))


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def watchdog(told):
    made = Watchdog(told.append)
    made.start()
    return made


@pytest.fixture
def within(watchdog):
    """Give this test's thread a budget, as the front gives one to a request's."""
    begun = []

    def begin(seconds):
        budget = Budget(seconds)
        budgets.begin(budget)
        watchdog.budgets.add(budget)
        begun.append(budget)
        return budget

    yield begin
    for budget in begun:
        watchdog.budgets.discard(budget)
    budgets.end()


def why(told, budget):
    """Wait for what the watchdog tells of a budget; it tells after the statement has ended."""
    until = time.monotonic() + 5
    while budget not in told and time.monotonic() < until:
        time.sleep(0.01)
    return told[told.index(budget)].ended


def test_statement_ends_with_the_time_of_its_request(within, told):
    budget = within(0.3)
    started = time.monotonic()
    with pytest.raises(DatabaseError) as caught:
        run([SLEEP])
    assert time.monotonic() - started < 2
    refusal = refusal_of(caught.value)
    assert (type(refusal), refusal.code, refusal.headers) == (TooCostly, "too_costly", {"Retry-After": "5"})
    assert why(told, budget) is Ended.TIME
    with pytest.raises(TooCostly):
        run([ONE])


def test_statement_of_the_orm_ends_too(within):
    within(0.2)
    with pytest.raises(DatabaseError) as caught, connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(4)")
    assert isinstance(refusal_of(caught.value), TooCostly)


def test_statement_ends_with_its_client(within, told):
    budget = within(30)
    threading.Timer(0.2, lambda: setattr(budget, "is_gone", True)).start()
    started = time.monotonic()
    with pytest.raises(DatabaseError):
        run([SLEEP])
    assert time.monotonic() - started < 2
    assert why(told, budget) is Ended.CLIENT


def test_what_is_done_can_still_be_kept(within):
    within(0.2)
    with pytest.raises(DatabaseError):
        run([SLEEP])
    assert budgets.is_spent()
    budgets.finish()
    assert run([ONE])[0].value() == b"1"


def test_next_request_of_the_thread_is_not_concerned(within):
    within(0.2)
    with pytest.raises(DatabaseError):
        run([SLEEP])
    held = connection.connection
    budgets.end()
    assert held.closed, "a cancel that comes late must not reach the next request"
    assert run([ONE])[0].value() == b"1"


def test_entitlement_gives_more_time_and_never_less(within):
    budget = within(5)
    budgets.raise_to(2)
    assert budget.seconds == 5
    budgets.raise_to(20)
    assert (budget.seconds, round(budget.until - budget.started)) == (20, 20)


def test_without_a_request_nothing_is_bounded():
    budgets.check()
    assert not budgets.is_spent()


def test_long_request_gives_way_at_half_of_its_pace_and_keeps_its_time():
    budget, granted = Budget(10.0), []

    def way(seconds, must_end, waits):
        granted.append(seconds)
        time.sleep(seconds)
        return seconds, seconds

    budget.way = way
    budget.give_way(waits=True)
    assert granted == [], "it has not worked for long yet"
    until = budget.until
    budget.started -= 0.22  # it has
    for _ in range(20):
        budget.give_way(waits=True)
    assert max(granted) == AT_ONCE_SECONDS
    assert 0.2 < budget.yielded < 0.4, "no longer than it has worked"
    assert budget.waited == pytest.approx(budget.yielded)
    assert budget.until == pytest.approx(until + budget.waited)


def test_request_waits_for_its_turn_as_long_as_it_may_work_and_yields_beside_that():
    budget, granted = Budget(0.2), []

    def way(seconds, must_end, waits):
        granted.append(seconds)
        time.sleep(0.1)
        return 0.0, 0.1

    budget.way = way
    until = budget.until
    budget.started -= PATIENT_SECONDS
    budget.give_way(waits=True)
    assert budget.until == pytest.approx(until + 0.1)
    budget.give_way(waits=True)
    assert budget.until == pytest.approx(budget.started + 0.4)
    assert granted == [AT_ONCE_SECONDS] * 2, "it has yielded nothing yet"


def test_request_that_waits_is_not_ended_for_that():
    budget = Budget(0.1)
    budget.started -= PATIENT_SECONDS
    ends = []
    budget.way = lambda _, must_end, waits: ends.append((must_end(), budget.until)) or (0.0, 0.0)
    until = budget.until
    budget.give_way(waits=True)
    assert ends == [(False, budget.started + 0.2)]
    assert budget.until == until
    budget.is_gone = True
    budget.give_way(waits=True)
    assert ends[1][0], "nobody waits for it"


def test_request_that_others_wait_for_gives_way_no_more(within):
    budget, asked = within(10.0), []
    budget.way = lambda seconds, must_end, waits: asked.append(seconds) or (0.01, 0.01)
    budget.started -= 0.2  # it has worked for long
    budgets.check()
    assert len(asked) == 1
    budgets.hurry()
    budgets.check()
    budgets.give_way()
    assert len(asked) == 1


def test_request_waits_for_no_turn_in_a_transaction_but_where_it_holds_nothing(within):
    """A batch that only reads so far says so by `give_way`."""
    budget, waits = within(10.0), []
    budget.way = lambda seconds, must_end, may_wait: waits.append(may_wait) or (0.0, 0.0)
    budget.started -= 0.2
    budgets.check()
    with transaction.atomic():
        budgets.check()
        budgets.give_way()
    assert waits == [True, False, True]
