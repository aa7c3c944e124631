"""Table of what pharmacies ask of prescribers; a row belongs to the owner of the prescription."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel, transition
from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned
from prescriptions.lifecycle.models import Prescription, PrescriptionItem, fhir_id
from prescriptions.states import RequestKind, RequestStatus

_OPEN = Q(status=RequestStatus.OPEN)


class PrescriptionRequest(TenantOwned, LifecycleModel):
    """A pharmacy's request for a renewal, a change or a clarification, and the answer to it.

    `location_id` is that of the prescription, by which reads are limited. Personal data: what is asked for whom.
    """

    prescription = models.ForeignKey(
        Prescription, on_delete=models.PROTECT, related_name="requests", db_constraint=False, db_index=False
    )
    item = models.ForeignKey(
        PrescriptionItem, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False, null=True
    )
    kind = models.CharField(max_length=13, choices=RequestKind)
    text = models.CharField(max_length=500, blank=True, default="")
    proposed = models.JSONField(null=True)
    status = FSMField(default=RequestStatus.OPEN.value, choices=RequestStatus, protected=True, max_length=21)
    prescriber_id = fhir_id(blank=True, default="")
    location_id = models.UUIDField(null=True)
    pharmacy_location_id = models.UUIDField()
    dispenser_tenant_id = models.UUIDField()
    asked_by = models.UUIDField()
    follow_ups = models.PositiveIntegerField(default=0)
    answered_at = models.DateTimeField(null=True)
    answered_by = models.UUIDField(null=True)
    answer_reason_code = models.CharField(max_length=40, blank=True, default="")
    answer_note = models.CharField(max_length=500, blank=True, default="")
    draft_prescription_id = models.UUIDField(null=True)

    WRITABLE: ClassVar = ("text", "proposed")

    class Meta:
        verbose_name = "request"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "prescription", "item", "kind"],
                condition=_OPEN,
                nulls_distinct=False,
                name="prescriptions_request_open_once",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="prescriptions_req_by_created"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="prescriptions_req_by_status"),
        ]

    def __str__(self) -> str:
        return str(self.kind)

    @transition(field=status, source=RequestStatus.OPEN.value, target=RequestStatus.APPROVED.value)
    def approve(self) -> None:
        """Approve what was asked for."""

    @transition(field=status, source=RequestStatus.OPEN.value, target=RequestStatus.APPROVED_WITH_CHANGES.value)
    def approve_with_changes(self) -> None:
        """Approve something else than what was asked for."""

    @transition(field=status, source=RequestStatus.OPEN.value, target=RequestStatus.DENIED.value)
    def deny(self) -> None:
        """Deny what was asked for."""

    @transition(field=status, source=RequestStatus.OPEN.value, target=RequestStatus.ANSWERED.value)
    def answer(self) -> None:
        """Answer a question."""

    @transition(field=status, source=RequestStatus.OPEN.value, target=RequestStatus.CLOSED.value)
    def close(self) -> None:
        """Close the request, because the prescription was cancelled."""


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
