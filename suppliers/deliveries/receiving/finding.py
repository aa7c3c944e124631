"""Finding what is received: the buyer's delivery with its order, locked in the lock order, in the trip that reads its goods.

Source: contract, supply.md 5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound
from core.model_rows import lock_call, row_of, rows_of
from core.pipeline import Call, Rows, Statement, run
from core.targets import Located
from organizations.public import CounterpartyOnly, policies_call, policies_of
from suppliers.deliveries.finding import delivery_lines_call, delivery_lines_of, order_call, order_lines_call
from suppliers.deliveries.models import DELIVERIES, Delivery, DeliveryLine
from suppliers.orders.finding import WITHIN
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine


class SerialShipped(NamedTuple):
    """A unit that was shipped with a line of the delivery; `is_received` says that a receipt has it."""

    line_id: UUID
    serial_number: str
    is_received: bool


class Circumstances(NamedTuple):
    """Whether the supplier is a managed one, and the lines of the delivery of which a side has reported suspect goods."""

    is_managed: bool
    suspect: Any


# A receipt that was reversed has received nothing.
STANDING: Final = "r.reverses_id IS NULL AND NOT EXISTS (SELECT 1 FROM suppliers_receipt x WHERE x.tenant_id = $1 AND x.reverses_id = r.id)"
_SERIALS = Statement.of(
    "SELECT s.line_id, s.serial_number, EXISTS (SELECT 1 FROM suppliers_receiptline l"
    " JOIN suppliers_receipt r ON r.tenant_id = l.tenant_id AND r.id = l.receipt_id AND r.tenant_id = $1"
    f" WHERE l.tenant_id = $1 AND l.delivery_line_id = s.line_id AND l.serial_numbers ? s.serial_number AND {STANDING})"
    " AS is_received FROM suppliers_deliveryserial s WHERE s.tenant_id = $1 AND s.line_id IN"
    " (SELECT l.id FROM suppliers_deliveryline l WHERE l.tenant_id = $1 AND l.delivery_id = $2)"
    " ORDER BY s.line_id, s.serial_number",
    row=SerialShipped,
)
_CIRCUMSTANCES = Statement.of(
    "SELECT n.managed_by_id IS NOT NULL AS is_managed, (SELECT coalesce(json_agg(l.id), '[]')"
    " FROM suppliers_deliveryexception e JOIN suppliers_deliveryline l ON l.tenant_id = e.tenant_id AND l.delivery_id = e.delivery_id"
    " AND l.tenant_id = $1 AND (e.line_nos = '[]' OR e.line_nos @> to_jsonb(l.line_no))"
    " WHERE e.tenant_id = $1 AND e.delivery_id = $2 AND e.type = 'suspect') AS suspect"
    " FROM suppliers_delivery d JOIN organizations_tenant n ON n.id = d.supplier_tenant_id WHERE d.tenant_id = $1 AND d.id = $2",
    row=Circumstances,
)


@dataclass(frozen=True, slots=True, eq=False)
class Receivable:
    """A delivery of the caller's tenant with its order, both locked, and what its receipts are held against."""

    actor: Actor
    row: Delivery
    lines: Sequence[DeliveryLine]
    order: PurchaseOrder
    order_lines: Mapping[UUID, PurchaseOrderLine]
    is_managed: bool
    tolerance_bp: int
    serials: Mapping[UUID, Sequence[SerialShipped]] = field(default_factory=dict)
    suspect: frozenset[UUID] = frozenset()

    @property
    def version(self) -> int:
        """The version that the caller's ETag of the delivery shows."""
        return int(self.row.version)

    def ordered(self, line: DeliveryLine) -> PurchaseOrderLine:
        """Return the line of the order that a line of the delivery is of."""
        return self.order_lines[line.order_line_id]


