"""Recalls at once with all that touches the lot, and walks that end in the middle: every buyer is told exactly once."""

import os
import signal
import time
from collections import Counter
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connection, connections

from core import clock
from suppliers.inventory.recalls.walking import walk_batch
from suppliers.inventory.sweeping import expire_reservations
from tests import factories
from tests.races import race
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.recalls import (
    SAID,
    change,
    facts,
    list_concerned,
    lot_of,
    notices,
    recall,
    recalls,
    received,
    walk,
)
from tests.suppliers.inventory.shelf import PATH, body, broken, reserve
from tests.suppliers.inventory.test_recalls import shelved

THREADS = 16


def client(shelf):
    api = factories.Api()
    api.headers = shelf.api.headers
    return api


def sent(answers):
    """What the answers say; a deadlock would be a 500 or 503."""
    for one in answers:
        assert not isinstance(one, Exception), one
    found = Counter(one.status_code if one.status_code < 300 else one.json()["code"] for one in answers)
    assert {one.status_code for one in answers} <= {200, 201, 204, 409}, found
    return found


def all_told(shelf, *buyers):
    """Every notice was told once, in one copy, and nothing is held of the lot."""
    walk(shelf)
    found = notices(shelf)
    assert {row.status for row in found} <= {"told"}
    assert {row.buyer_tenant_id for row in found} <= {one.id for one in buyers}
    for one in buyers:
        mine = [row for row in found if row.buyer_tenant_id == one.id]
        assert [copy.id for copy in received(one)] == [row.id for row in mine]
        assert len([fact for fact in facts(one) if fact.type == "lot.recalled"]) == len(mine)
    assert broken(shelf, *buyers) == []


def test_recall_against_reservations(shelf, buyer, other):
    product, first, _ = shelved(shelf, 60, 60)

    def reserving(number):
        api = (buyer, other)[number % 2].client()
        return [api.post(PATH, json=body(shelf, (product, 3))) for _ in range(4)]

    def recalling():
        return [change(shelf, api=client(shelf), status="recalled", recall=SAID)]

    works = [lambda n=n: reserving(n) for n in range(THREADS - 2)]
    answers = [one for found in race(*works, recalling, lambda: walk(shelf) and []) for one in found or ()]
    assert set(sent(answers)) <= {200, 201, "insufficient_stock"}
    all_told(shelf, buyer, other)
    assert shelf.level(first).reserved == 0
    held = {row.status for row in shelf.reservations()}
    assert held <= {"active", "broken"}


