"""Reservations at once: nothing is promised twice, nobody waits in a circle, and every copy and counter is right after it."""

import random
from collections import Counter
from datetime import date, timedelta

from core import clock
from core.db import tenant_context
from suppliers.inventory.models import Allocation, Reservation, StockLevel
from suppliers.inventory.sweeping import expire_reservations, tell_levels
from tests.races import race
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import PATH, body, broken

THREADS = 16


def codes(answers):
    return Counter(201 if one.status_code == 201 else one.json().get("code", one.status_code) for one in answers)


def test_hundred_units_are_promised_a_hundred_times(shelf, long):
    shelf.settle(reservation_cap_percent=100)
    product = shelf.product()
    level = shelf.stock(product, 100)
    shelf.offer(product)
    buyers = [shelves.buyer() for _ in range(4)]

    def reserve(number):
        api = buyers[number % 4].client()
        return [api.post(PATH, json=body(shelf, (product, 1))) for _ in range(10)]

    answers = [one for found in race(*(lambda n=n: reserve(n) for n in range(THREADS))) for one in found]
    assert codes(answers) == {201: 100, "insufficient_stock": 60}
    assert shelf.level(level).reserved == 100
    assert broken(shelf, *buyers) == []


def test_five_lots_are_emptied_in_the_order_of_their_expiry(shelf):
    shelf.settle(reservation_cap_percent=100)
    product = shelf.product()
    levels = [
        shelf.stock(product, 20, lot=f"L{number}", expiry=date.today() + timedelta(days=300 - number))
        for number in range(5)
    ]
    shelf.offer(product)
    buyers = [shelves.buyer() for _ in range(2)]

    def reserve(number):
        api, chosen = buyers[number % 2].client(), random.Random(number)
        return [api.post(PATH, json=body(shelf, (product, chosen.randint(1, 7)))) for _ in range(3)]

    answers = [one for found in race(*(lambda n=n: reserve(n) for n in range(THREADS))) for one in found]
    assert set(codes(answers)) <= {201, "insufficient_stock"}
    promised = sum(row.base_quantity for row in shelf.reservations())
    assert promised > 90  # 48 requests for 4 units on average
    held = [shelf.level(key).reserved for key in reversed(levels)]  # the last lot expires first
    full = promised // 20
    assert held == [20] * full + [promised % 20] * (full < 5) + [0] * (4 - full)
    assert broken(shelf, *buyers) == []


def test_lapsed_reservations_are_taken_once(shelf):
    shelf.settle(reservation_cap_percent=100)
    product = shelf.product()
    level = shelf.stock(product, 32)
    shelf.offer(product)
    buyers = [shelves.buyer() for _ in range(2)]
    for _ in range(2):
        assert buyers[0].api.post(PATH, json=body(shelf, (product, 16))).status_code == 201
    over = clock.now() - timedelta(seconds=1)
    with tenant_context(shelf.id):
        Reservation.objects.filter(tenant_id=shelf.id).update(expires_at=over)
        Allocation.objects.filter(tenant_id=shelf.id).update(expires_at=over)

    def reserve(number):
        api = buyers[number % 2].client()
        return [api.post(PATH, json=body(shelf, (product, 1))) for _ in range(2)]

    def sweep():
        expire_reservations(at=clock.now())
        return []

    works = [*(lambda n=n: reserve(n) for n in range(THREADS)), sweep, sweep]
    answers = [one for found in race(*works) for one in found]
    assert codes(answers) == {201: 32}
    assert shelf.level(level).reserved == 32
    assert Counter(row.status for row in shelf.reservations()) == {"expired": 2, "active": 32}
    assert broken(shelf, *buyers) == []


def test_everything_at_once_ends_in_order(shelf, long):
    """Several products in any order, releases, extensions and both sweeps: no answer but those of the contract."""
    shelf.settle(reservation_cap_percent=100)
    products = [shelf.product(units=units) for units in (1, 2, 5)]
    for product in products:
        for number in range(3):
            shelf.stock(product, 60, lot=f"L{number}", expiry=date.today() + timedelta(days=100 - number))
        shelf.offer(product)
    buyers = [shelves.buyer() for _ in range(3)]

    def act(number):
        api, chosen, mine, seen = buyers[number % 3].client(), random.Random(number), [], []
        for _ in range(40 if long else 8):
            some = chosen.sample(products, chosen.randint(1, 3))
            answer = api.post(PATH, json=body(shelf, *((one, chosen.randint(1, 3)) for one in some)))
            if answer.status_code == 201:
                mine += [one["id"] for one in answer.json()["data"]["items"]]
            if mine and chosen.random() < 0.6:
                seen.append(api.delete(f"{PATH}/{mine.pop(chosen.randrange(len(mine)))}"))
            if mine and chosen.random() < 0.3:
                seen.append(api.patch(f"{PATH}/{chosen.choice(mine)}", json={"ttl_seconds": 600}))
            seen.append(answer)
        return seen

    def sweep():
        for _ in range(5):
            expire_reservations(at=clock.now())
            tell_levels(at=clock.now())
        return []

    works = [*(lambda n=n: act(n) for n in range(THREADS)), sweep]
    answers = [one for found in race(*works) for one in found]
    assert {one.status_code for one in answers} <= {200, 201, 204, 409}
    assert {one.json()["code"] for one in answers if one.status_code == 409} <= {
        "insufficient_stock",
        "reservation_limit",
    }
    with tenant_context(shelf.id):
        assert all(0 <= one.reserved <= one.on_hand for one in StockLevel.objects.filter(tenant_id=shelf.id))
    assert broken(shelf, *buyers) == []


def test_one_reservation_is_released_once(shelf, buyer):
    product = shelf.product()
    level = shelf.stock(product, 100)
    shelf.offer(product)
    (made,) = shelves.reserve(buyer, shelf, (product, 10))
    clients = [buyer.client() for _ in range(8)]
    answers = race(*(lambda api=api: api.delete(f"{PATH}/{made['id']}") for api in clients))
    assert Counter(one.status_code for one in answers) == {204: 1, 409: 7}
    assert shelf.level(level).reserved == 0
    assert broken(shelf, buyer) == []
