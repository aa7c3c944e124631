"""Looking at an order before anything is locked: what the lock order puts before an order is only known from the order.

Source: contract, supply.md 5. The action locks the order in its place, and begins with what it then reads.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core import clock
from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound
from core.model_rows import lock_call, row_of
from core.pipeline import Call, Rows, run
from core.targets import Located
from organizations.public import CounterpartyOnly, policies_call, policies_of
from procurement.approvals.decisions import Decided, decisions_call, decisions_of
from suppliers.public import (
    ORDERS,
    OrderPeek,
    PurchaseOrder,
    Standing,
    changes_call,
    changes_of,
    lines_call,
    lines_of,
    read_call,
    standing_call,
    standing_of,
)

from .finding import WITHIN


@dataclass(frozen=True, slots=True, eq=False)
class Peeked(OrderPeek):
    """An order of the caller's tenant as it was found, with what approvers have decided about it; its buyer is bound."""

    standing: Standing
    policies: Any
    decided: list[Decided]

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        return int(self.row.version)


@dataclass(frozen=True, slots=True, eq=False)
class PeekedOrder(Located):
    """The `find` of an action that takes or gives back limits; with `locks` of one that moves none, and locks the order."""

    locks: bool = False

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the order's owner in the trip of the proof."""
        return Call(ORDERS.located, [str(path[0]), str(tenant_id)])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> Peeked:
        """Look at the order.

        What is read behind its lock is as it stands under the lock.

        :raises NotFound: the tenant has no such order in the actor's reach.
        :raises CounterpartyOnly: it is the supplier of the order.
        """
        if not len(located):
            raise NotFound(f"No such {ORDERS.name}.")
        if UUID((located.value() or b"").decode()) != actor.tenant_id:
            raise CounterpartyOnly
        own, key = actor.tenant_id, path[0]
        found, lines, changes, standing, policies, decided = run(
            [
                lock_call(PurchaseOrder, own, key) if self.locks else read_call(own, key),
                lines_call(own, key),
                changes_call(own, key),
                standing_call(own, key, clock.now()),
                policies_call(own),
                decisions_call(own, key),
            ]
        )
        row = row_of(PurchaseOrder, found)
        if row is None or not WITHIN.holds(actor, row.delivery_location_id):
            raise NotFound(f"No such {ORDERS.name}.")
        known = standing_of(standing), policies_of(policies), decisions_of(decided)
        return Peeked(actor, row, lines_of(lines), changes_of(changes), *known)
