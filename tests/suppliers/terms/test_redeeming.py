"""What orders redeem of promotions and give back: counted exactly, told once, and never more than a limit allows."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, transaction

from core import clock
from core.actor import system_actor
from core.db import tenant_context
from core.invariants import breaches
from core.pipeline import run
from ledger import public as ledger
from organizations.models import Tenant
from suppliers.terms.promotions.models import Promotion, PromotionBuyer, PromotionRedemption
from suppliers.terms.promotions.redeeming import Wanted, give_back, given_back, redeem, redeemed
from suppliers.terms.promotions.refusals import PromotionExhausted
from suppliers.terms.promotions.sweeping import tell_promotions
from tests.factories import Api
from tests.races import race
from tests.suppliers.products import field_errors
from tests.suppliers.terms.test_promotions import HOUR, ONE, PATH, facts, instant, put

THREADS = 16
BUYER, OTHER = UUID(int=7), UUID(int=8)


def promotion(api: Api, code: str = "a", **changes: Any) -> UUID:
    """Return the id of a promotion in euros that runs."""
    made = put(api, code, **{"status": "active", "conditions": ONE} | changes)
    assert made.status_code == 201, made.content
    return UUID(made.json()["data"]["id"])


def budget(amount: str, currency: str = "EUR") -> dict[str, str]:
    """Return a budget as bodies have it."""
    return {"amount": amount, "currency": currency}


def take(
    supplier: Tenant,
    document: UUID,
    *wanted: tuple[UUID, str] | tuple[UUID, str, str],
    buyer: UUID = BUYER,
    at: datetime | None = None,
) -> None:
    """Redeem promotions for a document, as the submit of an order does it, or change nothing."""
    moment = at or clock.now()
    named = [Wanted(one[0], Decimal(one[1]), one[2] if len(one) > 2 else "EUR") for one in wanted]
    with tenant_context(supplier.id):
        calls = redeem(supplier.id, document_id=document, buyer_id=buyer, wanted=named, at=moment)
        told = redeemed(named, run(calls))
        ledger.record_many(actor=system_actor(supplier.id), occurrences=told, at=moment)


def back(supplier: Tenant, document: UUID, *, only: Sequence[UUID] | None = None, at: datetime | None = None) -> None:
    """Give back what a document holds."""
    moment = at or clock.now()
    with tenant_context(supplier.id):
        told = given_back(run(give_back(supplier.id, document_id=document, at=moment, only=only)))
        ledger.record_many(actor=system_actor(supplier.id), occurrences=told, at=moment)


def counted(supplier: Tenant, promotion_id: UUID) -> tuple[int, Decimal, dict[UUID, int]]:
    """Return redemptions and spending of a promotion and the redemptions of its buyers, and hold all rules."""
    with tenant_context(supplier.id):
        row = Promotion.objects.get(tenant_id=supplier.id, pk=promotion_id)
        buyers = PromotionBuyer.objects.filter(tenant_id=supplier.id, promotion_id=promotion_id, redemptions__gt=0)
        found = dict(buyers.values_list("buyer_tenant_id", "redemptions"))
    assert list(breaches(supplier.id)) == []
    return row.redemptions, row.spent, found


def refused(*arguments: Any, **more: Any) -> list[tuple[str | None, str]]:
    """Return code and reason of each promotion that a redemption is refused for."""
    with pytest.raises(PromotionExhausted) as found:
        take(*arguments, **more)
    return [(one["code"], one["reason"]) for one in found.value.extra["promotions"]]


def test_a_document_holds_a_promotion_once_and_gives_back_what_it_took(api: Api, supplier: Tenant) -> None:
    one = promotion(api, budget_amount=budget("100"), max_redemptions=5, max_per_buyer=2)
    first, second, third = uuid4(), uuid4(), uuid4()
    take(supplier, first, (one, "12.50"))
    take(supplier, first, (one, "12.50"))
    take(supplier, second, (one, "7.25"))
    take(supplier, third, (one, "0"), buyer=OTHER)
    assert counted(supplier, one) == (3, Decimal("19.75"), {BUYER: 2, OTHER: 1})

    take(supplier, first, (one, "20"))
    take(supplier, second, (one, "0.25"))
    assert counted(supplier, one) == (3, Decimal("20.25"), {BUYER: 2, OTHER: 1})

    for _ in range(2):
        back(supplier, first)
    back(supplier, uuid4())
    assert counted(supplier, one) == (2, Decimal("0.25"), {BUYER: 1, OTHER: 1})
    take(supplier, first, (one, "1"))
    assert counted(supplier, one) == (3, Decimal("1.25"), {BUYER: 2, OTHER: 1})
    shown = api.get(PATH).json()["data"]["items"][0]
    assert (shown["spent"], shown["redemptions"], shown["version"]) == (budget("1.25"), 3, 1)
    again = put(
        api, "a", status="active", conditions=ONE, budget_amount=budget("100"), max_redemptions=5, max_per_buyer=2
    )
    assert again.headers["ETag"].startswith('"1;')
    assert facts(supplier) == [("updated", "a", "running"), ("started", "a", "running")]
    with tenant_context(supplier.id):
        kept = PromotionRedemption.objects.filter(tenant_id=supplier.id, document_id=first)
        assert list(kept.values_list("amount", "version", "given_back_at")) == [(Decimal(1), 4, None)]


def test_of_several_only_the_named_are_given_back(api: Api, supplier: Tenant) -> None:
    one, two = promotion(api), promotion(api, "b")
    order = uuid4()
    take(supplier, order, (two, "2"), (one, "1"))
    back(supplier, order, only=[one])
    assert (counted(supplier, one)[:2], counted(supplier, two)[:2]) == ((0, Decimal(0)), (1, Decimal(2)))
    take(supplier, order)
    back(supplier, order, only=[])
    assert counted(supplier, two)[:2] == (1, Decimal(2))


@pytest.mark.parametrize(
    ("changes", "wanted", "reason"),
    [
        ({"max_redemptions": 1}, ("1",), "max_redemptions"),
        ({"max_per_buyer": 1}, ("1",), "max_per_buyer"),
        ({"budget_amount": budget("10")}, ("5.01",), "budget"),
        ({"budget_amount": budget("5")}, ("0.01",), "budget"),
        ({}, ("1", "USD"), "other_currency"),
    ],
)
def test_a_limit_refuses_and_nothing_of_the_order_is_taken(
    api: Api, supplier: Tenant, changes: dict[str, Any], wanted: tuple[str, ...], reason: str
) -> None:
    one, free = promotion(api, **changes), promotion(api, "b")
    take(supplier, uuid4(), (one, "5"))
    before = facts(supplier)

    assert refused(supplier, uuid4(), (free, "1"), (one, *wanted)) == [("a", reason)]

    assert (counted(supplier, one)[:2], counted(supplier, free)[0]) == ((1, Decimal(5)), 0)
    assert facts(supplier) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "draft"},
        {"status": "archived"},
        {"starts_at": instant(HOUR)},
        {"ends_at": instant(-HOUR)},
    ],
)
def test_what_does_not_run_is_not_redeemed(api: Api, supplier: Tenant, changes: dict[str, Any]) -> None:
    one = promotion(api, **changes)

    assert refused(supplier, uuid4(), (one, "1")) == [("a", "not_running")]
    assert refused(supplier, uuid4(), (uuid4(), "1")) == [(None, "unknown")]
    assert counted(supplier, one)[0] == 0


def test_an_order_is_lowered_after_the_end_but_not_raised(api: Api, supplier: Tenant) -> None:
    one = promotion(api, budget_amount=budget("10"))
    order = uuid4()
    take(supplier, order, (one, "5"))
    assert put(api, "a", status="archived", conditions=ONE, budget_amount=budget("10")).status_code == 200

    assert refused(supplier, order, (one, "5.01")) == [("a", "not_running")]
    take(supplier, order, (one, "4"))
    assert counted(supplier, one)[:2] == (1, Decimal(4))
    back(supplier, order)
    assert counted(supplier, one)[:2] == (0, Decimal(0))
    assert [kind for kind, *_ in facts(supplier)] == ["updated", "started", "updated", "ended"]


def test_an_exhausted_promotion_ends_and_runs_again_when_an_order_makes_room(api: Api, supplier: Tenant) -> None:
    one = promotion(api, budget_amount=budget("10"))
    order, other = uuid4(), uuid4()
    take(supplier, order, (one, "4"))
    take(supplier, other, (one, "6"))
    assert api.get(f"{PATH}?state=exhausted").json()["data"]["total"] == 1
    back(supplier, other)
    assert api.get(PATH).json()["data"]["items"][0]["state"] == "running"
    take(supplier, other, (one, "6"))
    take(supplier, order, (one, "1"))
    assert facts(supplier)[1:] == [
        ("started", "a", "running"),
        ("ended", "a", "exhausted"),
        ("started", "a", "running"),
        ("ended", "a", "exhausted"),
        ("started", "a", "running"),
    ]
    assert tell_promotions(at=clock.now()) == 0


def test_what_is_given_back_after_the_window_starts_nothing(api: Api, supplier: Tenant) -> None:
    one = promotion(api, max_redemptions=1)
    order = uuid4()
    take(supplier, order, (one, "4"))
    with tenant_context(supplier.id):
        Promotion.objects.filter(tenant_id=supplier.id).update(ends_at=clock.now())
    back(supplier, order)
    assert facts(supplier)[1:] == [("started", "a", "running"), ("ended", "a", "exhausted")]


def test_limits_are_not_put_below_what_is_redeemed(api: Api, supplier: Tenant) -> None:
    one = promotion(api, budget_amount=budget("10"), max_redemptions=5)
    for _ in range(2):
        take(supplier, uuid4(), (one, "4"))
    given = {"status": "active", "conditions": ONE, "budget_amount": budget("8"), "max_redemptions": 2}

    for changes, fields in (
        ({"budget_amount": budget("7.99")}, ["budget_amount"]),
        ({"max_redemptions": 1}, ["max_redemptions"]),
        ({"budget_amount": budget("1"), "max_redemptions": 1}, ["budget_amount", "max_redemptions"]),
    ):
        answer = put(api, "a", **given | changes)
        assert (answer.status_code, answer.json()["code"], answer.json()["fields"]) == (
            409,
            "limit_below_redeemed",
            fields,
        )
    assert api.get(PATH).json()["data"]["items"][0]["version"] == 1
    lowered = put(api, "a", **given).json()["data"]
    assert (lowered["state"], lowered["version"]) == ("exhausted", 2)
    assert put(api, "a", **given | {"max_per_buyer": 1}).status_code == 200  # a buyer keeps what he has
    assert refused(supplier, uuid4(), (one, "0")) == [("a", "max_redemptions")]
    raised = put(api, "a", **given | {"budget_amount": None, "max_redemptions": None}).json()["data"]
    assert (raised["state"], raised["spent"]) == ("running", budget("8.00"))
    assert [kind for kind, *_ in facts(supplier)] == [
        "updated",
        "started",
        "updated",
        "ended",
        "updated",
        "updated",
        "started",
    ]


def test_spending_follows_the_currency_of_the_promotion(api: Api, supplier: Tenant) -> None:
    one = promotion(api, conditions={})
    euros, dollars = uuid4(), uuid4()
    take(supplier, euros, (one, "4"))
    take(supplier, dollars, (one, "5", "USD"))
    assert api.get(PATH).json()["data"]["items"][0]["spent"] is None
    assert counted(supplier, one)[:2] == (2, Decimal(0))

    in_euros = put(api, "a", status="active", conditions=ONE, budget_amount=budget("10")).json()["data"]
    assert in_euros["spent"] == budget("4.00")
    back(supplier, dollars)
    assert counted(supplier, one)[:2] == (1, Decimal(4))
    in_dollars = put(api, "a", status="active", conditions={"currencies": ["USD"]}, budget_amount=budget("3", "USD"))
    assert in_dollars.json()["data"]["spent"] == budget("0.00", "USD")
    back(supplier, euros)
    assert counted(supplier, one)[:2] == (0, Decimal(0))


def test_times_are_told_once_by_whoever_comes_first(api: Api, supplier: Tenant) -> None:
    one = promotion(api, starts_at=instant(HOUR), ends_at=instant(2 * HOUR))
    promotion(api, "b", starts_at=instant(HOUR), ends_at=instant(2 * HOUR), max_redemptions=1)
    promotion(api, "draft", starts_at=instant(HOUR), ends_at=instant(2 * HOUR), status="draft")
    now = clock.now()
    tell_promotions(at=now)
    begin = len(facts(supplier))
    assert begin == 3

    race(*[lambda: tell_promotions(at=now + timedelta(minutes=61)) for _ in range(8)])
    assert sorted(facts(supplier)[begin:]) == [("started", "a", "running"), ("started", "b", "running")]

    take(supplier, uuid4(), (one, "1"), at=now + timedelta(minutes=62))
    race(*[lambda: tell_promotions(at=now + timedelta(minutes=121)) for _ in range(8)])
    tell_promotions(at=now + timedelta(minutes=122))
    assert sorted(facts(supplier)[begin + 2 :]) == [("ended", "a", "ended"), ("ended", "b", "ended")]
    with tenant_context(supplier.id):
        kept = Promotion.objects.filter(tenant_id=supplier.id).values_list("version", "told", "due_at").distinct()
        assert list(kept) == [(1, "over", None)]


def test_a_window_that_no_worker_saw_is_told_as_a_whole(api: Api, supplier: Tenant) -> None:
    one = promotion(api, starts_at=instant(HOUR), ends_at=instant(2 * HOUR), max_redemptions=1)
    promotion(api, "b", starts_at=instant(HOUR), ends_at=instant(2 * HOUR))
    later = clock.now() + timedelta(minutes=61)
    take(supplier, uuid4(), (one, "1"), at=later)  # redeemed before a worker told of the start, and so exhausted
    assert facts(supplier)[2:] == [("started", "a", "running"), ("ended", "a", "exhausted")]

    tell_promotions(at=clock.now() + 3 * HOUR)
    assert facts(supplier)[4:] == [("started", "b", "running"), ("ended", "b", "ended")]


def test_promotions_of_many_suppliers_and_more_than_a_batch_are_told(api: Api, supplier: Tenant) -> None:
    promotion(api, "first", starts_at=instant(HOUR))
    with tenant_context(supplier.id):
        row = Promotion.objects.get(tenant_id=supplier.id)
        for number in range(120):
            row.pk, row.code = uuid4(), f"p{number}"
            row.save(force_insert=True)

    assert tell_promotions(at=clock.now() + 2 * HOUR) >= 121
    assert len([1 for kind, *_ in facts(supplier) if kind == "started"]) == 121


def test_the_proof_finds_what_does_not_add_up(api: Api, supplier: Tenant) -> None:
    one = promotion(api)
    take(supplier, uuid4(), (one, "5"))
    with tenant_context(supplier.id):
        Promotion.objects.filter(tenant_id=supplier.id).update(spent=6)
        PromotionBuyer.objects.filter(tenant_id=supplier.id).update(redemptions=2)
    found = sorted((breach.rule, breach.table, breach.row_id, breach.what) for breach in breaches(supplier.id))
    assert found == [
        ("promotions", "suppliers_promotion", one, "redemptions are 1 of 1, spent is 6.0000 of 5.0000"),
        ("promotions", "suppliers_promotionbuyer", one, "a buyer's redemptions are 2 of 1"),
    ]


@pytest.mark.parametrize("values", [{"spent": 11}, {"redemptions": 3}, {"spent": -1}, {"budget_currency": None}])
def test_the_table_holds_the_limits(api: Api, supplier: Tenant, values: dict[str, Any]) -> None:
    promotion(api, budget_amount=budget("10"), max_redemptions=2)
    with tenant_context(supplier.id), pytest.raises(IntegrityError), transaction.atomic():
        Promotion.objects.filter(tenant_id=supplier.id).update(**values)


@pytest.mark.parametrize("wanted", [[(UUID(int=1), "1"), (UUID(int=1), "1")], [(UUID(int=1), "-1")]])
def test_a_caller_names_each_promotion_once(supplier: Tenant, wanted: list[tuple[UUID, str]]) -> None:
    with pytest.raises(ValueError, match="each promotion once"):
        take(supplier, uuid4(), *wanted)


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


def test_statuses_of_bodies_that_name_read_only_members(api: Api) -> None:
    assert field_errors(put(api, "a", state="running")) == {("state", "unknown_field")}
