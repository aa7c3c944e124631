"""Random walks of a supplier and two hospitals from order to return: money and goods are right on both sides after every step.

The test keeps accounts of its own, in fractions, and says of nearly every request whether it must be refused, before it is asked.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from tests.suppliers.orders.proof.accounts import HOLDING, RELEASED
from tests.suppliers.orders.proof.fair import MONEY, fair
from tests.suppliers.orders.proof.goods_walk import PICK, UNDER_WAY, WHO, GoodsWalk
from tests.suppliers.orders.proof.money_books import check
from tests.suppliers.orders.proof.money_walk import MoneyWalk
from tests.suppliers.orders.proof.return_walk import KEPT, ReturnWalk
from tests.suppliers.orders.proof.walking import ACTS, DONE, act

pytestmark = pytest.mark.untraced
SEEN = (  # what each run must have seen, or it proves nothing
    "issue all 201", "credit units 201", "approve 200", "pay 201", "succeeded 200", "request 201", "inspect 200",
)  # fmt: skip
SEEN_LONG = (
    *SEEN, "offset 201", "reversed 200", "failed 200", "cancel 200", "move on 200", "issue over over_invoiced",
    "pay exceeds_balance", "pay invoice_not_approved", "request return_exceeds_received", "reverse 201",
    "reverse receipt_not_reversible", "credit units credit_exceeds_invoice", "dispute 200", "dispute invalid_transition",
)  # fmt: skip

STRIDE = 23  # the first walk draws nothing but noughts, and so takes one act after the other


class OrderToReturn(ReturnWalk, MoneyWalk, GoodsWalk, RuleBasedStateMachine):  # type: ignore[misc]  # the library has no types
    """Two hospitals, each with received goods of two currencies, invoiced in part."""

    @initialize()
    def begin(self) -> None:
        self.start(fair())
        self.steps = 0
        for who, codes in enumerate((MONEY[::2], MONEY[1::2])):
            for code in codes:
                self.order(who, code, 7, 5)
                self.ship(who, 99, 4)
                self.receive(who, 0, 3, 0, 0)
                self.issue(who, 99, "split" if code in ("EUR", "JPY") else "all")

    @act(who=WHO, number=PICK, times=14)
    def further(self, who: int, number: int) -> None:
        """Take a step that leads on what is under way, so that walks reach late states too."""
        house, number = self.house(who), number | 1
        payable = [one for one in house.invoices(*RELEASED) if self.accounts.payable(str(one.id)) > 0]
        ways: list[tuple[list[Any], Callable[[], None]]] = [
            (house.returns("received"), lambda: self.inspect(who, number, (KEPT[number % 4], KEPT[number // 4 % 4]))),
            (house.returns("in_transit"), lambda: self.take_back(who, number, number % 4)),
            (house.returns("authorized"), lambda: self.hand_over(who, number, 1)),
            (house.returns("requested"), lambda: self.authorize(who, number, 1)),
            (house.deliveries("completed"), lambda: self.request(who, number, 1 + number % 3, True, "credit", "return")),
            (house.payments(*HOLDING), lambda: self.confirm(who, number, "")),
            (payable, lambda: self.pay(who, number, 1 + number % 4, 1 + number % 3)),
            (house.invoices("matched", "mismatched"), lambda: self.approve(who, number)),
            (house.deliveries(*UNDER_WAY), lambda: self.receive(who, number, 3, number % 6, number % 3)),
        ]  # fmt: skip
        open_ = [take for found, take in ways if found]
        if open_:
            open_[number // 2 % len(open_)]()

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        self.steps += STRIDE
        name, drawn = ACTS[(self.steps + data.draw(st.integers(0, len(ACTS) - 1), label="act")) % len(ACTS)]
        getattr(self, name)(**{key: data.draw(one, label=key) for key, one in drawn.items()})

    @invariant()
    def books_are_right(self) -> None:
        if hasattr(self, "fair"):
            check(self)


@pytest.mark.timeout(3600)
def test_random_trade_keeps_money_and_goods(long: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Derandomized: each run takes the same steps, so that it fails for a reason of the code alone."""
    DONE.clear()
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        OrderToReturn,
        settings=settings(
            max_examples=60 if long else 3,
            stateful_step_count=120 if long else 50,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    if long:
        with capsys.disabled():
            print(f"\n{DONE.total():,} requests: {dict(DONE)}")
    for name in SEEN_LONG if long else SEEN:
        assert DONE[name] > 0, (name, dict(DONE))
