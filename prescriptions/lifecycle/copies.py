"""The copies of prescriptions that pharmacies hold, and the tokens of patients."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from core.row_security import LOCAL, TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import ReceivedDocument, ReceivedKind, TenantQuerySet
from prescriptions.states import LIVE, DispenseStatus, Status

from .models import Prescription, fhir_id

_LIVE = ", ".join(f"'{state}'" for state in LIVE)


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
            models.Index(fields=["tenant", "prescriber_id", "routed_at", "id"], name="prescriptions_rec_by_doctor"),
            models.Index(
                fields=["tenant", "dispense_status", "routed_at", "id"],
                condition=~Q(dispense_status=DispenseStatus.NONE),
                name="prescriptions_rec_by_dispensed",
            ),
            models.Index(
                fields=["tenant", "expires_at"], condition=Q(status=Status.ROUTED), name="prescriptions_rec_by_expiry"
            ),
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
