"""Finding a delivery for its buyer's write: the order first, then the delivery, with the lines of both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound
from core.model_rows import rows_of
from core.pipeline import Call, Rows
from organizations.public import Party, SharedDocument, TwoParty
from suppliers.orders.finding import WITHIN, lines_of
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine

from .finding import delivery_lines_call, delivery_lines_of, order_call, order_lines_call
from .models import DELIVERIES, Delivery, DeliveryLine


@dataclass(frozen=True, slots=True, eq=False)
class Delivered:
    """A locked delivery with its order and the lines of both, as the target of its buyer's write; the buyer is bound."""

    shared: SharedDocument
    order: PurchaseOrder
    order_lines: Sequence[PurchaseOrderLine]
    lines: Sequence[DeliveryLine]

    @property
    def row(self) -> Delivery:
        """The delivery."""
        found: Delivery = self.shared.row
        return found

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        return self.shared.version


@dataclass(frozen=True, slots=True, eq=False)
class DeliveryAt(TwoParty):
    """The `find` of a buyer's action on a delivery: what is out of the membership's reach does not exist."""

    def locks_before(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock the order, which comes before its deliveries."""
        return [order_call(owner_id, path[0])]

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Read the order and the lines of both behind the locks."""
        order = order_call(owner_id, path[0])
        return [order, order_lines_call(owner_id, path[0]), delivery_lines_call(owner_id, path[0])]

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> Delivered:  # type: ignore[override]  # with its order
        """Lock and return the delivery.

        :raises NotFound, PartyClosed, CounterpartyOnly: as `TwoParty`.
        """
        found = TwoParty.__call__(self, actor, *path, located=located)
        if found.is_owner and not WITHIN.holds(actor, found.row.delivery_location_id):
            raise NotFound(f"No such {self.kind.name}.")
        order, order_lines, lines = found.read
        return Delivered(found, rows_of(PurchaseOrder, order)[0], lines_of(order_lines), delivery_lines_of(lines))


DELIVERED_TO: Final = DeliveryAt(DELIVERIES, acts=Party.OWNER)
