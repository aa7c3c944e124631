"""Tables of returns, which are the buyer's, and what their suppliers have of them. Source: contract, supply-invoice.md 4."""

from decimal import Decimal
from typing import ClassVar, Final

from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel
from core.row_security import TableSecurity
from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned

from .course import Course
from .states import STORED, Condition, Disposition, Reason, Resolution, ReturnStatus, ReturnType

MOST_LINES: Final = 500
# By disposition, the column that counts its base units.
COUNTED: Final = {
    Disposition.RESTOCK.value: "restocked",
    Disposition.QUARANTINE.value: "quarantined",
    Disposition.DESTROY.value: "destroyed",
    Disposition.RETURN_TO_MANUFACTURER.value: "to_manufacturer",
    Disposition.NOT_RECEIVED.value: "not_received",
}
_SUM: Final = F("restocked") + F("quarantined") + F("destroyed") + F("to_manufacturer") + F("not_received")
_HERE: Final = (ReturnStatus.RECEIVED.value, ReturnStatus.COMPLETED.value)
_LEFT: Final = (ReturnStatus.IN_TRANSIT.value, *_HERE)


class Return(Course, TenantOwned, LifecycleModel):
    """Goods of one delivery that its buyer sends back, as the buyer's document; its supplier knows it from the request.

    The order and the delivery are named with their numbers as they were. `decided_at`, `valid_until` and `instructions`
    are the supplier's authorization; `decline_reason` is why there is none. `credit_note_id` and `replacement_order_id`
    are what followed. Personal data: free texts of both parties.
    """

    number = models.CharField(max_length=64)
    supplier_tenant_id = models.UUIDField()
    order = models.ForeignKey(
        "suppliers.PurchaseOrder", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    delivery = models.ForeignKey(
        "suppliers.Delivery", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    po_number = models.CharField(max_length=64)
    order_number = models.CharField(max_length=64)
    delivery_number = models.CharField(max_length=64)
    delivery_location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    type = models.CharField(max_length=13, choices=ReturnType, default=ReturnType.RETURN.value)
    status = FSMField(default=ReturnStatus.REQUESTED.value, choices=ReturnStatus, protected=True, max_length=10)
    resolution = models.CharField(max_length=11, choices=Resolution, default=Resolution.CREDIT.value)
    currency = models.CharField(max_length=3)
    note = models.CharField(max_length=5000, blank=True, default="")
    file_ids = models.JSONField(default=list)
    requested_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    valid_until = models.DateTimeField(null=True)
    instructions = models.CharField(max_length=2000, blank=True, default="")
    decline_reason = models.CharField(max_length=2000, blank=True, default="")
    carrier = models.CharField(max_length=120, blank=True, default="")
    tracking_number = models.CharField(max_length=120, blank=True, default="")
    shipped_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)
    credit_note_id = models.UUIDField(null=True)
    replacement_order_id = models.UUIDField(null=True)
    lines_total = models.IntegerField()
    shared_version = models.IntegerField(default=1)

    class Meta:
        verbose_name = "return"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="suppliers_return_number"),
            models.CheckConstraint(condition=~Q(supplier_tenant_id=F("tenant")), name="suppliers_return_two_parties"),
            models.CheckConstraint(
                condition=Q(status__in=STORED, type__in=ReturnType.values, resolution__in=Resolution.values),
                name="suppliers_return_known",
            ),
            models.CheckConstraint(
                condition=Q(lines_total__range=(1, MOST_LINES), shared_version__gte=1), name="suppliers_return_amounts"
            ),
            models.CheckConstraint(
                condition=(~Q(status__in=_LEFT) | Q(shipped_at__isnull=False, decided_at__isnull=False))
                & (~Q(status__in=_HERE) | Q(received_at__isnull=False))
                & (Q(status=ReturnStatus.COMPLETED) ^ Q(completed_at__isnull=True))
                & (Q(status=ReturnStatus.CANCELLED) ^ Q(cancelled_at__isnull=True))
                & (~Q(status=ReturnStatus.AUTHORIZED) | Q(decided_at__isnull=False)),
                name="suppliers_return_times",
            ),
            models.CheckConstraint(
                condition=(Q(credit_note_id__isnull=True) | Q(resolution=Resolution.CREDIT))
                & (Q(replacement_order_id__isnull=True) | ~Q(resolution=Resolution.CREDIT)),
                name="suppliers_return_followed",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_return_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_return_by_updated"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="suppliers_return_by_status"),
            models.Index(fields=["tenant", "supplier_tenant_id", "created_at", "id"], name="suppliers_return_by_supplier"),
            models.Index(fields=["tenant", "delivery", "id"], name="suppliers_return_of_delivery"),
            models.Index(fields=["tenant", "order", "id"], name="suppliers_return_of_order"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.number


class ReturnLine(TenantOwned):
    """Goods of one line of the delivery that go back, in base units, and what became of them.

    `received` is what has come to the supplier; the counters of dispositions sum up to `base_quantity` once it is
    inspected. `credited` are base units for which a credit note gives `credited_amount` of net. `serial_numbers` are the
    units. `stock` are the movements by which the goods have left the buyer's places, which the supplier never reads.
    Personal data: none.
    """

    document = models.ForeignKey(
        Return, on_delete=models.PROTECT, related_name="lines", db_constraint=False, db_index=False
    )
    line_no = models.IntegerField()
    delivery_line = models.ForeignKey(
        "suppliers.DeliveryLine", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    order_line = models.ForeignKey(
        "suppliers.PurchaseOrderLine", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    product_id = models.UUIDField(null=True)
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
    serial_numbers = models.JSONField(default=list)
    reason_code = models.CharField(max_length=11, choices=Reason)
    condition = models.CharField(max_length=7, choices=Condition, default=Condition.SEALED.value)
    received = models.BigIntegerField(null=True)
    restocked = models.BigIntegerField(default=0)
    quarantined = models.BigIntegerField(default=0)
    destroyed = models.BigIntegerField(default=0)
    to_manufacturer = models.BigIntegerField(default=0)
    not_received = models.BigIntegerField(default=0)
    file_ids = models.JSONField(default=list)
    credited = models.BigIntegerField(default=0)
    credited_amount = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    stock = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "document", "line_no"], name="suppliers_returnline_number"),
            models.UniqueConstraint(fields=["tenant", "document", "delivery_line"], name="suppliers_returnline_once"),
            models.CheckConstraint(
                condition=Q(reason_code__in=Reason.values, condition__in=Condition.values),
                name="suppliers_returnline_known",
            ),
            models.CheckConstraint(
                condition=Q(line_no__gte=1, base_quantity__gte=1, units_per_pack__gte=1, credited__gte=0)
                & Q(credited__lte=F("base_quantity") - F("not_received"))
                & (Q(credited_amount__isnull=True) | Q(credited_amount__gte=Decimal(0)))
                & (Q(received__isnull=True) | Q(received__gte=0, received__lte=F("base_quantity"))),
                name="suppliers_returnline_amounts",
            ),
            models.CheckConstraint(
                condition=Q(**{f"{one}__gte": 0 for one in COUNTED.values()})
                & (Q(base_quantity=_SUM) | Q(**dict.fromkeys(COUNTED.values(), 0))),
                name="suppliers_returnline_dispositions",
            ),
            models.CheckConstraint(
                condition=Q(received__isnull=False) | Q(**dict.fromkeys(COUNTED.values(), 0)),
                name="suppliers_returnline_inspected_late",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "delivery_line", "id"], name="suppliers_returnline_delivered"),
            models.Index(fields=["tenant", "order_line", "id"], name="suppliers_returnline_ordered"),
        ]

    def __str__(self) -> str:
        return f"{self.line_no}"

    @property
    def kept(self) -> int:
        """The base units that the supplier has really got back, once it has inspected them."""
        return self.restocked + self.quarantined + self.destroyed + self.to_manufacturer


