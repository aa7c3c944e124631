"""Tables of payments, which are the buyer's, and what their suppliers have of them. Source: contract, supply-invoice.md 3."""

from typing import Any, ClassVar, Final

from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel
from core.row_security import TableSecurity
from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned
from suppliers.invoices.models import Invoice

from .course import Course
from .states import FINAL, OF_OFFSET, UNDER_WAY, PaymentMethod, PaymentStatus

MOST_LINES: Final = 100  # as many as one document shows


def _amount() -> "models.DecimalField[Any, Any]":
    return models.DecimalField(max_digits=19, decimal_places=4)


class Payment(Course, TenantOwned, LifecycleModel):
    """A payment of a buyer to one supplier; both know it from its first moment.

    `location_ids` are the places of delivery of all its invoices. `value_date` is the day on which the money moves.
    `failure_code` and `failure_message` are the bank's words. The buyer's alone: `provider_reference`, `bank_account`, the
    account that pays, `created_by_id` and `confirmed_by_id`. Personal data: ids of members of the buyer; a bank account,
    which may be a person's; free texts of the buyer.
    """

    number = models.CharField(max_length=64)
    supplier_tenant_id = models.UUIDField()
    status = FSMField(default=PaymentStatus.PENDING.value, choices=PaymentStatus, protected=True, max_length=10)
    method = models.CharField(max_length=13, choices=PaymentMethod)
    amount = _amount()
    currency = models.CharField(max_length=3)
    value_date = models.DateField(null=True)
    provider_reference = models.CharField(max_length=140, blank=True, default="")
    bank_account = models.CharField(max_length=64, blank=True, default="")
    remittance_text = models.CharField(max_length=500, blank=True, default="")
    failure_code = models.CharField(max_length=64, blank=True, default="")
    failure_message = models.CharField(max_length=500, blank=True, default="")
    location_ids = models.JSONField()
    succeeded_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    created_by_id = models.UUIDField(null=True)
    confirmed_by_id = models.UUIDField(null=True)
    shared_version = models.IntegerField(default=1)

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        verbose_name = "payment"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="suppliers_payment_number"),
            models.CheckConstraint(condition=~Q(supplier_tenant_id=F("tenant")), name="suppliers_payment_two_parties"),
            models.CheckConstraint(
                condition=Q(status__in=PaymentStatus.values, method__in=PaymentMethod.values),
                name="suppliers_payment_known",
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="suppliers_payment_amount"),
            models.CheckConstraint(
                condition=~Q(method=PaymentMethod.OFFSET) | Q(status__in=OF_OFFSET), name="suppliers_payment_offset"
            ),
            models.CheckConstraint(
                condition=Q(status__in=OF_OFFSET) ^ Q(succeeded_at__isnull=True), name="suppliers_payment_succeeded"
            ),
            models.CheckConstraint(
                condition=Q(status__in=FINAL) ^ Q(ended_at__isnull=True), name="suppliers_payment_ended"
            ),
            models.CheckConstraint(
                condition=Q(failure_code="", failure_message="")
                | Q(status__in=(PaymentStatus.FAILED, PaymentStatus.REVERSED), failure_code__gt=""),
                name="suppliers_payment_failure",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_payment_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_payment_by_updated"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="suppliers_payment_by_status"),
            models.Index(fields=["tenant", "supplier_tenant_id", "created_at", "id"], name="suppliers_payment_supplier"),
            models.Index(
                fields=["created_at", "id"], condition=Q(status__in=UNDER_WAY), name="suppliers_payment_to_confirm"
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.number


class _Part(TenantOwned):
    """A part of a payment that concerns one invoice; never changed. Personal data: none."""

    position = models.IntegerField()
    invoice_number = models.CharField(max_length=64)
    currency = models.CharField(max_length=3)
    amount = _amount()

    security: ClassVar = TableSecurity(append_only=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.invoice_number


class PaymentAllocation(_Part):
    """What of a payment pays one invoice. Personal data: none."""

    payment = models.ForeignKey(
        Payment, on_delete=models.PROTECT, related_name="allocations", db_constraint=False, db_index=False
    )
    invoice = models.ForeignKey(
        Invoice, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "payment", "invoice"], name="suppliers_paymentallocation_once"),
            models.CheckConstraint(
                condition=Q(amount__gt=0, position__range=(1, MOST_LINES)), name="suppliers_paymentallocation_amount"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "invoice", "id"], name="suppliers_paymentallocation_of"),
        ]


class CreditSource(_Part):
    """What of an offset is taken from the credit of one invoice. Personal data: none."""

    payment = models.ForeignKey(
        Payment, on_delete=models.PROTECT, related_name="credit_sources", db_constraint=False, db_index=False
    )
    invoice = models.ForeignKey(
        Invoice, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "payment", "invoice"], name="suppliers_creditsource_once"),
            models.CheckConstraint(
                condition=Q(amount__gt=0, position__range=(1, MOST_LINES)), name="suppliers_creditsource_amount"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "invoice", "id"], name="suppliers_creditsource_of"),
        ]


class ReceivedPayment(ReceivedDocument):
    """A payment as its supplier reads it. Personal data: free texts of the buyer."""

    currency = models.CharField(max_length=3)
    value_date = models.DateField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "received_at", "id"], name="suppliers_recpayment_by_time"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recpayment_updated"),
            models.Index(fields=["tenant", "status", "received_at", "id"], name="suppliers_recpayment_status"),
            models.Index(fields=["tenant", "owner_tenant_id", "received_at", "id"], name="suppliers_recpayment_owner"),
        ]

    def __str__(self) -> str:
        return str(self.number)


PAYMENTS: Final = ReceivedKind(
    document=Payment,
    copy=ReceivedPayment,
    party="t.supplier_tenant_id",
    handed_over="n.managed_by_id IS NULL",  # nobody reads the copies of a managed supplier
    columns={"currency": "t.currency", "value_date": "t.value_date"},
)
