"""An invoice that is brought into a state, and asked for every action of both sides."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from suppliers.invoices.course import CREDIT, PAY, REVERSE, WITHDRAW, Who
from tests.suppliers.invoices.bills import Desk
from tests.suppliers.payments.tills import Till
from tests.suppliers.snapshots import everything, told

_ABOUT = ("invoice", "credit_note")


class Standing:
    """An invoice of 60 received units in a state; one that was never matched has a single unit, and is made as a row."""

    def __init__(self, desk: Desk, state: str) -> None:
        self.desk, self.payment = desk, ""
        self.order = desk.arrived(60)
        self.till = Till(desk.dock.trade, UUID(self.order["id"]), desk.clerk)
        self.made = self._reach(state)
        assert self.status == state

    def _reach(self, state: str) -> dict[str, Any]:
        desk = self.desk
        if state == "issued":
            return {"id": self.till.invoice("10", status="issued")}
        price = {"unit_price": "99999"} if state == "mismatched" else {}
        made = desk.issue(self.order, desk.line(self.order, 1, 60, **price))
        taken: dict[str, tuple[str, dict[str, Any]]] = {
            "disputed": ("dispute", {"reason_code": "other"}), "rejected": ("reject", {"reason": "No"}),
            "cancelled": ("cancel", {"reason": "No"}),
        }  # fmt: skip
        if state in taken:
            desk.did(made, taken[state][0], **taken[state][1])
        if state in ("approved", "partially_paid", "paid"):
            desk.did(made, "approve")
        if state in ("partially_paid", "paid"):
            amount = "1" if state == "partially_paid" else made["gross_total"]
            self.payment = self.till.paid((made["id"], amount))["id"]
        return made

    @property
    def status(self) -> str:
        """The state as its buyer reads it."""
        found: str = self.desk.read(self.made)["status"]
        return found

    def kept(self) -> list[Any]:
        """Return everything that both sides keep."""
        return everything(self.desk.dock.buyer, self.desk.dock.shelf)

    def news(self) -> list[list[str]]:
        """Return what the buyer and the supplier were told of invoices and credit notes."""
        return [told(side, *_ABOUT) for side in (self.desk.dock.buyer, self.desk.dock.shelf)]

    def ask(self, action: str, choice: str = "", api: Any = None) -> Any:
        """Ask for an action of the table, by default as the side that takes it."""
        desk, made = self.desk, self.made
        reason = {"override_reason": "Agreed"} if self.status == "mismatched" else {}
        asked: dict[tuple[str, str], Callable[[], Any]] = {
            ("match", ""): lambda: desk.act(made, "match", api=api),
            ("approve", ""): lambda: desk.act(made, "approve", api=api, **reason),
            ("dispute", ""): lambda: desk.act(made, "dispute", api=api, reason_code="other"),
            ("dispute", WITHDRAW): lambda: desk.act(made, "dispute", api=api, withdraw=True),
            ("reject", ""): lambda: desk.act(made, "reject", api=api, reason="No"),
            ("cancel", ""): lambda: desk.act(made, "cancel", api=api, reason="No"),
            (CREDIT, ""): lambda: self._credit(api),
            (PAY, ""): lambda: self._pay(api),
            (REVERSE, ""): lambda: self.till.confirm(self.payment, "reversed", api=api),
        }
        return asked[action, choice]()

    def _credit(self, api: Any) -> Any:
        of = self.desk.read(self.made)["lines"][0]
        line = {name: of[name] for name in ("order_line_id", "unit_price", "price_base_quantity")}
        body = {"type": "credit_note", "original_invoice_id": self.made["id"]}
        return self.desk.post(self.order, line | {"quantity": 1, "unit": "base"}, api=api, **body)

    def _pay(self, api: Any) -> Any:
        answer = self.till.post((self.made["id"], "1"), api=api)
        if answer.status_code != 201:
            return answer
        return self.till.confirm(answer.json()["data"]["id"], "succeeded")


# What is asked for over HTTP; an invoice is matched by the system at receipts and credited by it for returns.
ASKED = (
    ("match", Who.BUYER, ""), ("approve", Who.BUYER, ""), ("dispute", Who.BUYER, ""), ("dispute", Who.BUYER, WITHDRAW),
    ("reject", Who.BUYER, ""), ("cancel", Who.SUPPLIER, ""), (CREDIT, Who.SUPPLIER, ""), (PAY, Who.SYSTEM, ""),
    (REVERSE, Who.SYSTEM, ""),
)  # fmt: skip
