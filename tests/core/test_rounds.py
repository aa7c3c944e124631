"""Rounds: a batch of each tenant in turn, whatever stands in the others' queues."""

from collections import Counter
from uuid import UUID

import pytest

from core import rounds
from core.rounds import Rounds, ever, until

A, B, C = (UUID(int=number) for number in (1, 2, 3))


class Work:
    """Jobs with so many batches left; notes who was served."""

    def __init__(self, **left):
        self.left, self.served = left, []

    def advance(self, tenant_id, job):
        if not self.left[job]:
            return False
        self.left[job] -= 1
        self.served.append(tenant_id)
        return True


def test_tenant_with_a_hundred_jobs_has_one_batch_of_each_round():
    work = Work(**{f"a{number}": 1 for number in range(100)}, b=3)
    jobs = [(A, f"a{number}") for number in range(100)] + [(B, "b")]
    turns = Rounds()
    for _ in range(3):
        assert turns.serve(jobs, work.advance, go_on=ever) == 2
    assert Counter(work.served) == {A: 3, B: 3}


def test_jobs_of_one_tenant_take_turns_too():
    work, turns = Work(big=100, small=2), Rounds()
    for _ in range(4):
        turns.serve([(A, "big"), (A, "small")], work.advance, go_on=ever)
    assert work.left == {"big": 98, "small": 0}


def test_jobs_take_turns_also_when_every_second_round_is_of_others_or_ends_too_early():
    work, turns = Work(big=100, small=2, other=100), Rounds()
    for _ in range(4):
        turns.serve([(A, "big"), (A, "small")], work.advance, go_on=ever)
        turns.serve([(B, "other")], work.advance, go_on=ever)
        turns.serve([(A, "big"), (A, "small")], work.advance, go_on=lambda: False)
        turns.serve([(B, "other")], work.advance, go_on=ever)
    assert work.left["small"] == 0
    assert work.left["big"] == 98


def test_who_was_served_last_stands_last_when_a_round_ends_early():
    work, turns = Work(a=9, b=9, c=9), Rounds()
    for _ in range(6):
        allowed = iter([True, False])
        turns.serve([(A, "a"), (B, "b"), (C, "c")], work.advance, go_on=lambda found=allowed: next(found))
    assert work.served == [A, B, C] * 2


def test_tenant_whose_jobs_are_in_other_hands_is_looked_at_a_few_times():
    tried = []

    def busy(tenant_id, job):
        tried.append(job)
        return False

    turns = Rounds()
    for _ in range(13):
        assert turns.serve([(A, number) for number in range(100)], busy, go_on=ever) == 0
    assert len(tried) == 13 * rounds._TRIES
    assert len(set(tried)) > rounds._TRIES  # each round begins with another


def test_long_work_of_one_tenant_stands_behind_the_others_after_each_batch():
    served = []

    def step(tenant_id, left):
        served.append(tenant_id)
        return left - 1 or None

    Rounds().drain({A: 4, B: 1, C: 2}, step, go_on=ever)
    assert served == [A, B, C, A, C, A, A]


def test_what_is_not_done_in_its_time_is_left():
    served = []

    def step(tenant_id, place):
        served.append(tenant_id)
        return place

    Rounds().drain({A: 1, B: 1}, step, go_on=lambda: len(served) < 5)
    assert served == [A, B, A, B, A]


@pytest.mark.parametrize("ending", [False, True])
def test_task_ends_with_its_time_and_with_its_worker(ending, monkeypatch):
    monkeypatch.setattr(rounds.jobs, "is_ending", lambda: ending)
    assert until(60)() is not ending
    assert until(0)() is False
