"""Tables of prescriptions: the prescription with its lifecycle, its items, its routes, and the counter of numbers."""

from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel, transition
from core.row_security import TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import TenantOwned, TenantQuerySet
from prescriptions.states import (
    HANDED_OVER,
    LIVE,
    Category,
    DispenseStatus,
    ItemStatus,
    Priority,
    Progress,
    RouteState,
    Schedule,
    Status,
)

_OPEN = Q(status__in=[Status.SIGNED.value, Status.ROUTED.value])
_UNFINISHED = ~Q(status__in=[Status.DISPENSED.value, Status.CANCELLED.value])


def fhir_id(**options: Any) -> Any:
    """Make a column for the id of a FHIR resource of the tenant."""
    return models.CharField(max_length=64, db_collation="C", **options)


class Prescription(TenantOwned, LifecycleModel):
    """A prescription of its owner, from the draft to the last fill.

    `validation` is the last run as it is answered. `patient` and `prescriber` are those of the snapshot. The columns
    `pharmacy_…`, `dispenser_tenant_id` and `route_state` are those of the latest route. `chain_length` and `chain_hash`
    are the end of its audit history. `expiring_from` is when the coming expiry is to be told, fixed at the signature by
    the policy of that time, null for no notice; `expiring_at` is when it was told. Personal data: who is treated, with what, why and by whom.
    """

    number = models.CharField(max_length=14)
    status = FSMField(default=Status.DRAFT.value, choices=Status, protected=True, max_length=20)
    patient_id = fhir_id()
    encounter_id = fhir_id(blank=True, default="")
    prescriber_id = fhir_id(blank=True, default="")
    location_id = models.UUIDField(null=True)
    reason_codes = models.JSONField(default=list)
    priority = models.CharField(max_length=7, choices=Priority, default=Priority.ROUTINE)
    category = models.CharField(max_length=10, choices=Category, default=Category.OUTPATIENT)
    valid_from = models.DateField(null=True)
    notes_to_pharmacy = models.CharField(max_length=1000, blank=True, default="")
    patient_instructions = models.CharField(max_length=2000, blank=True, default="")
    template_id = models.UUIDField(null=True)
    template_version = models.PositiveIntegerField(null=True)
    recurring_treatment_id = models.UUIDField(null=True)
    occurrence_index = models.PositiveIntegerField(null=True)
    prior_prescription_id = models.UUIDField(null=True)
    created_by = models.UUIDField()
    validation = models.JSONField(null=True)
    patient = models.JSONField(null=True)
    prescriber = models.JSONField(null=True)
    signed_at = models.DateTimeField(null=True)
    signed_by = models.UUIDField(null=True)
    snapshot_id = models.UUIDField(null=True)
    snapshot_digest = models.CharField(max_length=64, blank=True, default="")
    snapshot_kid = models.CharField(max_length=64, blank=True, default="")
    route_id = models.UUIDField(null=True)
    route_state = models.CharField(max_length=12, choices=RouteState, blank=True, default="")
    pharmacy_location_id = models.UUIDField(null=True)
    dispenser_tenant_id = models.UUIDField(null=True)
    expires_at = models.DateTimeField(null=True)
    expired_at = models.DateTimeField(null=True)
    expiring_from = models.DateTimeField(null=True)
    expiring_at = models.DateTimeField(null=True)
    dispense_status = models.CharField(max_length=8, choices=DispenseStatus, default=DispenseStatus.NONE)
    dispensed_at = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)
    cancelled_by = models.UUIDField(null=True)
    cancel_reason_code = models.CharField(max_length=40, blank=True, default="")
    cancel_reason_text = models.CharField(max_length=500, blank=True, default="")
    cancellation_acknowledged_at = models.DateTimeField(null=True)
    chain_length = models.PositiveIntegerField(default=0)
    chain_hash = models.CharField(max_length=64, default="0" * 64)

    WRITABLE: ClassVar = (
        "patient_id", "encounter_id", "prescriber_id", "location_id", "reason_codes", "priority", "category",
        "valid_from", "notes_to_pharmacy", "patient_instructions", "template_id", "template_version",
        "prior_prescription_id",
    )  # fmt: skip
    # What nobody reads in a prescription: the end of its history, and that its coming expiry was told.
    unversioned: ClassVar = ("chain_length", "chain_hash", "expiring_from", "expiring_at")

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        verbose_name = "prescription"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="prescriptions_rx_number_once"),
            models.UniqueConstraint(
                fields=["tenant", "recurring_treatment_id", "occurrence_index"],
                name="prescriptions_rx_occurrence_once",
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="prescriptions_rx_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=[Status.DRAFT.value, Status.CLINICALLY_VALIDATED.value, Status.CANCELLED.value])
                | Q(snapshot_id__isnull=False, signed_at__isnull=False, expires_at__isnull=False),
                name="prescriptions_rx_signed_whole",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=HANDED_OVER) | Q(route_id__isnull=False, dispenser_tenant_id__isnull=False),
                name="prescriptions_rx_routed_whole",
            ),
            models.CheckConstraint(
                condition=Q(status=Status.CANCELLED, cancelled_at__isnull=False)
                | (~Q(status=Status.CANCELLED) & Q(cancelled_at__isnull=True)),
                name="prescriptions_rx_cancelled_at",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="prescriptions_rx_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="prescriptions_rx_by_updated"),
            models.Index(
                fields=["tenant", "status", "created_at", "id"],
                condition=_UNFINISHED,
                name="prescriptions_rx_by_status",
            ),
            models.Index(fields=["tenant", "patient_id", "created_at", "id"], name="prescriptions_rx_by_patient"),
            models.Index(fields=["tenant", "prescriber_id", "created_at", "id"], name="prescriptions_rx_by_prescriber"),
            models.Index(
                fields=["tenant", "pharmacy_location_id", "created_at", "id"], name="prescriptions_rx_by_pharmacy"
            ),
            models.Index(
                fields=["tenant", "dispense_status", "created_at", "id"],
                condition=~Q(dispense_status=DispenseStatus.NONE),
                name="prescriptions_rx_by_dispensed",
            ),
            models.Index(fields=["tenant", "expires_at"], condition=_OPEN, name="prescriptions_rx_by_expiry"),
            models.Index(
                fields=["expires_at", "tenant", "id"],
                condition=_OPEN & Q(expired_at__isnull=True),
                name="prescriptions_rx_due",
            ),
            models.Index(
                fields=["expiring_from", "tenant", "id"],
                condition=_OPEN & Q(expired_at__isnull=True, expiring_at__isnull=True, expiring_from__isnull=False),
                name="prescriptions_rx_untold",
            ),
        ]

    def __str__(self) -> str:
        return self.number

    @property
    def is_routed_live(self) -> bool:
        """Tell whether a pharmacy holds the prescription now."""
        return self.route_state in LIVE

    @transition(field=status, source=Status.DRAFT.value, target=Status.CLINICALLY_VALIDATED.value)
    def validate(self) -> None:
        """Take the draft as clinically validated."""

    @transition(field=status, source=Status.CLINICALLY_VALIDATED.value, target=Status.DRAFT.value)
    def reopen(self) -> None:
        """Make it a draft again: it was changed, or a validation is blocked."""

    @transition(field=status, source=Status.CLINICALLY_VALIDATED.value, target=Status.SIGNED.value)
    def sign(self, at: datetime) -> None:
        """Sign the prescription."""
        self.signed_at = at

    @transition(field=status, source=Status.SIGNED.value, target=Status.ROUTED.value)
    def hand_over(self) -> None:
        """Route the prescription to a pharmacy."""

    @transition(field=status, source=Status.ROUTED.value, target=Status.SIGNED.value)
    def take_back(self) -> None:
        """Take the prescription back from the pharmacy that returned it."""

    @transition(field=status, source=Status.ROUTED.value, target=Status.DISPENSED.value)
    def finish(self, at: datetime) -> None:
        """Take the prescription as dispensed: every item is complete or closed."""
        self.dispensed_at = at

    @transition(field=status, source=Status.DISPENSED.value, target=Status.ROUTED.value)
    def resume(self) -> None:
        """Take the prescription as routed again, because a dispensation was reversed."""
        self.dispensed_at = None

    @transition(
        field=status,
        source=[Status.DRAFT.value, Status.CLINICALLY_VALIDATED.value, Status.SIGNED.value, Status.ROUTED.value],
        target=Status.CANCELLED.value,
    )
    def cancel(self, at: datetime) -> None:
        """Cancel the prescription, or what is left of it."""
        self.cancelled_at = at