@dataclass(slots=True, eq=False)
class Arriving:
    """A delivery of the caller's tenant that was found with the proof; it is locked in the trip that reads its goods.

    `products` and `lots` are those of its lines, which never change, nor do the units that were shipped with them.
    """

    actor: Actor
    key: UUID
    supplier_id: UUID
    products: Sequence[UUID]
    lots: Sequence[str]
    has_serials: bool
    _locked: Receivable | None = None

    @property
    def version(self) -> int:
        """The version that the caller's ETag of the delivery shows; to look at it locks the delivery, at one trip more."""
        return self.lock()[0].version

    @needs_transaction
    def lock(self, reading: Sequence[Call] = ()) -> tuple[Receivable, Sequence[Rows]]:
        """Lock the order and the delivery and read their lines; return them with the rows of what is read behind the locks.

        :raises NotFound: the delivery is not there any more.
        """
        if self._locked is not None:
            return self._locked, run(reading) if reading else []
        own, key = self.actor.tenant_id, self.key
        given = [str(own), str(key)]
        shipped = [Call(_SERIALS, given)] if self.has_serials else []
        order, delivery, lines, order_lines, circumstances, policies, *found = run(
            [
                order_call(own, key), lock_call(Delivery, own, key), delivery_lines_call(own, key),
                order_lines_call(own, key), Call(_CIRCUMSTANCES, given), policies_call(own), *shipped, *reading,
            ]
        )  # fmt: skip
        row, ordered = row_of(Delivery, delivery), row_of(PurchaseOrder, order)
        if row is None or ordered is None:
            raise NotFound(f"No such {DELIVERIES.name}.")
        units: dict[UUID, list[SerialShipped]] = {}
        for one in (one for rows in found[: len(shipped)] for one in rows.of(SerialShipped)):
            units.setdefault(one.line_id, []).append(one)
        (what,) = circumstances.of(Circumstances)
        self._locked = Receivable(
            self.actor, row, delivery_lines_of(lines), ordered,
            {one.id: one for one in rows_of(PurchaseOrderLine, order_lines)}, what.is_managed,
            policies_of(policies)["over_receipt_tolerance_bp"], units, frozenset(UUID(one) for one in what.suspect),
        )  # fmt: skip
        return self._locked, found[len(shipped) :]


class Place(NamedTuple):
    """Whose a delivery is, where it goes, of what products and lots its lines are, and whether units were shipped with them."""

    owner_id: UUID
    supplier_id: UUID
    location_id: UUID | None
    products: Any
    lots: Any
    has_serials: bool


_LOCATE = Statement.of(
    "SELECT d.tenant_id AS owner_id, d.supplier_tenant_id AS supplier_id, d.delivery_location_id AS location_id,"
    " of.products, of.lots, of.has_serials FROM suppliers_delivery d CROSS JOIN LATERAL (SELECT"
    " coalesce(json_agg(DISTINCT l.product_id) FILTER (WHERE l.product_id IS NOT NULL), '[]') AS products,"
    " coalesce(json_agg(DISTINCT l.lot_number) FILTER (WHERE l.lot_number <> ''), '[]') AS lots,"
    " coalesce(bool_or(l.serials_total > 0), false) AS has_serials"
    " FROM suppliers_deliveryline l WHERE l.tenant_id = $1 AND l.delivery_id = d.id) of WHERE d.tenant_id = $1 AND d.id = $2"
    " UNION ALL SELECT c.owner_tenant_id, c.tenant_id, NULL, '[]'::json, '[]'::json, false"
    " FROM suppliers_receiveddelivery c WHERE c.tenant_id = $1 AND c.id = $2",
    row=Place,
)


@dataclass(frozen=True, slots=True, eq=False)
class OwnDelivery(Located):
    """The `find` of a buyer's receipt of a delivery, which takes no trip."""

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the delivery in the trip of the proof."""
        return Call(_LOCATE, [str(tenant_id), str(path[0])])

    def __call__(self, actor: Actor, *path: Any, located: Rows) -> Arriving:
        """Return the delivery.

        :raises NotFound: the tenant has no such delivery in the actor's reach.
        :raises CounterpartyOnly: it is the supplier of the delivery.
        """
        found = located.of(Place)
        if not found:
            raise NotFound(f"No such {DELIVERIES.name}.")
        place = found[0]
        if place.owner_id != actor.tenant_id:
            raise CounterpartyOnly
        if place.location_id is None or not WITHIN.holds(actor, place.location_id):
            raise NotFound(f"No such {DELIVERIES.name}.")
        products = [UUID(one) for one in place.products]
        return Arriving(actor, path[0], place.supplier_id, products, place.lots, place.has_serials)
