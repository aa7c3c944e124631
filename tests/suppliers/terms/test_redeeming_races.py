"""What orders redeem at once: exactly what a limit allows, in no circle of locks."""

import random
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID, uuid4

from core.db import tenant_context
from organizations.models import Tenant
from suppliers.terms.promotions.models import Promotion
from suppliers.terms.promotions.refusals import PromotionExhausted
from tests.factories import Api
from tests.races import race
from tests.suppliers.terms.redeeming import BUYER, OTHER, THREADS, back, budget, counted, promotion, take
from tests.suppliers.terms.test_promotions import ONE, facts, put


def _hammer(supplier: Tenant, promotion_id: UUID, amount: str, buyers: Sequence[UUID], each: int) -> int:
    """Let 16 connections redeem at once, each several times; return how many were granted."""

    def work(number: int) -> int:
        done = 0
        for _ in range(each):
            try:
                take(supplier, uuid4(), (promotion_id, amount), buyer=buyers[number % len(buyers)])
            except PromotionExhausted:
                continue
            done += 1
        return done

    answers = race(*[lambda number=number: work(number) for number in range(THREADS)])
    assert all(isinstance(one, int) for one in answers), answers
    return sum(answers)


def test_sixteen_connections_spend_a_budget_to_the_cent(api: Api, supplier: Tenant) -> None:
    one = promotion(api, budget_amount=budget("25.20"))
    assert _hammer(supplier, one, "0.70", [BUYER, OTHER], 4) == 36  # of 64
    assert counted(supplier, one)[:2] == (36, Decimal("25.20"))
    assert [kind for kind, *_ in facts(supplier)] == ["updated", "started", "ended"]


def test_sixteen_connections_take_each_redemption_once(api: Api, supplier: Tenant) -> None:
    one = promotion(api, max_redemptions=40)
    assert _hammer(supplier, one, "1", [BUYER, OTHER], 4) == 40
    assert counted(supplier, one)[:2] == (40, Decimal(40))
    assert [kind for kind, *_ in facts(supplier)] == ["updated", "started", "ended"]


def test_sixteen_connections_of_two_buyers_take_what_each_may(api: Api, supplier: Tenant) -> None:
    one = promotion(api, max_per_buyer=10)
    assert _hammer(supplier, one, "1", [BUYER, OTHER], 3) == 20
    assert counted(supplier, one) == (20, Decimal(20), {BUYER: 10, OTHER: 10})


def test_orders_that_take_and_give_back_several_promotions_do_not_wait_in_a_circle(api: Api, supplier: Tenant) -> None:
    ids = [promotion(api, f"p{number}", max_redemptions=9, budget_amount=budget("50")) for number in range(4)]
    orders = [uuid4() for _ in range(6)]

    def work(number: int) -> None:
        chosen = random.Random(number)
        for _ in range(8):
            order = chosen.choice(orders)
            if chosen.random() < 0.4:
                back(supplier, order)
                continue
            named = chosen.sample(ids, 3)
            try:
                take(supplier, order, *((one, f"{chosen.randint(1, 900) / 100}") for one in named))
            except PromotionExhausted:
                continue

    answers = race(*[lambda number=number: work(number) for number in range(THREADS)])
    assert answers == [None] * THREADS
    for one in ids:
        counted(supplier, one)
    for order in orders:
        back(supplier, order)
    assert [counted(supplier, one)[:2] for one in ids] == [(0, Decimal(0))] * 4


def test_two_who_give_back_the_same_order_give_it_back_once(api: Api, supplier: Tenant) -> None:
    one = promotion(api, max_redemptions=1)
    order = uuid4()
    take(supplier, order, (one, "3"))
    assert race(*[lambda: back(supplier, order) for _ in range(THREADS)]) == [None] * THREADS
    assert counted(supplier, one)[:2] == (0, Decimal(0))
    assert [kind for kind, *_ in facts(supplier)] == ["updated", "started", "ended", "started"]


def test_a_put_waits_for_redemptions_and_never_goes_below_them(api: Api, supplier: Tenant) -> None:
    one = promotion(api, max_redemptions=50)

    def lower() -> set[int]:
        found = set()
        for most in range(49, 1, -4):
            found.add(int(put(api, "a", status="active", conditions=ONE, max_redemptions=most).status_code))
        return found

    def order() -> None:
        for _ in range(6):
            try:
                take(supplier, uuid4(), (one, "1"))
            except PromotionExhausted:
                return

    answers = race(lower, *[order for _ in range(8)])
    assert answers[0] <= {200, 409}, answers
    assert answers[1:] == [None] * 8
    with tenant_context(supplier.id):
        row = Promotion.objects.get(tenant_id=supplier.id)
        assert row.redemptions <= int(row.max_redemptions or 0)
    counted(supplier, one)