class PrescriptionItem(TenantOwned):
    """One medication of a prescription, with what has been dispensed of it; its id is that of its MedicationRequest.

    Personal data: with what a patient is treated.
    """

    prescription = models.ForeignKey(
        Prescription, on_delete=models.PROTECT, related_name="items", db_constraint=False, db_index=False
    )
    line = models.PositiveIntegerField()
    prior_item_id = models.UUIDField(null=True)
    medication = models.JSONField(null=True)
    medication_text = models.CharField(max_length=500, blank=True, default="")
    dosage = models.JSONField(default=list)
    quantity_value = models.DecimalField(max_digits=14, decimal_places=4)
    quantity_unit = models.CharField(max_length=40)
    quantity_in_words = models.CharField(max_length=200, blank=True, default="")
    days_supply = models.PositiveIntegerField(null=True)
    fills_allowed = models.PositiveIntegerField(default=1)
    dispense_interval_days = models.IntegerField(null=True)
    substitution_allowed = models.BooleanField(default=True)
    substitution_reason = models.CharField(max_length=500, blank=True, default="")
    authorization_number = models.CharField(max_length=50, blank=True, default="")
    schedule = models.CharField(max_length=4, choices=Schedule, blank=True, default="")
    effective_schedule = models.CharField(max_length=4, choices=Schedule, default=Schedule.NONE)
    dispensed_quantity = models.DecimalField(max_digits=16, decimal_places=4, default=0)
    fills_used = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=13, choices=ItemStatus, default=ItemStatus.PENDING)
    not_dispensed_reason = models.CharField(max_length=40, blank=True, default="")

    WRITABLE: ClassVar = (
        "medication", "medication_text", "dosage", "quantity_value", "quantity_unit", "quantity_in_words",
        "days_supply", "fills_allowed", "dispense_interval_days", "substitution_allowed", "substitution_reason",
        "authorization_number", "schedule", "effective_schedule", "prior_item_id",
    )  # fmt: skip

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "prescription", "line"], name="prescriptions_item_line_once"),
            models.CheckConstraint(condition=Q(quantity_value__gt=0), name="prescriptions_item_quantity"),
            models.CheckConstraint(
                condition=Q(dispensed_quantity__gte=0)
                & Q(dispensed_quantity__lte=F("quantity_value") * F("fills_allowed")),
                name="prescriptions_item_not_over",
            ),
            models.CheckConstraint(
                condition=Q(fills_used__lte=F("fills_allowed")), name="prescriptions_item_fills_not_over"
            ),
            models.CheckConstraint(
                condition=Q(fills_allowed__gte=1) & Q(fills_allowed__lte=99), name="prescriptions_item_fills"
            ),
        ]

    def __str__(self) -> str:
        return f"line {self.line}"


