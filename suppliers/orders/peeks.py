"""An order as it was found, not locked: what the lock order puts before an order is only known from the order.

Source: contract, supply.md 5. The action locks the order in its place, and begins with what it then reads.
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import Busy, NotFound
from core.model_rows import lock_call, row_of
from core.pipeline import Call, Rows, Statement, run
from core.targets import Located
from core.watermark import mark_call
from organizations.public import CounterpartyOnly, PartyClosed

from .finding import lines_call, lines_of
from .models import ORDERS, PurchaseOrder, PurchaseOrderLine
from .proposals.finding import changes_call, changes_of
from .proposals.models import OrderChange

_COLUMNS: Final = ", ".join(f'"{one.column}"' for one in PurchaseOrder._meta.concrete_fields)
_READ = Statement.of(f"SELECT {_COLUMNS} FROM suppliers_purchaseorder WHERE tenant_id = $1 AND id = $2")
_STATUS = Statement.of("SELECT n.status FROM organizations_tenant n WHERE n.id = $1")


@dataclass(frozen=True, slots=True, eq=False)
class OrderPeek:
    """An order with its lines and open changes as they were found; its buyer is bound."""

    actor: Actor
    row: PurchaseOrder
    lines: list[PurchaseOrderLine]
    changes: list[OrderChange]

    def lock_call(self) -> Call:
        """Return the statement that locks the order, bound to its buyer; `check` takes its row."""
        return lock_call(PurchaseOrder, self.row.tenant_id, self.row.pk)

    def check(self, found: Rows) -> None:
        """Require that the order is as it was when it was looked at.

        :raises Busy: somebody has changed it meanwhile; trying again helps.
        """
        locked = row_of(PurchaseOrder, found)
        if locked is None or locked.version != self.row.version:
            raise Busy


@dataclass(frozen=True, slots=True, eq=False)
class ReceivedPeek(OrderPeek):
    """An order as the target of its supplier; `path` are the ids in the path, its own first."""

    path: tuple[Any, ...] = ()

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows, which is the copy's."""
        return int(self.row.shared_version)


@dataclass(frozen=True, slots=True, eq=False)
class ReceivedPeeked(Located):
    """The `find` of a supplier's action that gives limits of the buyer back."""

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the order's owner in the trip of the proof."""
        return Call(ORDERS.located, [str(path[0]), str(tenant_id)])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> ReceivedPeek:
        """Look at the order, its buyer bound.

        :raises NotFound: the tenant has received no such order.
        :raises CounterpartyOnly: it is the buyer of the order.
        :raises PartyClosed: the buyer's tenant is closed.
        """
        if not len(located):
            raise NotFound(f"No such {ORDERS.name}.")
        owner_id, key = UUID((located.value() or b"").decode()), path[0]
        if owner_id == actor.tenant_id:
            raise CounterpartyOnly
        _, _, found, lines, changes, status = run(
            [
                bind_call(owner_id),
                mark_call(owner_id),
                Call(_READ, [str(owner_id), str(key)]),
                lines_call(owner_id, key),
                changes_call(owner_id, key),
                Call(_STATUS, [str(owner_id)]),
            ]
        )
        if status.value() == b"closed":
            raise PartyClosed
        row = row_of(PurchaseOrder, found)
        if row is None or row.supplier_tenant_id != actor.tenant_id or not row.was_sent:
            raise NotFound(f"No such {ORDERS.name}.")
        return ReceivedPeek(actor, row, lines_of(lines), changes_of(changes), path)


def read_call(tenant_id: UUID, key: UUID) -> Call:
    """Return the statement that reads an order of the bound buyer without a lock; `row_of` makes the row."""
    return Call(_READ, [str(tenant_id), str(key)])