def test_two_recalls_at_once_are_one(shelf, buyer):
    product, *_ = shelved(shelf)
    reserve(buyer, shelf, (product, 2))
    works = [
        lambda n=n: change(shelf, api=client(shelf), status="recalled", recall=SAID | {"class": "I" if n % 2 else "II"})
        for n in range(THREADS)
    ]
    found = sent(race(*works))
    assert found == {200: THREADS // 2, "lot_recalled": THREADS // 2}
    assert (len(recalls(shelf)), len(list_concerned(shelf)), lot_of(shelf).version) == (1, 1, 2)
    assert [one.type for one in facts(shelf)] == ["lot.recalled"]
    all_told(shelf, buyer)


def test_recall_against_extensions_releases_and_ends(shelf, buyer, other):
    product, first, _ = shelved(shelf, 200, 200)
    held = [
        (one, reserve(one, shelf, (product, 2))[0]["id"]) for one in (buyer, other) for _ in range(THREADS // 2 - 2)
    ]

    def acting(number):
        one, key = held[number]
        api = one.client()
        if number % 3 == 0:
            return [api.delete(f"{PATH}/{key}")]
        return [api.patch(f"{PATH}/{key}", json={"ttl_seconds": 900}) for _ in range(3)]

    def recalling():
        return [change(shelf, api=client(shelf), status="recalled", recall=SAID)]

    def walking():
        for _ in range(20):
            walk(shelf)
        return []

    def expiring():
        expire_reservations(at=clock.now() + timedelta(hours=2))
        return []

    works = [lambda n=n: acting(n) for n in range(len(held))]
    answers = [one for found in race(*works, recalling, walking, walking, expiring) for one in found]
    allowed = {200, 204, "reservation_not_active", "reservation_expired", "reservation_limit"}
    assert set(sent(answers)) <= allowed
    all_told(shelf, buyer, other)
    assert shelf.level(first).reserved == 0


def test_withdrawal_against_the_walk(shelf):
    product, first, _ = shelved(shelf, 100, 100)
    buyers = [shelves.buyer() for _ in range(4)]
    for one in buyers:
        reserve(one, shelf, (product, 2))
    recall(shelf)

    def withdrawing():
        return [change(shelf, api=client(shelf), status="quarantined")]

    answers = [one for found in race(*[lambda: walk(shelf) and []] * 6, withdrawing) for one in found or ()]
    assert sent(answers) == {200: 1}
    walk(shelf)
    assert {row.status for row in notices(shelf)} == {"withdrawn"}
    for one in buyers:
        types = [fact.type for fact in facts(one)]
        assert types in ([], ["lot.recalled", "lot.quarantined"]), types
    assert shelf.level(first).reserved == 0
    assert broken(shelf, *buyers) == []


def test_workers_at_the_same_recall_tell_each_buyer_once(shelf):
    product, *_ = shelved(shelf, 100, 100)
    buyers = [shelves.buyer() for _ in range(8)]
    for one in buyers:
        reserve(one, shelf, (product, 2))
    recall(shelf)
    done = race(*[lambda: walk(shelf)] * 8)
    done.append(walk(shelf))  # who comes while another lists the buyers finds none, and goes
    assert sum(done) == len(buyers), done
    all_told(shelf, *buyers)


def forked_walk(shelf):
    """A process of its own at the same walk; it must neither use nor close what it has of this one's connection."""
    pid = os.fork()
    if pid:
        return pid
    try:
        held, connection.connection = connection.connection, None
        walk_batch(shelf.id, clock.now())
        del held
    finally:
        os._exit(0)


def test_killed_walks_leave_neither_doubles_nor_gaps(shelf):
    product, *_ = shelved(shelf, 100, 100)
    buyers = [shelves.buyer() for _ in range(8)]
    for one in buyers:
        reserve(one, shelf, (product, 2))
    recall(shelf)
    for _ in range(3):
        before = told = sum(row.told_at is not None for row in notices(shelf))
        pid, end = forked_walk(shelf), time.monotonic() + 20
        while told == before and time.monotonic() < end:
            time.sleep(0.001)
            told = sum(row.told_at is not None for row in notices(shelf))
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        assert told > before or told == len(buyers)
        if told == len(buyers):
            break
    all_told(shelf, *buyers)


def test_closed_buyer_is_not_told_and_holds_nothing(shelf, buyer, other):
    product, first, _ = shelved(shelf)
    for one in (buyer, other):
        reserve(one, shelf, (product, 2))
    recall(shelf)
    for status in ("offboarding", "closed"):
        with connections["owner"].cursor() as cursor:
            cursor.execute("UPDATE organizations_tenant SET status = %s WHERE id = %s", [status, buyer.id])
    walk(shelf)
    assert {row.buyer_tenant_id: row.status for row in notices(shelf)} == {buyer.id: "unreachable", other.id: "told"}
    assert (received(buyer), facts(buyer)) == ([], [])
    assert shelf.level(first).reserved == 0
    assert {row.status for row in shelf.reservations()} == {"broken"}


@pytest.mark.usefixtures("celery_worker")
def test_walk_is_rung_for(shelf, buyer):
    """The worker needs no beat: the request rings for it."""
    product, *_ = shelved(shelf)
    reserve(buyer, shelf, (product, 2))
    recall(shelf)
    end = time.monotonic() + 30  # most of it is the worker's own start
    while [row.status for row in notices(shelf)] != ["told"] and time.monotonic() < end:
        time.sleep(0.05)
    all_told(shelf, buyer)
