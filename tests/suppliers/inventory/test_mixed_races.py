"""All that touches stock, at once and in any order: no answer but those of the contract, and all books are right after it.

Source: contract, supply.md sections 5 and 6.
"""

import random
import time
from collections import Counter
from datetime import date, timedelta

import pytest
from django.db import connection

from core import clock
from core.db import tenant_context
from suppliers.inventory.models import Allocation, Reservation, StockLevel
from suppliers.inventory.sweeping import expire_reservations, tell_levels
from tests import factories
from tests.races import race
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.recalls import LOTS, SAID, walk
from tests.suppliers.inventory.shelf import PATH, body, broken
from tests.suppliers.inventory.test_inventory import ADJUST, MOVE, line, place, sums

THREADS = 16
ALLOWED = {
    "insufficient_stock", "stock_reserved", "stale_quantity", "reservation_limit", "reservation_not_active",
    "reservation_expired", "lot_recalled", "lot_quarantined", "invalid_transition", "version_conflict",
}  # fmt: skip


class Market:
    """A supplier with four products, of which two have lots, at two places, and three buyers."""

    def __init__(self):
        self.shelf = shelves.shelf()
        self.shelf.settle(reservation_cap_percent=100)
        self.buyers = [shelves.buyer() for _ in range(3)]
        self.places = [place(self.shelf), place(self.shelf)]
        self.plain = [self.shelf.product(units=units) for units in (1, 2)]
        self.lotted = [self.shelf.product(tracking="lot") for _ in range(2)]
        for one in (*self.plain, *self.lotted):
            self.shelf.offer(one)
            for number in range(4):
                self.adjusted(self.shelf.api, one, self.places[number % 2], 400, number)
        with tenant_context(self.shelf.id):
            self.lots = [
                str(key)
                for key in StockLevel.objects.filter(tenant_id=self.shelf.id, lot__isnull=False).values_list(
                    "lot_id", flat=True
                )
            ]
        self.products = [*self.plain, *self.lotted]

    def adjusted(self, api, product, where, quantity, number, **more):
        days = timedelta(days=100 + number)
        lot = (
            {"lot_number": f"L{number}", "expiry_date": (date.today() + days).isoformat()}
            if product in self.lotted
            else {}
        )
        return api.post(ADJUST, json={"lines": [line(product, where, quantity, **lot) | more]})


class Client:
    """One thread: a member of the supplier and of one buyer, with a chance of its own and what it has reserved."""

    def __init__(self, market, number):
        self.market, self.chance = market, random.Random(number)
        self.buyer = market.buyers[number % 3].client()
        self.seller = factories.Api()
        self.seller.headers = market.shelf.api.headers
        self.held = []
        works = {
            self.reserve: 40, self.release: 15, self.extend: 10, self.adjust: 10, self.transfer: 8, self.count: 6,
            self.turn_lot: 4, self.walk: 2, self.lapse: 3, self.sweep: 2,
        }  # fmt: skip
        self.works, self.weights = [*works], [*works.values()]

    def run(self, steps):
        answers = []
        for _ in range(steps):
            (work,) = self.chance.choices(self.works, self.weights)
            answer = work()
            answers.append((work.__name__, *((answer.status_code, answer) if answer is not None else (0, None))))
        return answers

    def reserve(self):
        some = self.chance.sample(self.market.products, self.chance.randint(1, 3))
        lines = ((one, self.chance.randint(1, 4)) for one in some)
        answer = self.buyer.post(PATH, json=body(self.market.shelf, *lines))
        if answer.status_code == 201:
            self.held += [one["id"] for one in answer.json()["data"]["items"]]
        return answer

    def release(self):
        if not self.held:
            return self.reserve()
        return self.buyer.delete(f"{PATH}/{self.held.pop(self.chance.randrange(len(self.held)))}")

    def extend(self):
        if not self.held:
            return self.reserve()
        return self.buyer.patch(f"{PATH}/{self.chance.choice(self.held)}", json={"ttl_seconds": 900})

    def adjust(self):
        where, quantity = self.chance.choice(self.market.places), self.chance.choice((-3, -1, 5, 20))
        product, number = self.chance.choice(self.market.products), self.chance.randrange(4)
        return self.market.adjusted(self.seller, product, where, quantity, number, reason_code="correction")

    def transfer(self):
        here, there = self.chance.sample(self.market.places, 2)
        some = self.chance.sample(self.market.products, self.chance.randint(1, 3))
        lines = [
            {"product_id": one["id"], "quantity": self.chance.randint(1, 4)}
            | ({"lot_number": f"L{self.chance.randrange(4)}"} if one in self.market.lotted else {})
            for one in some
        ]
        given = {"from_location_id": here["id"], "to_location_id": there["id"], "lines": lines}
        return self.seller.post(MOVE, json=given)

    def count(self):
        product, where, number = self.chance.choice(self.market.plain), self.chance.choice(self.market.places), 0
        with tenant_context(self.market.shelf.id):
            rows = StockLevel.objects.filter(
                tenant_id=self.market.shelf.id, product_id=product["id"], location_id=where["id"]
            )
            now = rows.values_list("on_hand", flat=True).first() or 0
        left = max(0, now - self.chance.randint(1, 40))
        given = {"mode": "set", "expected_quantity": now, "reason_code": "count", "on_reserved": "break"}
        return self.market.adjusted(self.seller, product, where, left, number, **given)

    def turn_lot(self):
        status = self.chance.choice(("recalled", "quarantined", "released", "released"))
        given = {"status": status, "reason": "test"} | ({"recall": SAID} if status == "recalled" else {})
        return self.seller.patch(f"{LOTS}/{self.chance.choice(self.market.lots)}", json=given)

    def walk(self):
        walk(self.market.shelf)

    def lapse(self):
        """Let a reservation's time be over, as waiting would; the copy is rewritten by whoever takes it back."""
        if self.held:
            key, over, mine = self.chance.choice(self.held), clock.now() - timedelta(seconds=1), self.market.shelf.id
            with tenant_context(mine):
                row = Reservation.objects.select_for_update().filter(tenant_id=mine, id=key, status="active")
                if row.first() and row.update(expires_at=over):
                    Allocation.objects.filter(tenant_id=mine, reservation_id=key, status="active").update(
                        expires_at=over
                    )

    def sweep(self):
        expire_reservations(at=clock.now())
        tell_levels(at=clock.now())


