"""What documents commit, spend and give back: exact, the same when told twice, told once of each threshold, and raced."""

import threading
from datetime import UTC, date, datetime
from decimal import InvalidOperation
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.errors import InvalidFields
from core.ids import uuid7
from core.invariants import breaches
from core.money import Money
from core.pipeline import run
from organizations.models import Tenant
from procurement.budgets.commitments import (
    Choice,
    Hold,
    Moved,
    budget_call,
    budget_for,
    commit,
    commit_call,
    give_back,
    lock_call,
    moved_of,
    spend,
)
from procurement.budgets.models import Budget
from procurement.budgets.refusals import BudgetExceeded, CurrencyMismatch
from tests import races
from tests.factories import Api, provision
from tests.procurement.budgets.budgets import D, amounts, another, entries, facts, made, put, reached, step

DAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 23, tzinfo=UTC)


def test_gross_is_committed_spent_and_given_back(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    other = another(order, "4712")

    moved = step(commit, order, D("600.25"))
    step(commit, other, D("100"))
    assert moved == Moved(True, Money(D("399.75"), "EUR"), ())
    assert amounts(buyer) == {"a": (D("700.25"), D(0))}
    step(spend, order, D("200.25"))
    assert amounts(buyer) == {"a": (D(500), D("200.25"))}
    step(spend, order, D("300.25"))
    assert step(give_back, order).available == Money(D("599.75"), "EUR")
    assert amounts(buyer) == {"a": (D(100), D("300.25"))}
    assert entries(buyer) == [
        (order.document_id, "4711", D(0), D("300.25"), 4),
        (other.document_id, "4712", D(100), D(0), 1),
    ]


def test_step_that_is_told_twice_changes_nothing(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    done: list[Any] = []

    for work, arguments in ((commit, [D(500)]), (spend, [D(200)]), (give_back, [])):
        first, again = step(work, order, *arguments), step(work, order, *arguments)
        done.append((first.has_changed, again.has_changed, first.available == again.available, again.told))

    assert done == [(True, False, True, ())] * 3
    assert amounts(buyer) == {"a": (D(0), D(200))}
    assert [one[-1] for one in entries(buyer)] == [3]


def test_a_changed_order_commits_the_difference(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)

    step(commit, order, D(500))
    step(spend, order, D(200))
    step(commit, order, D(900))
    assert amounts(buyer) == {"a": (D(700), D(200))}
    step(commit, order, D(150))
    assert amounts(buyer) == {"a": (D(0), D(200))}


def test_closed_order_keeps_what_is_to_be_invoiced(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    step(commit, order, D(900))
    step(spend, order, D(200))

    step(give_back, order, keeping=D(350))
    assert amounts(buyer) == {"a": (D(150), D(200))}
    step(give_back, order, keeping=D(5000))
    assert amounts(buyer) == {"a": (D(150), D(200))}


def test_credit_note_frees_what_was_spent_and_commits_nothing(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    step(commit, order, D(500))
    step(spend, order, D(400))

    step(spend, order, D(300))

    assert amounts(buyer) == {"a": (D(100), D(300))}


def test_hard_budget_refuses_what_it_does_not_have(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    step(commit, order, D("900.10"))

    with pytest.raises(BudgetExceeded) as refused:
        step(commit, another(order), D("99.91"))
    with pytest.raises(BudgetExceeded):
        step(commit, order, D("1000.01"))
    with pytest.raises(BudgetExceeded):
        step(spend, order, D("1000.01"))

    assert refused.value.extra == {"available": {"amount": "99.90", "currency": "EUR"}}
    assert amounts(buyer) == {"a": (D("900.1"), D(0))}
    assert [one[-1] for one in entries(buyer)] == [1]
    step(commit, another(order), D("99.90"))
    assert amounts(buyer) == {"a": (D(1000), D(0))}


def test_warning_budget_may_be_passed_and_says_so(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer, enforcement="warn")

    within, beyond = step(commit, order, D(1000)), step(commit, another(order), D("0.01"))

    assert (within.is_exceeded, beyond.is_exceeded) == (False, True)
    assert beyond.available == Money(D("-0.01"), "EUR")
    assert reached(buyer) == 1
    assert amounts(buyer) == {"a": (D("1000.01"), D(0))}


def test_exceeded_hard_budget_takes_back(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    step(commit, order, D(1000))
    put(api, active=False)

    step(spend, order, D(400))
    step(give_back, order)

    assert amounts(buyer) == {"a": (D(0), D(400))}


def test_threshold_is_told_once_per_crossing(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    other = another(order)
    told = []

    for work, hold, arguments in (
        (commit, order, [D("799.99")]),
        (commit, other, [D("0.01")]),
        (commit, other, [D(100)]),
        (spend, order, [D(799)]),
        (give_back, other, []),
        (commit, other, [D("0.01")]),
    ):
        step(work, hold, *arguments)
        told.append(reached(buyer))

    assert told == [0, 1, 1, 1, 1, 2]
    assert facts(buyer)[1] == ("budget.threshold_reached", 1, {"code": "a", "threshold_percent": 80})


def test_budget_of_nothing_reaches_its_threshold_with_the_first_order(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer, amount="0", enforcement="warn")

    assert step(commit, order, D(0)).told == ()
    step(commit, order, D("0.01"))

    assert reached(buyer) == 1
    assert entries(buyer) == [(order.document_id, "4711", D("0.01"), D(0), 1)]


def found(buyer: Tenant, choice: Choice, currency: str = "EUR", at: datetime = NOON) -> Any:
    with tenant_context(buyer.id):
        (rows,) = run([budget_call(buyer.id, choice, at)])
    return budget_for(rows, currency)


@pytest.mark.parametrize("at", [datetime(2026, 3, 2, 11, tzinfo=UTC), datetime(2026, 3, 3, 10, 59, 59, tzinfo=UTC)])
def test_budget_of_an_order_is_found(api: Api, buyer: Tenant, at: datetime) -> None:
    """The day of the buyer, eleven hours behind UTC."""
    hold = made(api, buyer, cost_centers=["4711"], valid_from="2026-03-02", valid_to="2026-03-03")
    step(commit, hold, D(1))

    budget = found(buyer, Choice("a", "4711"), at=at)

    assert (budget.id, budget.is_hard, budget.available) == (hold.budget_id, True, D(999))


@pytest.mark.parametrize("change", [{"currency": "CHF"}, {"cost_centers": ["5000"]}, {"active": False}])
def test_a_budget_changes_before_an_order_commits_or_after_it(api: Api, buyer: Tenant, change: dict[str, Any]) -> None:
    """Whoever locks first decides: the order finds what was put, or the PUT finds what is committed."""
    hold = made(api, buyer)
    looked, locked = threading.Event(), threading.Event()

    def order() -> Any:
        with tenant_context(buyer.id), transaction.atomic():
            looked.wait(20)
            (rows,) = run([budget_call(buyer.id, Choice("a", "4711"), NOON, lock=True)])
            budget_for(rows, "EUR")
            (moved,) = run([commit_call(hold, D(10), now())])
            return moved_of(moved)

    def change_it() -> Any:
        with tenant_context(buyer.id), transaction.atomic():
            row = Budget.objects.select_for_update(no_key=True).get(tenant_id=buyer.id, pk=hold.budget_id)
            looked.set()
            locked.wait(0.3)  # the order waits for the row meanwhile
            row.save_version(*row.assign(change), at=now())

    ordered, _ = races.race(order, change_it)

    assert isinstance(ordered, CurrencyMismatch | InvalidFields)
    assert amounts(buyer) == {"a": (D(0), D(0))}


@pytest.mark.parametrize(
    ("choice", "at", "member"),
    [
        (Choice("b", "4711"), NOON, "code"),
        (Choice("off", "4711"), NOON, "code"),
        (Choice("a", "4711"), datetime(2026, 3, 2, 10, 59, 59, tzinfo=UTC), "code"),
        (Choice("a", "4711"), datetime(2026, 3, 3, 11, tzinfo=UTC), "code"),
        (Choice("a", "4712"), NOON, "cost_center"),
        (Choice("a"), NOON, "cost_center"),
        (Choice("foreign"), NOON, "code"),
    ],
)
def test_unknown_budget_is_refused(api: Api, buyer: Tenant, choice: Choice, at: datetime, member: str) -> None:
    put(api, "a", cost_centers=["4711"], valid_from="2026-03-02", valid_to="2026-03-03")
    put(api, "off", active=False)
    stranger = provision("provider")
    with tenant_context(stranger.id):
        Budget.objects.create(
            tenant_id=stranger.id,
            code="foreign",
            name="F",
            amount=1,
            currency="EUR",
            valid_from=DAY,
            valid_to="2999-01-01",
        )

    with pytest.raises(InvalidFields) as refused:
        found(buyer, choice, at=at)

    assert [(one.field, one.code) for one in refused.value.errors] == [(f"budget.{member}", "unknown_budget")]


def test_nothing_is_converted(api: Api, buyer: Tenant) -> None:
    put(api)

    with pytest.raises(CurrencyMismatch) as refused:
        found(buyer, Choice("a"), "CHF")

    assert (refused.value.code, refused.value.extra) == ("currency_mismatch", {"currency": "EUR"})


def test_refusal_inside_a_pipeline_leaves_the_transaction_to_its_owner(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)

    with tenant_context(buyer.id), transaction.atomic():
        *_, one = run([lock_call(buyer.id, [order.budget_id]), commit_call(order, D(5000), now())])
        with pytest.raises(BudgetExceeded):
            moved_of(one)
        *_, two = run([commit_call(order, D(500), now())])
        assert moved_of(two).available == Money(D(500), "EUR")

    assert amounts(buyer) == {"a": (D(500), D(0))}


@pytest.mark.parametrize(
    "change", ["amount = 10", "committed = 1001", "committed = -1", "spent = 901", "enforcement = 'soft'"]
)
def test_database_holds_the_amounts(api: Api, buyer: Tenant, change: str) -> None:
    step(commit, made(api, buyer), D(100))

    with (
        pytest.raises(IntegrityError),
        tenant_context(buyer.id),
        connections["default"].cursor() as cursor,
    ):
        cursor.execute(f"UPDATE procurement_budget SET {change} WHERE tenant_id = %s", [buyer.id])

    assert amounts(buyer) == {"a": (D(100), D(0))}


def test_proof_names_a_budget_that_counts_otherwise(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    step(commit, order, D(100))
    with tenant_context(buyer.id):
        Budget.objects.filter(tenant_id=buyer.id).update(committed=101)

    (breach,) = breaches(buyer.id)

    assert (breach.rule, breach.table, breach.row_id) == ("budgets", "procurement_budget", order.budget_id)
    assert breach.what == "committed is 101.0000 and spent 0.0000, entries sum to 100.0000 and 0.0000"
    with tenant_context(buyer.id):
        Budget.objects.filter(tenant_id=buyer.id).update(committed=100)


def test_another_tenant_reaches_nothing(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)
    stranger = provision("provider")
    foreign = order._replace(tenant_id=stranger.id)

    with tenant_context(stranger.id):
        locked, rows = run([lock_call(buyer.id, [order.budget_id]), commit_call(foreign, D(1), now())])

    assert (len(locked), len(rows)) == (0, 0)
    assert (amounts(buyer), entries(buyer)) == ({"a": (D(0), D(0))}, [])


@pytest.mark.parametrize("amount", ["-0.01", "1.00001", "NaN"])
@pytest.mark.parametrize("work", [commit, spend])
def test_what_is_no_total_is_a_fault_of_the_program(api: Api, buyer: Tenant, work: Any, amount: str) -> None:
    order = made(api, buyer)

    with pytest.raises((ValueError, InvalidOperation)):
        step(work, order, D(amount))

    assert entries(buyer) == []


def test_steps_take_one_trip(api: Api, buyer: Tenant) -> None:
    from bench.statements import recording

    order = made(api, buyer)
    with tenant_context(buyer.id), recording() as trips:
        commit(system_actor(buyer.id), order, D(1), now())

    assert (len(trips), trips.statements) == (1, 2)


STEPS = st.lists(
    st.tuples(st.sampled_from(["commit", "spend", "give_back"]), st.integers(0, 2), st.decimals(0, 1200, places=2)),
    max_size=12,
)


@settings(max_examples=25)
@given(steps=STEPS, hard=st.booleans())
def test_any_steps_agree_with_a_ledger_kept_by_hand(steps: Any, hard: bool) -> None:
    """Every order of steps leaves what a plain model of them says; a refused one leaves everything."""
    buyer = _buyer()
    with tenant_context(buyer.id):
        row = Budget.objects.create(
            tenant_id=buyer.id, code=uuid7().hex, name="B", amount=1000, currency="EUR", valid_from=DAY,
            valid_to="2999-01-01", enforcement="hard" if hard else "warn",
        )  # fmt: skip
    documents = [Hold(buyer.id, row.id, uuid7()) for _ in range(3)]
    model = {one.document_id: (D(0), D(0)) for one in documents}
    told = 0

    for name, number, amount in steps:
        hold = documents[number]
        committed, spent = model[hold.document_id]
        after = {
            "commit": (max(amount - spent, D(0)), spent),
            "spend": (max(committed - max(amount - spent, D(0)), D(0)), amount),
            "give_back": (min(committed, max(amount - spent, D(0))), spent),
        }[name]
        before, later = (sum(map(sum, one.values())) for one in (model, model | {hold.document_id: after}))
        refused = hard and later > before and later > 1000
        work = {"commit": commit, "spend": spend, "give_back": give_back}[name]
        given_ = {"keeping": amount} if name == "give_back" else {}
        try:
            moved = step(work, hold, *([] if given_ else [amount]), **given_)
        except BudgetExceeded:
            assert refused
            continue
        assert not refused
        model[hold.document_id] = after
        assert moved.available.amount == 1000 - later
        assert len(moved.told) == int(before < 800 <= later)
        told += len(moved.told)

    with tenant_context(buyer.id):
        row.refresh_from_db()
    assert (row.committed, row.spent) == (sum(one for one, _ in model.values()), sum(two for _, two in model.values()))


_made: list[Tenant] = []


def _buyer() -> Tenant:
    """One buyer for all examples, each with a budget of its own."""
    if not _made:
        _made.append(provision("provider"))
    return _made[0]