class ReturnPrivate(TenantOwned):
    """What its supplier alone knows of a return: where the goods lie, their movements, and witnesses; the id is the return's.

    `stock` has, by the numbers of lines, the levels that hold what lies in quarantine. Personal data: ids of members of the
    supplier that have seen goods destroyed.
    """

    location_id = models.UUIDField()
    stock = models.JSONField(default=dict)
    witnesses = models.JSONField(default=list)

    def __str__(self) -> str:
        return str(self.pk)


class ReceivedReturn(ReceivedDocument):
    """A return as its supplier reads it. Personal data: free texts of both parties."""

    order_id = models.UUIDField()
    delivery_id = models.UUIDField()
    po_number = models.CharField(max_length=64)
    order_number = models.CharField(max_length=64)
    delivery_number = models.CharField(max_length=64)
    type = models.CharField(max_length=13)

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "received_at", "id"], name="suppliers_recreturn_by_time"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recreturn_by_updated"),
            models.Index(fields=["tenant", "status", "received_at", "id"], name="suppliers_recreturn_by_status"),
            models.Index(fields=["tenant", "owner_tenant_id", "received_at", "id"], name="suppliers_recreturn_by_owner"),
            models.Index(fields=["tenant", "delivery_id", "id"], name="suppliers_recreturn_delivery"),
        ]  # fmt: skip

    def __str__(self) -> str:
        return str(self.number)


RETURNS: Final = ReceivedKind(
    document=Return,
    copy=ReceivedReturn,
    party="t.supplier_tenant_id",
    handed_over="n.managed_by_id IS NULL",  # nobody reads the copies of a managed supplier
    lines="lines",
    columns={
        name: f"t.{name}"
        for name in ("order_id", "delivery_id", "po_number", "order_number", "delivery_number", "type")
    },
)
