"""What documents commit of a budget at once: exactly the amount, each document once, each threshold told once."""

from typing import Any

from organizations.models import Tenant
from procurement.budgets.commitments import (
    Moved,
    commit,
)
from procurement.budgets.refusals import BudgetExceeded
from tests import races
from tests.factories import Api
from tests.procurement.budgets.budgets import D, amounts, another, entries, made, put, reached, step


def test_sixteen_at_once_take_exactly_the_amount_and_one_tells(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer, amount="700")  # seven of a hundred each

    def work() -> Moved:
        moved: Moved = step(commit, another(order), D(100))
        return moved

    answers = races.race(*[work] * 16)

    taken = [one for one in answers if isinstance(one, Moved)]
    assert len(taken) == 7
    assert all(isinstance(one, BudgetExceeded) for one in answers if one not in taken)
    assert sorted(one.available.amount for one in taken) == [D(100 * left) for left in range(7)]
    assert amounts(buyer) == {"a": (D(700), D(0))}
    assert (reached(buyer), sum(len(one.told) for one in taken)) == (1, 1)


def test_sixteen_at_once_with_one_document_count_it_once(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)

    answers = races.race(*[lambda: step(commit, order, D(900))] * 16)

    assert sum(one.has_changed for one in answers) == 1
    assert amounts(buyer) == {"a": (D(900), D(0))}
    assert (reached(buyer), entries(buyer)[0][-1]) == (1, 1)


def test_steps_race_with_puts(api: Api, buyer: Tenant) -> None:
    order = made(api, buyer)

    def lower() -> Any:
        one = Api()
        one.headers = api.headers
        return put(one, amount="500").status_code

    answers = races.race(*[lower] * 4, *[lambda: step(commit, another(order), D(100))] * 12)

    assert set(answers[:4]) <= {200, 409}
    (used, _), taken = amounts(buyer)["a"], sum(isinstance(one, Moved) for one in answers[4:])
    assert used == 100 * taken
    if 200 in answers[:4]:
        assert used <= 500
    assert all(isinstance(one, Moved | BudgetExceeded) for one in answers[4:])
