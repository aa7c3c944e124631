"""What an order needs of limits, and moving from one need to another in the lock order: budget, agreement lines, promotions.

While a change waits, an order holds the larger of what stands and what is proposed; what is less is given back once it is
decided. Source: contract, supply-order.md 2 "Limits", supply.md 5.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from core.db import bind_call, needs_transaction
from core.pipeline import Call, Rows
from ledger.public import Occurrence
from suppliers.agreements import caps
from suppliers.agreements.caps import Taken
from suppliers.orders.budgeting import budgets
from suppliers.orders.limits import saved_by
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.progress import counted
from suppliers.terms.promotions import redeeming
from suppliers.terms.promotions.redeeming import Wanted

from .models import OrderChange

Key = tuple[UUID, UUID]


class Need(NamedTuple):
    """What an order needs: its gross, base units by owner and line of an agreement, what it saves by each promotion, and base
    units by offer.
    """

    gross: Decimal
    caps: Mapping[Key, int]
    promotions: Mapping[UUID, Decimal]
    shares: Mapping[UUID, int]

    def most(self, other: "Need") -> "Need":
        """Return what is enough for both."""
        return Need(
            max(self.gross, other.gross),
            _most(self.caps, other.caps),
            _most(self.promotions, other.promotions),
            _most(self.shares, other.shares),
        )

    def exceeds(self, other: "Need") -> bool:
        """Tell whether this one has more of anything than another."""
        return self.gross > other.gross or bool(self.more_than(other))

    def more_shares(self, other: "Need") -> dict[UUID, int]:
        """Return the base units by offer that this one has beyond another."""
        return dict(_more(self.shares, other.shares))

    def more_than(self, other: "Need") -> dict[str, Any]:
        """Return what this one has beyond another, as a change stores it; its gross is a column of its own."""
        found = {
            "caps": [[str(owner), str(line), more] for (owner, line), more in _more(self.caps, other.caps)],
            "promotions": [[str(key), f"{more:f}"] for key, more in _more(self.promotions, other.promotions)],
            "shares": [[str(offer), more] for offer, more in _more(self.shares, other.shares)],
        }
        return found if any(found.values()) else {}


def _most(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: max(one.get(key, 0), other.get(key, 0)) for key in {**one, **other}}


def _more(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    return [(key, now - other.get(key, 0)) for key, now in sorted(one.items()) if now > other.get(key, 0)]


def _with(one: Mapping[Any, Any], more: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    found = dict(one)
    for key, value in more:
        found[key] = found.get(key, 0) + value
    return found


def need_of(gross: Decimal, lines: Sequence[PurchaseOrderLine]) -> Need:
    """Return what an order of some lines needs."""
    of_caps: dict[Key, int] = defaultdict(int)
    of_offers: dict[UUID, int] = defaultdict(int)
    for line in lines:
        if line.agreement and "line_id" in line.agreement:
            of_caps[UUID(line.agreement["owner_id"]), UUID(line.agreement["line_id"])] += counted(line)
        if line.offer_id is not None:
            of_offers[line.offer_id] += counted(line)
    return Need(gross, {key: value for key, value in of_caps.items() if value}, saved_by(lines), dict(of_offers))


def held_by(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], changes: Sequence[OrderChange]) -> Need:
    """Return what an order holds now: what stands, and what its open changes hold beyond."""
    need = need_of(row.gross - row.given_back, lines)
    for change in changes:
        held = {name: change.more.get(name, ()) for name in ("caps", "promotions", "shares")}
        need = Need(
            need.gross + change.more_gross,
            _with(need.caps, (((UUID(owner), UUID(line)), more) for owner, line, more in held["caps"])),
            _with(need.promotions, ((UUID(key), Decimal(more)) for key, more in held["promotions"])),
            _with(need.shares, ((UUID(offer), more) for offer, more in held["shares"])),
        )
    return need


def more_taken(row: PurchaseOrder, changes: Sequence[OrderChange]) -> list[Taken]:
    """Return what open changes have taken of lines of agreements beyond what the order needs."""
    return [
        Taken(UUID(owner), row.supplier_tenant_id, UUID(line), more)
        for change in changes
        for owner, line, more in change.more.get("caps", ())
    ]


@dataclass(slots=True)
class Move:
    """A move from what an order holds to what it needs; made by `move`, before anything is locked."""

    row: PurchaseOrder
    before: Need
    after: Need
    at: datetime
    less: list[Taken]
    more: list[Taken]
    _sizes: list[int] = field(default_factory=list)

    @property
    def _wanted(self) -> list[Wanted]:
        before = self.before.promotions
        changed = [(key, amount) for key, amount in sorted(self.after.promotions.items()) if amount != before.get(key)]
        return [Wanted(key, amount, self.row.currency) for key, amount in changed]

    def _gone(self) -> Collection[UUID]:
        return self.before.promotions.keys() - self.after.promotions.keys()

    def calls(self) -> list[Call]:
        """Return the statements that lock and move the limits; they bind the tenants that they need, the supplier at last."""
        row, supplier = self.row, self.row.supplier_tenant_id
        before, now = self.before.gross, self.after.gross
        step = budgets().committing if now > before else budgets().giving_back
        budget = step(row, now, self.at) if now != before else []
        locks = caps.locking_calls([*self.less, *self.more]) if self.less and self.more else []
        both = sorted({*self._gone(), *(one.promotion_id for one in self._wanted)})
        held = [redeeming.lock_call(supplier, both, self.at)] if both else []
        gone = redeeming.give_back(supplier, document_id=row.pk, at=self.at, only=self._gone()) if self._gone() else []
        redeemed = redeeming.redeem(
            supplier, document_id=row.pk, buyer_id=row.tenant_id, wanted=self._wanted, at=self.at
        )
        groups = [
            [bind_call(row.tenant_id)], budget, locks, caps.returning_calls(self.less), caps.taking_calls(self.more),
            [bind_call(supplier)], held, gone, redeemed,
        ]  # fmt: skip
        self._sizes = [len(group) for group in groups]
        return [call for group in groups for call in group]

    def moved(self, found: Sequence[Rows]) -> dict[UUID, list[Occurrence]]:
        """Return what both parties are told of limits, from the rows of `calls`.

        :raises PlatformError: `budget_exceeded`, `agreement_exhausted` or `promotion_exhausted`: it is used up.
        """
        rest = iter(found)
        _, budget, _, returned, taken, _, _, gone, redeemed = (
            [next(rest) for _ in range(size)] for size in self._sizes
        )
        of_budget = [*budgets().given_back(budget)] if budget else []
        caps.check_returned(self.less, returned)
        caps.check_taken(self.more, taken)
        news = redeeming.redeemed(self._wanted, redeemed)
        if gone:
            news += redeeming.given_back(gone)
        return {self.row.tenant_id: of_budget, self.row.supplier_tenant_id: news}

    def copy_calls(self) -> list[Call]:
        """Return the statements that count the same in the suppliers' copies of agreements; they bind the supplier."""
        return [*caps.copy_returning_calls(self.less), *caps.copy_calls(self.more)]


@needs_transaction
def move(row: PurchaseOrder, before: Need, after: Need, at: datetime, lines: Sequence[PurchaseOrderLine] = ()) -> Move:
    """Return the move between two needs; where lines of agreements move, another tenant may be bound then.

    Each counts at the line of the version that is accepted now. `lines` are those that refusals name.
    """
    supplier = row.supplier_tenant_id
    fields = {
        UUID(one.agreement["line_id"]): f"lines.{one.line_no - 1}"
        for one in reversed(lines)
        if one.agreement and "line_id" in one.agreement
    }
    less = [Taken(owner, supplier, line, units) for (owner, line), units in _more(before.caps, after.caps)]
    more = [
        Taken(owner, supplier, line, units, fields.get(line, "lines"))
        for (owner, line), units in _more(after.caps, before.caps)
    ]
    if less or more:
        less, more = caps.current(less, more)
    return Move(row, before, after, at, less, more)
