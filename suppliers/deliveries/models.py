"""Tables of deliveries, which are the buyer's, and what their suppliers have of them."""

from typing import Any, ClassVar, Final

from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel
from organizations.public import ReceivedDocument, ReceivedKind, ReceivedLine, TenantOwned

from .course import DeliveryCourse
from .states import OF_DELIVERY, DeliveryStatus, ExceptionType, PackageLevel

MOST_LINES: Final = 1000
MOST_PACKAGES: Final = 1000
COUNTERS: Final = ("accepted", "rejected", "short", "returned")
_TRANSIT: Final = ("carrier", "service", "tracking_number", "tracking_url", "estimated_at", "gross_weight_g")
TEMPERATURE: Final = (
    "required_min_c", "required_max_c", "logger_id", "min_recorded_c", "max_recorded_c", "excursion_minutes",
)  # fmt: skip


def _degrees() -> "models.DecimalField[Any, Any]":
    return models.DecimalField(max_digits=4, decimal_places=1, null=True)


class Transport(models.Model):
    """What a shipment says of its way: carrier, tracking, weight and temperatures, in degrees Celsius.

    Personal data: none.
    """

    carrier = models.CharField(max_length=120, blank=True, default="")
    service = models.CharField(max_length=120, blank=True, default="")
    tracking_number = models.CharField(max_length=120, blank=True, default="")
    tracking_url = models.CharField(max_length=2000, blank=True, default="")
    estimated_at = models.DateTimeField(null=True)
    gross_weight_g = models.BigIntegerField(null=True)
    required_min_c = _degrees()
    required_max_c = _degrees()
    logger_id = models.CharField(max_length=120, blank=True, default="")
    min_recorded_c = _degrees()
    max_recorded_c = _degrees()
    excursion_minutes = models.IntegerField(null=True)

    TRANSPORT: ClassVar = (*_TRANSIT, *TEMPERATURE)

    class Meta:
        abstract = True