def mix(market, steps):
    """Let sixteen threads do so many things each; return what they answered, by work and code."""
    clients = [Client(market, number) for number in range(THREADS)]
    found = race(*(lambda one=one: one.run(steps) for one in clients))
    for one in found:
        assert not isinstance(one, Exception), one
    answers = [answer for one in found for answer in one]
    assert len(answers) == THREADS * steps
    strange = [(name, answer.content) for name, status, answer in answers if status not in (0, 200, 201, 204, 409)]
    assert not strange, strange[:3]
    codes = Counter(answer.json()["code"] for _, status, answer in answers if status == 409)
    assert codes.keys() <= ALLOWED, codes
    return Counter((name, status) for name, status, _ in answers), codes


def test_a_count_ends_what_has_lapsed_once_and_breaks_the_rest(shelf, buyer):
    """What had lapsed was ended, and then broken as well, because its row was read again before it was written."""
    shelf.settle(reservation_cap_percent=100)
    product, where = shelf.product(), place(shelf)
    level = shelf.stock(product, 10, place=where["id"])
    shelf.offer(product)
    (gone,), (held,) = (shelves.reserve(buyer, shelf, (product, 4)) for _ in range(2))
    over = clock.now() - timedelta(seconds=1)
    with tenant_context(shelf.id):
        Reservation.objects.filter(tenant_id=shelf.id, id=gone["id"]).update(expires_at=over)
        Allocation.objects.filter(tenant_id=shelf.id, reservation_id=gone["id"]).update(expires_at=over)
    given = line(product, where, 1, mode="set", expected_quantity=10, reason_code="count", on_reserved="break")
    answer = shelf.api.post(ADJUST, json={"lines": [given]})
    assert answer.status_code == 201, answer.content
    assert {str(row.id): row.status for row in shelf.reservations()} == {gone["id"]: "expired", held["id"]: "broken"}
    assert (shelf.level(level).on_hand, shelf.level(level).reserved) == (1, 0)
    assert broken(shelf, buyer) == []


def deadlocks():
    """How many deadlocks PostgreSQL has ended in this database; a retry would hide one from the answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return cursor.fetchone()[0]


@pytest.mark.timeout(900)
def test_all_works_on_stock_at_once(long, capsys):
    market, before = Market(), deadlocks()
    begun = time.monotonic()
    done, refused = mix(market, 626 if long else 20)
    seconds = time.monotonic() - begun
    expire_reservations(at=clock.now())
    while walk(market.shelf):
        pass
    if long:
        with capsys.disabled():
            print(f"\n{done.total():,} transactions in {seconds:.0f} s: {dict(done)}; refused {dict(refused)}")
    assert deadlocks() == before
    for name in ("reserve", "release", "extend", "adjust", "transfer", "count"):
        assert any(work == name and status < 400 for work, status in done), name
    on_hand, moved = sums(market.shelf)
    assert on_hand == moved
    with tenant_context(market.shelf.id):
        assert all(0 <= one.reserved <= one.on_hand for one in StockLevel.objects.filter(tenant_id=market.shelf.id))
    assert broken(market.shelf, *market.buyers) == []
