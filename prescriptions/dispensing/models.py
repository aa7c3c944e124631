"""Tables of dispensing: what was handed over, and the copies of it that a pharmacy keeps."""

from django.db import models
from django.db.models import Q

from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned
from prescriptions.lifecycle.models import Prescription, PrescriptionItem, fhir_id
from prescriptions.states import DispensationStatus


class Dispensation(TenantOwned):
    """One act of dispensing, in the tenant of the prescription's owner; a reversal makes it count no more.

    `practitioner_id` is the pharmacist as a resource of the owner's record, where the pharmacy is of the same tenant.
    Personal data: who collected what for whom.
    """

    prescription = models.ForeignKey(
        Prescription, on_delete=models.PROTECT, related_name="dispensations", db_constraint=False, db_index=False
    )
    fill_number = models.PositiveIntegerField()
    pharmacy_location_id = models.UUIDField()
    dispenser_tenant_id = models.UUIDField()
    dispensed_by = models.UUIDField()
    practitioner_id = fhir_id(blank=True, default="")
    handed_over_at = models.DateTimeField()
    is_partial = models.BooleanField()
    receiver = models.JSONField(null=True)
    witness = models.JSONField(null=True)
    status = models.CharField(max_length=9, choices=DispensationStatus, default=DispensationStatus.COMPLETED)
    reversed_at = models.DateTimeField(null=True)
    reversal_reason_code = models.CharField(max_length=40, blank=True, default="")
    reversal_reason_text = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        verbose_name = "dispensation"
        constraints = [
            models.CheckConstraint(
                condition=Q(status=DispensationStatus.COMPLETED, reversed_at__isnull=True)
                | Q(status=DispensationStatus.REVERSED, reversed_at__isnull=False),
                name="prescriptions_disp_reversed_at",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "prescription", "created_at", "id"], name="prescriptions_disp_by_rx"),
        ]

    def __str__(self) -> str:
        return f"fill {self.fill_number}"


class DispensationLine(TenantOwned):
    """What was handed over of one item, or why nothing was; its id is that of its MedicationDispense.

    Personal data: with what a patient is treated.
    """

    dispensation = models.ForeignKey(
        Dispensation, on_delete=models.PROTECT, related_name="lines", db_constraint=False, db_index=False
    )
    item = models.ForeignKey(
        PrescriptionItem, on_delete=models.PROTECT, related_name="dispensed", db_constraint=False, db_index=False
    )
    fill_number = models.PositiveIntegerField()
    quantity = models.DecimalField(max_digits=14, decimal_places=4, null=True)
    unit = models.CharField(max_length=40, blank=True, default="")
    not_dispensed_reason = models.CharField(max_length=40, blank=True, default="")
    product = models.JSONField(null=True)
    lot_number = models.CharField(max_length=50, blank=True, default="")
    expires_on = models.DateField(null=True)
    days_supply = models.PositiveIntegerField(null=True)
    substitution = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(quantity__gt=0, not_dispensed_reason="")
                | (Q(quantity__isnull=True) & ~Q(not_dispensed_reason="")),
                name="prescriptions_line_given_or_not",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "dispensation", "id"], name="prescriptions_line_by_disp"),
            models.Index(fields=["tenant", "item", "id"], name="prescriptions_line_by_item"),
        ]

    def __str__(self) -> str:
        return f"fill {self.fill_number}"


class ReceivedDispensation(ReceivedDocument):
    """A dispensation as its pharmacy keeps it, whatever became of the prescription.

    Personal data: who collected what for whom.
    """

    prescription_id = models.UUIDField()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "prescription_id", "received_at", "id"], name="prescriptions_recd_by_rx"),
        ]

    def __str__(self) -> str:
        return str(self.id)


DISPENSATIONS = ReceivedKind(
    document=Dispensation,
    copy=ReceivedDispensation,
    party="t.dispenser_tenant_id",
    handed_over="true",
    version="version",
    columns={"number": "''", "prescription_id": "t.prescription_id"},
)
