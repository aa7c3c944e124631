"""A hospital with shipped deliveries, and short ways to receive them. Deliveries are written as rows, with their copies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django.db import transaction

from core import rows
from core.actor import system_actor
from core.clock import now, rfc3339
from core.db import tenant_context
from core.ids import uuid7
from core.invariants import breaches
from core.model_rows import save_all_call, save_call
from ledger.public import Event
from organizations.public import write_documents
from suppliers.deliveries.models import DELIVERIES, Delivery, DeliveryLine, DeliverySerial, ReceivedDelivery
from suppliers.deliveries.receipt_models import ReceivedReceipt
from suppliers.inventory.models import StockLevel
from suppliers.inventory.serial_models import Serial
from suppliers.orders.models import ORDERS, PurchaseOrder, PurchaseOrderLine
from tests import factories
from tests.factories import Api
from tests.procurement.purchasing import orders
from tests.procurement.purchasing.orders import Trade, submitted
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.orders.answers import accepted

PATH = "/v1/procurement/deliveries"
EXPIRY = date(2031, 1, 31)


@dataclass
class Dock:
    """A trade, the place where goods are received, and a product with lots in packs of ten."""

    trade: Trade
    place: dict[str, Any]
    vials: dict[str, Any]
    clerk: Api
    products: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def buyer(self) -> Any:
        return self.trade.buyer

    @property
    def shelf(self) -> Any:
        return self.trade.shelf

    def order(self, *lines: Any) -> dict[str, Any]:
        """Submit an order and let the supplier accept it."""
        order = submitted(self.trade, *(lines or [(self.vials, 10)]))
        accepted(self.trade, order["id"])
        return order

    def ship(self, order: dict[str, Any], *given: dict[str, Any], **header: Any) -> UUID:
        """Let lines of an order leave: a line is its number with base units, lot and serial numbers; return the delivery."""
        buyer, at = self.buyer.id, now()
        with tenant_context(buyer):
            row = PurchaseOrder.objects.get(tenant_id=buyer, pk=order["id"])
            ordered = {one.line_no: one for one in PurchaseOrderLine.objects.filter(tenant_id=buyer, order=row)}
        delivery = Delivery(
            id=uuid7(), tenant_id=buyer, number=f"DN-{factories.suffix()}", supplier_tenant_id=self.shelf.id, order_id=row.id,
            po_number=row.number, order_number=row.order_number, delivery_location_id=row.delivery_location_id, shipped_at=at,
            lines_total=len(given), created_at=at, updated_at=at, **header,
        )  # fmt: skip
        made, serials = [], []
        for number, one in enumerate(given, 1):
            line = ordered[one.get("line", 1)]
            line.shipped += one["units"]
            made.append(_line(delivery, line, number, one, self.lot(line.product_id, one.get("lot", "")), at))
            serials += [
                {"id": uuid7(), "tenant_id": buyer, "created_at": at, "updated_at": at, "version": 1, "line_id": made[-1].id,
                 "product_id": line.product_id, "serial_number": text} for text in one.get("serials", ())
            ]  # fmt: skip
        calls = [
            rows.insert(delivery), *(rows.insert(one) for one in made),
            *([rows.insert_all(DeliverySerial, serials)] if serials else []),
            save_all_call([*ordered.values()], "shipped", at=at), save_call(row, at=at, versions=("version", "shared_version")),
        ]  # fmt: skip
        with tenant_context(buyer), transaction.atomic():
            touched = [(DELIVERIES, delivery.id), (ORDERS, row.id)]
            write_documents(system_actor(buyer), buyer, touched, calls, told={}, at=at)
        return delivery.id

    def send(self, order: dict[str, Any], where: str, **line: Any) -> UUID:
        """Let the first line of an order leave by the supplier's own request; return the delivery."""
        given = {"order_line_id": self.trade.read(order["id"])["lines"][0]["id"], "unit": "base", **line}
        body = {"from_location_id": where, "dispatched_at": rfc3339(now()), "lines": [given]}
        answer = self.shelf.api.post(f"/v1/orders/{order['id']}/shipments", json=body)
        assert answer.status_code == 201, answer.content
        return UUID(answer.json()["data"]["id"])

    def lot(self, product_id: UUID | None, number: str) -> UUID | None:
        """Return the supplier's lot."""
        from suppliers.inventory.models import Lot

        with tenant_context(self.shelf.id):
            found = Lot.objects.filter(tenant_id=self.shelf.id, product_id=product_id, lot_number=number).first()
        return found.id if found else None

    def lines(self, delivery: UUID) -> list[DeliveryLine]:
        """Return the lines of a delivery; and every rule holds on both sides."""
        for side in (self.buyer, self.shelf):
            assert list(breaches(side.id)) == []
        with tenant_context(self.buyer.id):
            return list(DeliveryLine.objects.filter(tenant_id=self.buyer.id, delivery_id=delivery).order_by("line_no"))

    def counted(self, delivery: UUID) -> list[tuple[int, int, int]]:
        """Return what is accepted, rejected and short of each line."""
        return [(one.accepted, one.rejected, one.short) for one in self.lines(delivery)]

    def body(self, delivery: UUID, *given: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Return the body of a receipt: each line by its `line` (from 0), in base units."""
        held = self.lines(delivery)
        lines = [
            {"delivery_line_id": str(held[one.get("line", 0)].id), "unit": "base", "accepted_quantity": 0}
            | {name: value for name, value in one.items() if name != "line"}
            for one in given
        ]
        return {"received_at": rfc3339(now()), "location_id": self.place["location_id"], "lines": lines} | more

    def post(self, delivery: Any, *given: dict[str, Any], api: Api | None = None, **more: Any) -> Any:
        """Ask for a receipt."""
        body = more if "reverses" in more else self.body(delivery, *given, **more)
        return (api or self.clerk).post(f"{PATH}/{delivery}/receipts", json=body)

    def receive(self, delivery: UUID, *given: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Receive, and return the receipt."""
        answer = self.post(delivery, *given, **more)
        assert answer.status_code == 201, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    def delivery(self, key: UUID) -> Delivery:
        """Return a delivery as stored."""
        with tenant_context(self.buyer.id):
            return Delivery.objects.get(tenant_id=self.buyer.id, pk=key)

    def on_hand(self) -> list[tuple[str, int]]:
        """Return the buyer's lots with what is on hand, by place and lot."""
        with tenant_context(self.buyer.id):
            held = (
                StockLevel.objects.filter(tenant_id=self.buyer.id)
                .select_related("lot")
                .order_by("lot__lot_number", "id")
            )
            return [(one.lot.lot_number if one.lot else "", one.on_hand) for one in held]

    def ordered(self) -> list[tuple[int, int, int, int]]:
        """Return shipped, received, rejected and short of the lines of the order."""
        with tenant_context(self.buyer.id):
            found = PurchaseOrderLine.objects.filter(tenant_id=self.buyer.id).order_by("order__created_at", "line_no")
            return [(one.shipped, one.received, one.rejected, one.short) for one in found]

    def facts(self, side: Any) -> list[Any]:
        """Return what a side was told of deliveries."""
        with tenant_context(side.id):
            held = Event.objects.filter(tenant_id=side.id, resource_type="delivery")
            return list(held.order_by("occurred_at", "id"))

    def copies(self) -> list[ReceivedReceipt]:
        """Return the supplier's copies of receipts."""
        with tenant_context(self.shelf.id):
            return list(ReceivedReceipt.objects.filter(tenant_id=self.shelf.id).order_by("id"))

    def copy(self, delivery: UUID) -> ReceivedDelivery:
        """Return the supplier's copy of a delivery."""
        with tenant_context(self.shelf.id):
            return ReceivedDelivery.objects.get(tenant_id=self.shelf.id, pk=delivery)

    def units(self, side: Any) -> list[tuple[str, str]]:
        """Return the serial numbers of a side with their states."""
        with tenant_context(side.id):
            held = Serial.objects.filter(tenant_id=side.id).order_by("serial_number")
            return [(one.serial_number, one.status) for one in held]


def _line(
    delivery: Delivery, line: PurchaseOrderLine, number: int, one: dict[str, Any], lot_id: UUID | None, at: Any
) -> DeliveryLine:
    lot = one.get("lot", "")
    return DeliveryLine(
        id=uuid7(), tenant_id=delivery.tenant_id, delivery_id=delivery.id, line_no=number, order_line_id=line.id,
        product_id=line.product_id, packaging_id=line.packaging_id, name=line.name, supplier_sku=line.supplier_sku,
        category=line.category, packaging=line.packaging, base_unit=line.base_unit, units_per_pack=line.units_per_pack,
        unit="base", base_quantity=one["units"], lot_id=lot_id, lot_number=lot, expiry_date=EXPIRY if lot else None,
        cold_chain=one.get("cold", False), serials_total=len(one.get("serials", ())), created_at=at, updated_at=at,
    )  # fmt: skip


def place(side: Any, roles: Sequence[str] = ("receiving_clerk",), **changes: Any) -> dict[str, Any]:
    """Let a place of a tenant keep stock."""
    clerk = factories.as_member(side.tenant, list(roles))
    given = {"name": "Hall", "type": "warehouse", "code": f"C-{factories.suffix()}"} | changes
    answer = clerk.post("/v1/inventory/locations", json=given)
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found | {"location_id": found["id"]}


def dock() -> Dock:
    """Make a supplier with a lot of vials on its shelf, and a hospital."""
    shelf, buyer = shelves.shelf(), shelves.buyer()
    trade = Trade(shelf, buyer, orders.ward(buyer))
    vials = shelf.product(name="Vials", units=10, tracking="lot", expiry_required=True)
    shelf.offer(vials, currency="EUR", tiers=orders.price((1, "4.90")))
    shelf.stock(vials, 100_000, lot="L1", expiry=EXPIRY)
    trade.gloves = vials
    clerk = factories.as_member(buyer.tenant, ["receiving_clerk"])
    return Dock(trade, place(buyer), vials, clerk)