class Delivery(DeliveryCourse, Transport, TenantOwned, LifecycleModel):
    """A shipment that has left its supplier, as the document of its buyer; both parties know it from its first moment.

    `order_id` is the buyer's order, with its numbers as they were. `cold_chain` says that some of the goods must stay
    cold. `delivered_at` is the carrier's word, `completed_at` when the buyer had received all. Personal data: none.
    """

    number = models.CharField(max_length=64)
    supplier_tenant_id = models.UUIDField()
    order = models.ForeignKey(
        "suppliers.PurchaseOrder", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    po_number = models.CharField(max_length=64)
    order_number = models.CharField(max_length=64)
    status = FSMField(default=DeliveryStatus.IN_TRANSIT.value, choices=DeliveryStatus, protected=True, max_length=18)
    delivery_location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    delivery_address = models.JSONField(null=True)
    shipped_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    lost_at = models.DateTimeField(null=True)
    cold_chain = models.BooleanField(default=False)
    file_ids = models.JSONField(default=list)
    lines_total = models.IntegerField()
    shared_version = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name = "delivery"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="suppliers_delivery_number"),
            models.CheckConstraint(condition=~Q(supplier_tenant_id=F("tenant")), name="suppliers_delivery_two_parties"),
            models.CheckConstraint(condition=Q(status__in=OF_DELIVERY), name="suppliers_delivery_status_known"),
            models.CheckConstraint(
                condition=~Q(status=DeliveryStatus.COMPLETED) | Q(completed_at__isnull=False),
                name="suppliers_delivery_completed",
            ),
            models.CheckConstraint(
                condition=Q(status=DeliveryStatus.LOST) ^ Q(lost_at__isnull=True), name="suppliers_delivery_lost"
            ),
            models.CheckConstraint(
                condition=Q(lines_total__range=(1, MOST_LINES))
                & (Q(gross_weight_g__isnull=True) | Q(gross_weight_g__gte=0))
                & (Q(excursion_minutes__isnull=True) | Q(excursion_minutes__gte=0)),
                name="suppliers_delivery_amounts",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "shipped_at", "id"], name="suppliers_delivery_by_shipped"),
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_delivery_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_delivery_by_updated"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="suppliers_delivery_by_status"),
            models.Index(fields=["tenant", "supplier_tenant_id", "created_at", "id"], name="suppliers_delivery_supplier"),
            models.Index(fields=["tenant", "delivery_location", "created_at", "id"], name="suppliers_delivery_location"),
            models.Index(fields=["tenant", "order", "id"], name="suppliers_delivery_of_order"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.number


class DeliveryLine(TenantOwned):
    """Goods of one line of the order, of one lot, as they left the supplier, and how far they are.

    `base_quantity` and all counters are in base units. `product_id`, `packaging_id` and `lot_id` are the supplier's.
    `recall_notice` tells of a recall of the lot, as the buyer was told. Personal data: none.
    """

    delivery = models.ForeignKey(
        Delivery, on_delete=models.PROTECT, related_name="lines", db_constraint=False, db_index=False
    )
    line_no = models.IntegerField()
    order_line = models.ForeignKey(
        "suppliers.PurchaseOrderLine", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    product_id = models.UUIDField(null=True)
    packaging_id = models.UUIDField(null=True)
    name = models.CharField(max_length=255)
    supplier_sku = models.CharField(max_length=64, blank=True, default="")
    gtin = models.CharField(max_length=14, blank=True, default="")
    category = models.CharField(max_length=64, blank=True, default="")
    packaging = models.JSONField(null=True)
    base_unit = models.CharField(max_length=3)
    units_per_pack = models.BigIntegerField(default=1)
    unit = models.CharField(max_length=4)
    base_quantity = models.BigIntegerField()
    lot_id = models.UUIDField(null=True)
    lot_number = models.CharField(max_length=20, blank=True, default="")
    expiry_date = models.DateField(null=True)
    cold_chain = models.BooleanField(default=False)
    serials_total = models.IntegerField(default=0)
    accepted = models.BigIntegerField(default=0, db_default=0)
    rejected = models.BigIntegerField(default=0, db_default=0)
    short = models.BigIntegerField(default=0, db_default=0)
    returned = models.BigIntegerField(default=0, db_default=0)
    tolerance = models.BigIntegerField(default=0, db_default=0)
    recall_notice = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "delivery", "line_no"], name="suppliers_deliveryline_number"),
            models.CheckConstraint(
                condition=Q(line_no__gte=1, base_quantity__gte=1, units_per_pack__gte=1, serials_total__gte=0),
                name="suppliers_deliveryline_amounts",
            ),
            models.CheckConstraint(
                condition=Q(accepted__gte=0, rejected__gte=0, short__gte=0, returned__gte=0, tolerance__gte=0)
                & Q(returned__lte=F("accepted"))
                & Q(accepted__lte=F("base_quantity") + F("tolerance") - F("rejected") - F("short")),
                name="suppliers_deliveryline_counters",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "order_line", "id"], name="suppliers_deliveryline_ordered"),
            models.Index(
                fields=["tenant", "lot_id", "delivery"],
                condition=Q(lot_id__isnull=False),
                name="suppliers_deliveryline_lot",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line_no}"


class DeliveryPackage(TenantOwned):
    """A package of a delivery with its number, and the package that it stands in. Personal data: none."""

    delivery = models.ForeignKey(
        Delivery, on_delete=models.PROTECT, related_name="packages", db_constraint=False, db_index=False
    )
    position = models.IntegerField()
    sscc = models.CharField(max_length=18)
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False, null=True
    )
    level = models.CharField(max_length=9, choices=PackageLevel)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "delivery", "sscc"], name="suppliers_deliverypackage_once"),
            models.CheckConstraint(
                condition=Q(level__in=PackageLevel.values), name="suppliers_deliverypackage_level_known"
            ),
        ]

    def __str__(self) -> str:
        return self.sscc


class DeliveryPackageLine(TenantOwned):
    """What a package holds of a line, in base units. Personal data: none."""

    package = models.ForeignKey(
        DeliveryPackage, on_delete=models.PROTECT, related_name="lines", db_constraint=False, db_index=False
    )
    line = models.ForeignKey(
        DeliveryLine, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    line_no = models.IntegerField()
    base_quantity = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "package", "line"], name="suppliers_deliverypackageline_once"),
            models.CheckConstraint(condition=Q(base_quantity__gte=1), name="suppliers_deliverypackageline_amount"),
        ]

    def __str__(self) -> str:
        return f"{self.line_no}"


