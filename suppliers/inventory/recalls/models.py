"""Tables of recalls: what the supplier issued, the notice to each buyer, and the buyer's copy of it."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel, transition
from core.row_security import TableSecurity
from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned
from suppliers.inventory.models import Lot
from suppliers.inventory.states import NoticeStatus, RecallClass

_TOLD = (NoticeStatus.TOLD.value, NoticeStatus.ANSWERED.value, NoticeStatus.CLOSED.value)


class Recall(TenantOwned):
    """One recall of a lot by its supplier, with number and expiry date of the lot as they were.

    `is_walked` says that every buyer concerned was told what there is to be told. `buyers_to_list` is how many of them are to be
    given a notice; None once they have one. Personal data: none.
    """

    lot = models.ForeignKey(Lot, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    product_id = models.UUIDField()
    lot_number = models.CharField(max_length=20)
    expiry_date = models.DateField(null=True)
    recall_class = models.CharField(max_length=3, choices=RecallClass)
    reference = models.CharField(max_length=120, blank=True, default="")
    authority = models.CharField(max_length=120, blank=True, default="")
    instructions = models.CharField(max_length=2000, blank=True, default="")
    reason = models.CharField(max_length=500)
    issued_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    withdrawal_reason = models.CharField(max_length=500, blank=True, default="")
    is_walked = models.BooleanField(default=False, db_default=False)
    buyers_to_list = models.PositiveIntegerField(null=True)

    unversioned: ClassVar = ("is_walked", "buyers_to_list")
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "lot"], condition=Q(withdrawn_at__isnull=True), name="suppliers_recall_one_of_lot"
            ),
            models.CheckConstraint(
                condition=Q(recall_class__in=RecallClass.values), name="suppliers_recall_class_known"
            ),
            models.CheckConstraint(
                condition=Q(is_walked=False) | Q(buyers_to_list__isnull=True), name="suppliers_recall_walked_listed"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "id"], condition=Q(is_walked=False), name="suppliers_recall_to_walk"),
            models.Index(fields=["tenant", "lot", "id"], name="suppliers_recall_by_lot"),
            models.Index(fields=["tenant", "issued_at", "id"], name="suppliers_recall_by_time"),
        ]

    def __str__(self) -> str:
        return f"Recall of {self.lot_number}"


class RecallNotice(TenantOwned, LifecycleModel):
    """What one buyer is told of a recall, and what the buyer answers; quantities are in base units.

    `reserved` was promised to the buyer when the notice was made, `received` had been delivered. Personal data: none;
    `note` is the buyer's text about goods.
    """

    recall = models.ForeignKey(
        Recall, on_delete=models.PROTECT, related_name="notices", db_constraint=False, db_index=False
    )
    buyer_tenant_id = models.UUIDField()
    status = FSMField(default=NoticeStatus.PENDING.value, choices=NoticeStatus, protected=True, max_length=11)
    reserved = models.PositiveBigIntegerField(default=0)
    received = models.PositiveBigIntegerField(default=0)
    told_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    quantity_found = models.PositiveBigIntegerField(null=True)
    quantity_disposed = models.PositiveBigIntegerField(null=True)
    note = models.CharField(max_length=500, blank=True, default="")

    WRITABLE: ClassVar = ("quantity_found", "quantity_disposed", "note")

    class Meta:
        verbose_name = "recall notice"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "recall", "buyer_tenant_id"], name="suppliers_recallnotice_once"),
            models.CheckConstraint(
                condition=Q(status__in=NoticeStatus.values), name="suppliers_recallnotice_status_known"
            ),
            models.CheckConstraint(
                condition=~Q(buyer_tenant_id=F("tenant_id")), name="suppliers_recallnotice_two_parties"
            ),
            models.CheckConstraint(
                condition=Q(quantity_disposed__isnull=True) | Q(quantity_disposed__lte=F("quantity_found")),
                name="suppliers_recallnotice_disposed",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=_TOLD) | Q(told_at__isnull=False), name="suppliers_recallnotice_told"
            ),
        ]

    def __str__(self) -> str:
        return f"Notice to {self.buyer_tenant_id}"

    @transition(field=status, source=NoticeStatus.PENDING.value, target=NoticeStatus.TOLD.value)
    def tell(self) -> None:
        """Note that the buyer was told."""

    @transition(field=status, source=NoticeStatus.PENDING.value, target=NoticeStatus.UNREACHABLE.value)
    def give_up(self) -> None:
        """Note that the buyer's tenant is closed, so that nobody there can be told."""

    @transition(field=status, source=_TOLD, target=NoticeStatus.ANSWERED.value)
    def answer(self) -> None:
        """Note what the buyer has found and disposed of so far."""

    @transition(field=status, source=_TOLD, target=NoticeStatus.CLOSED.value)
    def close(self) -> None:
        """Note that the buyer has finished."""

    @transition(field=status, source=(NoticeStatus.PENDING.value, *_TOLD), target=NoticeStatus.WITHDRAWN.value)
    def withdraw(self) -> None:
        """Note that the recall was withdrawn."""


class ReceivedRecall(ReceivedDocument):
    """A notice of a recall as its buyer reads it. Personal data: none."""

    recall_id = models.UUIDField()
    product_id = models.UUIDField()
    lot_id = models.UUIDField()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "received_at", "id"], name="suppliers_recrecall_by_time"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recrecall_by_updated"),
            models.Index(fields=["tenant", "product_id", "received_at", "id"], name="suppliers_recrecall_by_product"),
        ]

    def __str__(self) -> str:
        return str(self.id)


_RECALL = "FROM suppliers_recall r WHERE r.tenant_id = t.tenant_id AND r.id = t.recall_id AND r.tenant_id = $2"

RECALL_NOTICES = ReceivedKind(
    document=RecallNotice,
    copy=ReceivedRecall,
    party="t.buyer_tenant_id",
    handed_over="t.told_at IS NOT NULL",
    version="version",
    columns={
        "number": f"(SELECT r.lot_number {_RECALL})",
        "recall_id": "t.recall_id",
        "product_id": f"(SELECT r.product_id {_RECALL})",
        "lot_id": f"(SELECT r.lot_id {_RECALL})",
    },
)
