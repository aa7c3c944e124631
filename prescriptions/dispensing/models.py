"""Tables of dispensing: what was handed over, the copies that a pharmacy holds, and the tokens of patients."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from core.row_security import LOCAL, TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned, TenantQuerySet
from prescriptions.prescribing.models import Prescription, PrescriptionItem, fhir_id
from prescriptions.requests.models import PrescriptionRequest
from prescriptions.states import LIVE, DispensationStatus

_LIVE = ", ".join(f"'{state}'" for state in LIVE)


class Dispensation(TenantOwned):
    """One act of dispensing, in the tenant of the prescription's owner; a reversal makes it count no more.

    Personal data: who collected what for whom.
    """

    prescription = models.ForeignKey(
        Prescription, on_delete=models.PROTECT, related_name="dispensations", db_constraint=False, db_index=False
    )
    fill_number = models.PositiveIntegerField()
    pharmacy_location_id = models.UUIDField()
    dispenser_tenant_id = models.UUIDField()
    dispensed_by = models.UUIDField()
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


class ReceivedPrescription(ReceivedDocument):
    """A prescription as the pharmacy holds it that it was routed to; hidden once it went elsewhere or was returned.

    Personal data: what the prescription tells the pharmacy.
    """

    routed_at = models.DateTimeField()
    pharmacy_location_id = models.UUIDField()
    route_state = models.CharField(max_length=12)
    patient_id = fhir_id()
    prescriber_id = fhir_id()
    dispense_status = models.CharField(max_length=8)
    expires_at = models.DateTimeField()
    snapshot_digest = models.CharField(max_length=64)
    snapshot_kid = models.CharField(max_length=64)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "routed_at", "id"], name="prescriptions_rec_by_routed"),
            models.Index(fields=["tenant", "updated_at", "id"], name="prescriptions_rec_by_updated"),
            models.Index(fields=["tenant", "status", "routed_at", "id"], name="prescriptions_rec_by_status"),
            models.Index(
                fields=["tenant", "pharmacy_location_id", "routed_at", "id"], name="prescriptions_rec_by_pharmacy"
            ),
            models.Index(fields=["tenant", "patient_id", "routed_at", "id"], name="prescriptions_rec_by_patient"),
        ]

    def __str__(self) -> str:
        return str(self.number)


class ReceivedSnapshot(TenantRow):
    """The signed snapshot as the pharmacy has received it, sealed with a key of the pharmacy's tenant. It stays.

    Personal data: the whole prescription, sealed.
    """

    id = models.UUIDField(primary_key=True)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    owner_tenant_id = models.UUIDField()
    jws = models.TextField()
    schema = models.CharField(max_length=40)
    received_at = models.DateTimeField()

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TableSecurity(append_only=True)

    def __str__(self) -> str:
        return str(self.id)


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


class ReceivedRequest(ReceivedDocument):
    """A request as the pharmacy sees it that asked. Personal data: what was asked for whom."""

    prescription_id = models.UUIDField()
    kind = models.CharField(max_length=13)
    prescriber_id = fhir_id()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "received_at", "id"], name="prescriptions_recq_by_time"),
            models.Index(fields=["tenant", "prescription_id", "id"], name="prescriptions_recq_by_rx"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class PrescriptionToken(models.Model):
    """The token by which a patient lets any pharmacy claim a signed prescription; only its digest is kept.

    The table stands outside row security, since a pharmacy knows nothing but the token. Personal data: none.
    """

    prescription_id = models.UUIDField(primary_key=True)
    tenant_id = models.UUIDField()
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField()

    security: ClassVar = LOCAL

    def __str__(self) -> str:
        return str(self.prescription_id)


# The latest route to each tenant: who was handed the prescription, and whether that tenant still holds it.
_HANDED_TO = (
    "JOIN LATERAL (SELECT DISTINCT ON (dispenser_tenant_id) * FROM prescriptions_route"
    " WHERE tenant_id = $2 AND prescription_id = t.id ORDER BY dispenser_tenant_id, routed_at DESC, id DESC) r ON true"
)

PRESCRIPTIONS = ReceivedKind(
    document=Prescription,
    copy=ReceivedPrescription,
    party="r.dispenser_tenant_id",
    handed_over="t.route_id IS NOT NULL",
    version="version",
    joined=_HANDED_TO,
    emptied=f"r.state NOT IN ({_LIVE})",
    columns={
        "routed_at": "r.routed_at",
        "pharmacy_location_id": "r.pharmacy_location_id",
        "route_state": "r.state",
        "patient_id": "t.patient_id",
        "prescriber_id": "t.prescriber_id",
        "dispense_status": "t.dispense_status",
        "expires_at": "t.expires_at",
        "snapshot_digest": "t.snapshot_digest",
        "snapshot_kid": "t.snapshot_kid",
    },
)
DISPENSATIONS = ReceivedKind(
    document=Dispensation,
    copy=ReceivedDispensation,
    party="t.dispenser_tenant_id",
    handed_over="true",
    version="version",
    columns={"number": "''", "prescription_id": "t.prescription_id"},
)
REQUESTS = ReceivedKind(
    document=PrescriptionRequest,
    copy=ReceivedRequest,
    party="t.dispenser_tenant_id",
    handed_over="true",
    version="version",
    columns={
        "number": "''",
        "prescription_id": "t.prescription_id",
        "kind": "t.kind",
        "prescriber_id": "t.prescriber_id",
    },
)
