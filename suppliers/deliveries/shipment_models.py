"""Tables of the supplier's own: shipments in preparation, and what it alone knows of those that have left."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel
from organizations.public import TenantOwned

from .course import DraftCourse
from .models import MOST_LINES, Transport
from .states import OF_DRAFT, DeliveryStatus


class ShipmentDraft(DraftCourse, Transport, TenantOwned, LifecycleModel):
    """A shipment in preparation, which its buyer does not see; the delivery takes its id, and its place.

    `lines` are what is to be shipped: order line, base units, lot, serial numbers; `packages` the tree of packages.
    `order_id` is the order of the buyer. Personal data: none; `picking_notes` are the supplier's texts about goods.
    """

    order_id = models.UUIDField()
    buyer_tenant_id = models.UUIDField()
    order_number = models.CharField(max_length=64)
    status = FSMField(default=DeliveryStatus.PREPARING.value, choices=DeliveryStatus, protected=True, max_length=18)
    from_location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    picking_notes = models.CharField(max_length=2000, blank=True, default="")
    lines = models.JSONField(default=list)
    packages = models.JSONField(default=list)
    file_ids = models.JSONField(default=list)
    lines_total = models.IntegerField()

    WRITABLE: ClassVar = (
        *Transport.TRANSPORT, "from_location_id", "picking_notes", "lines", "packages", "file_ids", "lines_total",
    )  # fmt: skip

    class Meta:
        verbose_name = "shipment"
        constraints = [
            models.CheckConstraint(condition=Q(status__in=OF_DRAFT), name="suppliers_shipmentdraft_status_known"),
            models.CheckConstraint(
                condition=Q(lines_total__range=(1, MOST_LINES)), name="suppliers_shipmentdraft_amounts"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "order_id", "status", "id"], name="suppliers_shipmentdraft_order"),
        ]

    def __str__(self) -> str:
        return f"{self.order_number} in preparation"


class ShipmentPrivate(TenantOwned):
    """What the supplier alone knows of a delivery; `id` is the delivery's.

    `picked` are the levels that its lines were taken from, with base units. Personal data: none.
    """

    from_location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    picked = models.JSONField(default=list)
    picking_notes = models.CharField(max_length=2000, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["tenant", "from_location", "id"], name="suppliers_shipmentprivate_from")]

    def __str__(self) -> str:
        return str(self.pk)