class DeliverySerial(TenantOwned):
    """The serial number of a unit that was shipped with a line. Personal data: none."""

    line = models.ForeignKey(
        DeliveryLine, on_delete=models.PROTECT, related_name="serials", db_constraint=False, db_index=False
    )
    product_id = models.UUIDField()
    serial_number = models.CharField(max_length=20)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "line", "serial_number"], name="suppliers_deliveryserial_once"),
        ]
        indexes = [
            models.Index(fields=["tenant", "product_id", "serial_number"], name="suppliers_delserial_by_number"),
        ]

    def __str__(self) -> str:
        return self.serial_number


class DeliveryException(TenantOwned):
    """Something that went wrong with a delivery, as one side has reported it; never changed.

    `line_nos` are the lines concerned, none named stands for all. `reported_by_id` is a member of the buyer; of the
    supplier's reports it is null. Personal data: the id of who reported it; free text about goods.
    """

    delivery = models.ForeignKey(
        Delivery, on_delete=models.PROTECT, related_name="exceptions", db_constraint=False, db_index=False
    )
    type = models.CharField(max_length=21, choices=ExceptionType)
    by = models.CharField(max_length=8)
    at = models.DateTimeField()
    note = models.CharField(max_length=2000, blank=True, default="")
    line_nos = models.JSONField(default=list)
    file_ids = models.JSONField(default=list)
    reported_by_id = models.UUIDField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(type__in=ExceptionType.values, by__in=("buyer", "supplier")),
                name="suppliers_deliveryexception_known",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "delivery", "at", "id"], name="suppliers_deliveryexception_of"),
        ]

    def __str__(self) -> str:
        return self.type


class ReceivedDelivery(ReceivedDocument):
    """A delivery as its supplier reads it. Personal data: free texts about goods."""

    order_id = models.UUIDField()
    order_number = models.CharField(max_length=64)
    po_number = models.CharField(max_length=64)
    tracking_number = models.CharField(max_length=120)
    shipped_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "shipped_at", "id"], name="suppliers_recdelivery_shipped"),
            models.Index(fields=["tenant", "received_at", "id"], name="suppliers_recdelivery_by_time"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recdelivery_updated"),
            models.Index(fields=["tenant", "status", "received_at", "id"], name="suppliers_recdelivery_status"),
            models.Index(fields=["tenant", "owner_tenant_id", "received_at", "id"], name="suppliers_recdelivery_owner"),
            models.Index(fields=["tenant", "order_id", "id"], name="suppliers_recdelivery_of_order"),
        ]

    def __str__(self) -> str:
        return str(self.number)


class ReceivedDeliveryLine(ReceivedLine):
    """A line of a supplier's copy by its product and lot, so that a recall finds each delivery. Personal data: none."""

    backordered = None  # a delivery owes nothing

    base_quantity = models.BigIntegerField()
    accepted = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "document_id", "line_no"], name="suppliers_recdelline_number"),
            models.Index(fields=["tenant", "product_id", "document_id"], name="suppliers_recdelline_product"),
            models.Index(
                fields=["tenant", "lot_id", "document_id"],
                condition=Q(lot_id__isnull=False),
                name="suppliers_recdelline_lot",
            ),
        ]

    def __str__(self) -> str:
        return str(self.line_no)


DELIVERIES: Final = ReceivedKind(
    document=Delivery,
    copy=ReceivedDelivery,
    party="t.supplier_tenant_id",
    handed_over="n.managed_by_id IS NULL",  # nobody reads the copies of a managed supplier
    lines="lines",
    line=ReceivedDeliveryLine,
    columns={
        "order_id": "t.order_id",
        "order_number": "t.order_number",
        "po_number": "t.po_number",
        "tracking_number": "t.tracking_number",
        "shipped_at": "t.shipped_at",
    },
)
