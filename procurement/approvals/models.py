"""Tables of approvals: what approvers have decided, and the step that each pending order waits at."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from core.ids import uuid7
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import TenantOwned, TenantQuerySet

from .refusals import AlreadyDecided
from .states import Decision, Purpose


class Approval(TenantRow):
    """What one approver has decided about a revision of an order; never changed.

    `step` counts the decisions about the revision from 1. `approver_id` is the person who has decided, `delegated_by_id` the
    one in whose place. Personal data: ids of members of the buyer, and a free text of the approver.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    order = models.ForeignKey(
        "suppliers.PurchaseOrder", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    revision = models.IntegerField()
    approval_for = models.CharField(max_length=15, choices=Purpose)
    step = models.IntegerField()
    decision = models.CharField(max_length=8, choices=Decision)
    approver_id = models.UUIDField()
    delegated_by_id = models.UUIDField(null=True)
    note = models.CharField(max_length=500, blank=True, default="")
    credential = models.CharField(max_length=255)
    at = models.DateTimeField()

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    refusals: ClassVar = {
        "procurement_approval_once": AlreadyDecided,
        "procurement_approval_once_for": AlreadyDecided,
        "procurement_approval_step": AlreadyDecided,
    }
    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "order", "revision", "approval_for", "approver_id"], name="procurement_approval_once"
            ),
            models.UniqueConstraint(
                F("tenant"), F("order"), F("revision"), F("approval_for"), Coalesce("delegated_by_id", "approver_id"),
                name="procurement_approval_once_for",
            ),
            models.UniqueConstraint(
                fields=["tenant", "order", "revision", "approval_for", "step"], name="procurement_approval_step"
            ),
            models.CheckConstraint(
                condition=Q(decision__in=Decision.values, approval_for__in=Purpose.values),
                name="procurement_approval_known",
            ),
            models.CheckConstraint(
                condition=Q(delegated_by_id__isnull=True) | ~Q(delegated_by_id=F("approver_id")),
                name="procurement_approval_of_another",
            ),
            models.CheckConstraint(condition=Q(revision__gte=1, step__gte=1), name="procurement_approval_numbers"),
        ]  # fmt: skip
        indexes = [models.Index(fields=["tenant", "order", "at"], name="procurement_approval_by_order")]

    def __str__(self) -> str:
        return f"{self.decision} {self.revision}.{self.step}"


class ApprovalStep(TenantOwned):
    """The step of approval that an order waits at; there is one while the order is pending, and none before and after.

    The approvers are to decide by `due_at`; `told_at` is when they were told that they have not. Personal data: none.
    """

    order = models.ForeignKey(
        "suppliers.PurchaseOrder", on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    approval_for = models.CharField(max_length=15, choices=Purpose)
    due_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True)

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "order"], name="procurement_approvalstep_once"),
            models.CheckConstraint(condition=Q(approval_for__in=Purpose.values), name="procurement_approvalstep_known"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "due_at", "order"], condition=Q(told_at__isnull=True), name="procurement_step_untold"
            )
        ]

    def __str__(self) -> str:
        return str(self.order_id)
