"""Tables of receipts, which are the buyer's, and what their suppliers have of them. Source: contract, supply-order.md 4."""

from typing import ClassVar, Final

from django.db import models
from django.db.models import F, Q

from core.row_security import TableSecurity
from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned

from .models import Delivery, DeliveryLine
from .states import RejectionReason


class Receipt(TenantOwned):
    """What a buyer has received of a delivery at one time; never changed, but corrected by a receipt that reverses it.

    `received_at` is the time that the buyer says. `putaway` are its own places. `received_by_id` is a member of the
    buyer. Personal data: the id of who has received the goods.
    """

    delivery = models.ForeignKey(
        Delivery, on_delete=models.PROTECT, related_name="receipts", db_constraint=False, db_index=False
    )
    supplier_tenant_id = models.UUIDField()
    received_at = models.DateTimeField()
    location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    temperature_ok = models.BooleanField(null=True)
    confirm_difference = models.BooleanField(default=False)
    reverses = models.ForeignKey(
        "self", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False, null=True
    )
    putaway = models.JSONField(default=list)
    received_by_id = models.UUIDField(null=True)
    shared_version = models.PositiveIntegerField(default=1)

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        verbose_name = "receipt"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "reverses"], condition=Q(reverses__isnull=False), name="suppliers_receipt_reverses_once"
            ),
            models.CheckConstraint(condition=~Q(supplier_tenant_id=F("tenant")), name="suppliers_receipt_two_parties"),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["tenant", "delivery", "id"], name="suppliers_receipt_of_delivery"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class ReceiptLine(TenantOwned):
    """What became of one line of a delivery at a receipt, in base units.

    `lot_number` and `expiry_date` are what the buyer has confirmed; `differs` says that they are not the shipment's.
    A reversing receipt has the lines of the one that it reverses, with the same quantities. Personal data: free text
    about goods.
    """

    receipt = models.ForeignKey(
        Receipt, on_delete=models.PROTECT, related_name="lines", db_constraint=False, db_index=False
    )
    line_no = models.IntegerField()
    delivery_line = models.ForeignKey(
        DeliveryLine, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    unit = models.CharField(max_length=4)
    accepted = models.BigIntegerField(default=0)
    rejected = models.BigIntegerField(default=0)
    short = models.BigIntegerField(default=0)
    rejection_reason = models.CharField(max_length=21, choices=RejectionReason, blank=True, default="")
    lot_number = models.CharField(max_length=20, blank=True, default="")
    expiry_date = models.DateField(null=True)
    differs = models.BooleanField(default=False)
    is_quarantined = models.BooleanField(default=False)
    serial_numbers = models.JSONField(default=list)
    note = models.CharField(max_length=2000, blank=True, default="")
    file_ids = models.JSONField(default=list)
    stock = models.JSONField(null=True)

    COUNTERS: ClassVar = ("accepted", "rejected", "short")
    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "receipt", "line_no"], name="suppliers_receiptline_number"),
            models.UniqueConstraint(fields=["tenant", "receipt", "delivery_line"], name="suppliers_receiptline_once"),
            models.CheckConstraint(
                condition=Q(accepted__gte=0, rejected__gte=0, short__gte=0)
                & (Q(accepted__gt=0) | Q(rejected__gt=0) | Q(short__gt=0)),
                name="suppliers_receiptline_amounts",
            ),
            models.CheckConstraint(
                condition=Q(rejected=0, rejection_reason="")
                | Q(rejected__gt=0, rejection_reason__in=RejectionReason.values),
                name="suppliers_receiptline_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "delivery_line", "id"], name="suppliers_receiptline_of_line"),
        ]

    def __str__(self) -> str:
        return f"{self.line_no}"


class ReceivedReceipt(ReceivedDocument):
    """A receipt as the supplier reads it. Personal data: free texts about goods."""

    delivery_id = models.UUIDField()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "delivery_id", "received_at", "id"], name="suppliers_recreceipt_delivery"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recreceipt_updated"),
        ]

    def __str__(self) -> str:
        return str(self.id)


RECEIPTS: Final = ReceivedKind(
    document=Receipt,
    copy=ReceivedReceipt,
    party="t.supplier_tenant_id",
    handed_over="n.managed_by_id IS NULL",  # nobody reads the copies of a managed supplier
    columns={
        "number": "''",
        "status": "CASE WHEN t.reverses_id IS NULL THEN 'recorded' ELSE 'reversing' END",
        "delivery_id": "t.delivery_id",
    },
)
