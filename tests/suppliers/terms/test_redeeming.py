"""What orders redeem of promotions and give back: counted exactly, told once, and never more than a limit allows."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, transaction

from core import clock
from core.db import tenant_context
from core.invariants import breaches
from organizations.models import Tenant
from suppliers.terms.promotions.models import Promotion, PromotionBuyer, PromotionRedemption
from suppliers.terms.promotions.sweeping import tell_promotions
from tests.factories import Api
from tests.races import race
from tests.suppliers.products import field_errors
from tests.suppliers.terms.redeeming import BUYER, OTHER, back, budget, counted, promotion, refused, take
from tests.suppliers.terms.test_promotions import HOUR, ONE, PATH, facts, instant, put


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
        {"starts_at": HOUR},
        {"ends_at": -HOUR},
    ],
)
def test_what_does_not_run_is_not_redeemed(api: Api, supplier: Tenant, changes: dict[str, Any]) -> None:
    one = promotion(api, **{name: instant(one) if isinstance(one, timedelta) else one for name, one in changes.items()})

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
    told = facts(supplier)
    tell_promotions(at=clock.now())  # the windows of other tenants' promotions may be due, none of this one's
    assert facts(supplier) == told


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


def test_statuses_of_bodies_that_name_read_only_members(api: Api) -> None:
    assert field_errors(put(api, "a", state="running")) == {("state", "unknown_field")}