class Route(TenantOwned):
    """One routing of a prescription to a pharmacy; one of them is live. Personal data: the note."""

    prescription = models.ForeignKey(
        Prescription, on_delete=models.PROTECT, related_name="routes", db_constraint=False, db_index=False
    )
    pharmacy_location_id = models.UUIDField()
    pharmacy_name = models.CharField(max_length=255)
    dispenser_tenant_id = models.UUIDField()
    state = models.CharField(max_length=12, choices=RouteState, default=RouteState.SENT)
    progress = models.CharField(max_length=20, choices=Progress, blank=True, default="")
    note = models.CharField(max_length=500, blank=True, default="")
    priority = models.CharField(max_length=7, choices=Priority, default=Priority.ROUTINE)
    routed_at = models.DateTimeField()
    acknowledged_at = models.DateTimeField(null=True)
    ready_at = models.DateTimeField(null=True)
    returned_at = models.DateTimeField(null=True)
    return_reason_code = models.CharField(max_length=40, blank=True, default="")
    return_reason_text = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "prescription"], condition=Q(state__in=LIVE), name="prescriptions_route_one_live"
            ),
            models.CheckConstraint(condition=Q(state__in=RouteState.values), name="prescriptions_route_state_known"),
        ]
        indexes = [
            models.Index(fields=["tenant", "prescription", "routed_at"], name="prescriptions_route_by_rx"),
            models.Index(
                fields=["tenant", "routed_at", "id"],
                condition=Q(state__in=[RouteState.QUEUED.value, RouteState.SENT.value]),
                name="prescriptions_route_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"to {self.pharmacy_name}"


class PrescriptionCounter(TenantRow):
    """The last number that a tenant has given in a local year. Personal data: none."""

    id = models.BigAutoField(primary_key=True)
    tenant = models.ForeignKey("organizations.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    year = models.PositiveIntegerField()
    last = models.PositiveIntegerField()

    objects = TenantQuerySet.as_manager()  # type: ignore[misc]  # further methods than those of TenantRow

    security: ClassVar = TableSecurity()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "year"], name="prescriptions_counter_year_once")]

    def __str__(self) -> str:
        return f"{self.year}: {self.last}"
