"""Finding orders and their shipments for a write. Lock order: order, lines, delivery, then what is the supplier's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import NotFound
from core.model_rows import lock_call, row_of, rows_of
from core.pipeline import Call, Rows, Statement, run
from organizations.public import Party, SharedDocument, TwoParty, reach
from suppliers.orders.finding import lines_call, lines_of
from suppliers.orders.models import ORDERS, PurchaseOrder, PurchaseOrderLine

from .models import Delivery, DeliveryLine
from .shipment_models import ShipmentDraft, ShipmentPrivate

FROM: Final = reach("from_location_id", below=True)  # what a supplier's member that is limited to places sees and ships


class ShippedFrom:
    """The rule for a supplier's members who are limited to places, over its copies of deliveries: `FROM` of what it alone knows."""

    def filter(self, queryset: QuerySet[Any], actor: Actor) -> QuerySet[Any]:
        """Keep the deliveries that were shipped from a place in the actor's reach."""
        mine = ShipmentPrivate.objects.filter(tenant_id=actor.tenant_id)
        return queryset.filter(id__in=FROM.filter(mine, actor).values("id"))


_NONE: Final = "No such shipment."
_LOCATE = Statement.of(
    "SELECT c.owner_tenant_id::text FROM suppliers_receivedorder c WHERE c.tenant_id = $2 AND c.id = $1 AND"
    " (EXISTS (SELECT 1 FROM suppliers_shipmentdraft d WHERE d.tenant_id = $2 AND d.id = $3 AND d.order_id = $1)"
    " OR EXISTS (SELECT 1 FROM suppliers_receiveddelivery v WHERE v.tenant_id = $2 AND v.id = $3 AND v.order_id = $1))"
)
_LINE_COLUMNS: Final = ", ".join(f'"{one.column}"' for one in DeliveryLine._meta.concrete_fields)
_LINES = Statement.of(
    f"SELECT {_LINE_COLUMNS} FROM suppliers_deliveryline WHERE tenant_id = $1 AND delivery_id = $2 ORDER BY line_no"
)

_OF_DELIVERY: Final = "(SELECT v.order_id FROM suppliers_delivery v WHERE v.tenant_id = $1 AND v.id = $2)"
_ORDER_COLUMNS: Final = ", ".join(f'o."{one.column}"' for one in PurchaseOrder._meta.concrete_fields)
_ORDER = Statement.of(
    f"SELECT {_ORDER_COLUMNS} FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id = {_OF_DELIVERY} FOR UPDATE"
)
_ORDERED_COLUMNS: Final = ", ".join(f'l."{one.column}"' for one in PurchaseOrderLine._meta.concrete_fields)
_ORDERED = Statement.of(
    f"SELECT {_ORDERED_COLUMNS} FROM suppliers_purchaseorderline l WHERE l.tenant_id = $1 AND l.order_id = {_OF_DELIVERY}"
    " ORDER BY l.line_no"
)


def delivery_lines_call(tenant_id: UUID, delivery_id: UUID) -> Call:
    """Return the statement that reads the lines of a delivery by their numbers, for a transaction bound to its owner."""
    return Call(_LINES, [str(tenant_id), str(delivery_id)])


def delivery_lines_of(found: Rows) -> list[DeliveryLine]:
    """Return the lines that `delivery_lines_call` has read."""
    return rows_of(DeliveryLine, found)


def order_call(tenant_id: UUID, delivery_id: UUID) -> Call:
    """Return the statement that locks the order of a delivery, for a transaction bound to its buyer."""
    return Call(_ORDER, [str(tenant_id), str(delivery_id)])


def order_lines_call(tenant_id: UUID, delivery_id: UUID) -> Call:
    """Return the statement that reads the lines of the order of a delivery by their numbers, bound to its buyer."""
    return Call(_ORDERED, [str(tenant_id), str(delivery_id)])


@dataclass(frozen=True, slots=True, eq=False)
class Shipment:
    """A shipment of an order as the target of its supplier's write: a draft, or a delivery with its lines; all is locked.

    The owner of the order, its buyer, is bound.
    """

    actor: Actor
    order: PurchaseOrder
    order_lines: Sequence[PurchaseOrderLine]
    draft: ShipmentDraft | None = None
    delivery: Delivery | None = None
    lines: Sequence[DeliveryLine] = ()
    private: ShipmentPrivate | None = None

    @property
    def status(self) -> str:
        """The state of the shipment."""
        row = self.delivery or self.draft
        assert row is not None
        return str(row.status)

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        if self.delivery is not None:
            return int(self.delivery.shared_version)
        assert self.draft is not None
        return int(self.draft.version)


@dataclass(frozen=True, slots=True, eq=False)
class ShipmentAt(TwoParty):
    """The `find` of a supplier's action on a shipment; the path names the order and the shipment."""

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the owner of an order that has the shipment, in the trip of the proof."""
        return Call(_LOCATE, [str(path[0]), str(tenant_id), str(path[1])])

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock the delivery behind its order, and read the lines of both."""
        delivery = lock_call(Delivery, owner_id, path[1])
        return [lines_call(owner_id, path[0]), delivery, delivery_lines_call(owner_id, path[1])]

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> Shipment:  # type: ignore[override]  # a draft has one party
        """Lock and return the shipment with its order.

        :raises NotFound: the tenant has no such shipment, or its goods leave from where the membership does not reach.
        :raises PartyClosed: the buyer's tenant is closed.
        """
        if not len(located):
            raise NotFound(_NONE)
        order: SharedDocument = TwoParty.__call__(self, actor, *path, located=located)
        order_lines, delivery, lines = order.read
        own = actor.tenant_id
        _, drafted, private, _ = run(
            [
                bind_call(own),
                lock_call(ShipmentDraft, own, path[1]),
                lock_call(ShipmentPrivate, own, path[1]),
                bind_call(order.owner_id),
            ]
        )
        found = Shipment(
            actor, order.row, lines_of(order_lines), row_of(ShipmentDraft, drafted), row_of(Delivery, delivery),
            delivery_lines_of(lines), row_of(ShipmentPrivate, private),
        )  # fmt: skip
        place = found.draft or found.private
        if place is None or not FROM.holds(actor, place.from_location_id):
            raise NotFound(_NONE)
        return found


SHIPMENT: Final = ShipmentAt(ORDERS, acts=Party.OTHER)
