"""Steps of a walk with money: matching, releasing, disputes, refusals, payments and offsets; each is judged before it is asked for."""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from core.money import minor_units
from tests.suppliers.orders.proof.accounts import HOLDING, RELEASED, Till
from tests.suppliers.orders.proof.fair import INVOICES, PAYMENTS, Buyer, asked, paying
from tests.suppliers.orders.proof.goods_walk import PICK, WHO
from tests.suppliers.orders.proof.walking import Walk, act

OPEN = ("issued", "matched", "mismatched")
POLICIES: tuple[dict[str, Any], ...] = (
    {"invoice_auto_approve_limit": "0"}, {"invoice_auto_approve_limit": "25"}, {"match_price_tolerance_bp": 500},
    {"match_quantity_tolerance_bp": 1000}, {"match_price_tolerance_bp": 0, "match_quantity_tolerance_bp": 0},
)  # fmt: skip
_OUTCOMES = {
    "pending": ("processing", "succeeded", "failed"), "processing": ("succeeded", "failed"), "succeeded": ("reversed",),
}  # fmt: skip


def _cents(amount: Decimal, currency: str, share: int) -> Decimal:
    """Return some quarters of an amount, rounded down to what the currency has; at least the least there is."""
    unit = Decimal(1).scaleb(-minor_units(currency))
    return max(unit, (amount * share / 4 // unit) * unit)


class MoneyWalk(Walk):
    """What a hospital makes of invoices, and what it pays."""

    @act(who=WHO, policy=st.sampled_from(POLICIES))
    def settle(self, who: int, policy: dict[str, Any]) -> None:
        self.house(who).desk.policies(**policy)

    @act(who=WHO, number=PICK)
    def match(self, who: int, number: int) -> None:
        house = self.house(who)
        if row := self.pick("invoice", house, house.invoices(*(OPEN if number % 8 else ())), number):
            expected = "" if str(row.status) in OPEN else "invalid_transition"
            self.send("match", lambda: asked(house.finance, INVOICES, row.id, "match"), expected)

    @act(who=WHO, number=PICK, times=4)
    def approve(self, who: int, number: int) -> None:
        house = self.house(who)
        if row := self.pick("invoice", house, house.invoices(*(OPEN if number % 8 else ())), number):
            body = {"override_reason": "As agreed"} if row.status == "mismatched" else {}
            expected = "" if str(row.status) in ("matched", "mismatched") else "invalid_transition"
            self.send("approve", lambda: asked(house.finance, INVOICES, row.id, "approve", **body), expected)

    @act(who=WHO, number=PICK, withdraws=st.booleans(), times=2)
    def dispute(self, who: int, number: int, withdraws: bool) -> None:
        house = self.house(who)
        states = ("disputed",) if withdraws else (*OPEN, "approved")
        row = self.pick("invoice", house, house.invoices(*(states if number % 8 else ())), number)
        if row:
            body = {"withdraw": True} if withdraws else {"reason_code": "price", "note": "Too dear"}
            is_free = withdraws or not any(self.accounts.balances(str(row.id))[1:])
            expected = "" if str(row.status) in states and is_free else "invalid_transition"
            self.send("dispute", lambda: asked(house.finance, INVOICES, row.id, "dispute", **body), expected)

    @act(who=WHO, number=PICK, how=st.sampled_from(["reject", "cancel"]))
    def refuse(self, who: int, number: int, how: str) -> None:
        house = self.house(who)
        row = self.pick("invoice", house, house.invoices(*(("mismatched", "disputed") if number % 4 else ())), number)
        if row:
            api = house.finance if how == "reject" else self.fair.shelf.api
            expected = "" if str(row.status) in (*OPEN, "disputed") else "invalid_transition"
            self.send(how, lambda: asked(api, INVOICES, row.id, how, reason="Wrong"), expected)

    @act(who=WHO, number=PICK, share=st.integers(1, 4), over=st.integers(0, 5), times=4)
    def pay(self, who: int, number: int, share: int, over: int) -> None:
        """Pay one invoice or two of one currency; sometimes somewhat more than is left."""
        house = self.house(who)
        payable = [one for one in house.invoices(*RELEASED) if self.accounts.payable(str(one.id)) > 0]
        found = payable if number % 8 else house.invoices()
        first = self.pick("invoice", house, found, number)
        if first is None:
            return
        rows = [first, *[one for one in payable if one.currency == first.currency and one.id != first.id][: number % 2]]
        parts, expected = list[tuple[Any, Decimal]](), ""
        for row in rows:
            left = max(Decimal(0), self.accounts.payable(str(row.id)))
            amount = _cents(left, row.currency, 4 if not over else share)
            if not over and row is first:
                amount += Decimal(1).scaleb(-minor_units(row.currency))
            parts.append((row.id, amount))
            if str(row.status) not in RELEASED:
                expected = "invoice_not_approved"
            elif amount > left:
                expected = expected or "exceeds_balance"
        self._paid(house, first.currency, parts, [], expected)

    @act(who=WHO, number=PICK, share=st.integers(1, 4), over=st.integers(0, 5), times=3)
    def offset(self, who: int, number: int, share: int, over: int) -> None:
        """Pay an invoice with the credit of another one."""
        house, due = self.house(who), self.accounts.due
        released = house.invoices(*RELEASED)
        source = self.pick("source", house, [one for one in released if due(str(one.id)) < 0], number)
        fit = [one for one in released if source and one.currency == source.currency]
        target = self.pick("invoice", house, [one for one in fit if self.accounts.payable(str(one.id)) > 0], number)
        if target is None:
            return
        credit, left = -due(str(source.id)), self.accounts.payable(str(target.id))
        amount = _cents(min(credit, left), source.currency, share)
        if not over:
            amount = min(credit, left) + Decimal(1).scaleb(-minor_units(source.currency))
        expected = "exceeds_balance" if amount > min(credit, left) else ""
        self._paid(house, source.currency, [(target.id, amount)], [(source.id, amount)], expected)

    def _paid(self, house: Buyer, currency: str, parts: Any, sources: Any, expected: str) -> None:
        body = paying(house, self.fair.shelf.id, currency, parts, sources)
        name = "offset" if sources else "pay"
        if made := self.send(name, lambda: house.finance.post(PAYMENTS, json=body), expected):
            named = [[(str(key), amount) for key, amount in of] for of in (parts, sources)]
            assert made["status"] == ("succeeded" if sources else "pending")
            self.accounts.tills[made["id"]] = Till(made["id"], house, currency, made["status"], *named)
            self.touched["payment"] = (house, made["id"])

    @act(who=WHO, number=PICK, times=4, outcome=st.sampled_from(["", "", "processing", "failed", "reversed", "cancel"]))
    def confirm(self, who: int, number: int, outcome: str) -> None:
        """Record what the bank has made of a payment: by default the money has moved."""
        house, outcome = self.house(who), outcome or "succeeded"
        states = {"succeeded": HOLDING, "failed": HOLDING, "reversed": ("succeeded",)}.get(outcome, ("pending",))
        row = self.pick("payment", house, house.payments(*(states if number % 8 else ())), number)
        if row is None:
            return
        till = self.accounts.tills[str(row.id)]
        allowed = (*_OUTCOMES.get(till.status, ()), *(("cancel",) if till.status == "pending" else ()))
        is_final = till.status in ("failed", "cancelled", "reversed")
        expected = "" if outcome in allowed else "payment_final" if is_final else "invalid_transition"
        action, body = ("cancel", {}) if outcome == "cancel" else ("confirm", {"status": outcome})
        if self.send(outcome, lambda: asked(house.finance, PAYMENTS, row.id, action, **body), expected):
            till.status = "cancelled" if outcome == "cancel" else outcome
