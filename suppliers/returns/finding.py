"""Finding a return for a write: its order and delivery are locked before it, and the lines of all three are read.

Lock order: order, delivery, return, then what each side has of its own. Source: contract, supply.md 5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound
from core.model_rows import rows_of
from core.pipeline import Call, Rows, Statement
from organizations.public import Party, SharedDocument, TwoParty
from suppliers.deliveries.models import Delivery, DeliveryLine
from suppliers.orders.finding import WITHIN
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine

from .models import RETURNS, Return, ReturnLine


def _columns(model: Any, alias: str) -> str:
    return ", ".join(f'{alias}."{one.column}"' for one in model._meta.concrete_fields)


def _of_return(column: str) -> str:
    return f"(SELECT v.{column} FROM suppliers_return v WHERE v.tenant_id = $1 AND v.id = $2)"


_ORDER = Statement.of(
    f"SELECT {_columns(PurchaseOrder, 'o')} FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id = {_of_return('order_id')}"
    " FOR UPDATE"
)
_DELIVERY = Statement.of(
    f"SELECT {_columns(Delivery, 'd')} FROM suppliers_delivery d WHERE d.tenant_id = $1 AND d.id = {_of_return('delivery_id')}"
    " FOR UPDATE"
)
_ORDER_LINES = Statement.of(
    f"SELECT {_columns(PurchaseOrderLine, 'l')} FROM suppliers_purchaseorderline l WHERE l.tenant_id = $1"
    f" AND l.order_id = {_of_return('order_id')} ORDER BY l.line_no"
)
_DELIVERY_LINES = Statement.of(
    f"SELECT {_columns(DeliveryLine, 'l')} FROM suppliers_deliveryline l WHERE l.tenant_id = $1"
    " AND l.id IN (SELECT r.delivery_line_id FROM suppliers_returnline r WHERE r.tenant_id = $1 AND r.document_id = $2)"
    " ORDER BY l.line_no"
)
_LINES = Statement.of(
    f"SELECT {_columns(ReturnLine, 'r')} FROM suppliers_returnline r WHERE r.tenant_id = $1 AND r.document_id = $2"
    " ORDER BY r.line_no"
)
_MANAGED = Statement.of(
    "SELECT n.managed_by_id IS NOT NULL FROM organizations_tenant n"
    " WHERE n.id = (SELECT v.supplier_tenant_id FROM suppliers_return v WHERE v.tenant_id = $1 AND v.id = $2)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Returned:
    """A locked return with its order and delivery, and the lines of all three; the buyer is bound."""

    shared: SharedDocument
    order: PurchaseOrder
    order_lines: Sequence[PurchaseOrderLine]
    delivery: Delivery
    delivered: Mapping[UUID, DeliveryLine]
    lines: Sequence[ReturnLine]
    is_managed: bool

    @property
    def row(self) -> Return:
        """The return."""
        found: Return = self.shared.row
        return found

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        return self.shared.version

    def ordered(self, line: ReturnLine) -> PurchaseOrderLine:
        """Return the line of the order that goods of a line are of."""
        return next(one for one in self.order_lines if one.id == line.order_line_id)


@dataclass(frozen=True, slots=True, eq=False)
class ReturnAt(TwoParty):
    """The `find` of an action on a return: what is out of the membership's reach at the buyer does not exist."""

    def locks_before(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock the order and the delivery, which come before their returns."""
        given = [str(owner_id), str(path[0])]
        return [Call(_ORDER, given), Call(_DELIVERY, given)]

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Read order and delivery as they are behind their locks, and the lines."""
        given = [str(owner_id), str(path[0])]
        read = (_ORDER, _DELIVERY, _ORDER_LINES, _DELIVERY_LINES, _LINES, _MANAGED)
        return [Call(one, given) for one in read]

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> Returned:  # type: ignore[override]  # with its order
        """Lock and return the return.

        :raises NotFound, PartyClosed, CounterpartyOnly: as `TwoParty`.
        """
        found = TwoParty.__call__(self, actor, *path, located=located)
        if found.is_owner and not WITHIN.holds(actor, found.row.delivery_location_id):
            raise NotFound(f"No such {self.kind.name}.")
        order, delivery, order_lines, delivered, lines, managed = found.read
        return Returned(
            found, rows_of(PurchaseOrder, order)[0], rows_of(PurchaseOrderLine, order_lines), rows_of(Delivery, delivery)[0],
            {one.id: one for one in rows_of(DeliveryLine, delivered)}, rows_of(ReturnLine, lines), managed.value() == b"t",
        )  # fmt: skip


OF_BUYER: Final = ReturnAt(RETURNS, acts=Party.OWNER)
OF_SUPPLIER: Final = ReturnAt(RETURNS, acts=Party.OTHER)
