"""Prescriptions as their owner reads them, and as the pharmacy does that they were routed to."""

from typing import Any, ClassVar

from django.db.models import Q
from rest_framework import serializers

from api.received_copies import received
from api.representations import Computed, Document, Instant, OpenChoice, Representation
from core.conditions import TENANT
from prescriptions.lifecycle.copies import ReceivedPrescription
from prescriptions.lifecycle.models import Prescription, PrescriptionItem
from prescriptions.states import Progress, RouteState

from .serializers import CodingIn
from .shapes import DosageForm, MedicationForm, PatientForm, PrescriberForm, QuantityForm, ReceivedRunForm, RunForm

_OPEN = "t.status IN ('signed', 'routed') AND t.expires_at <= clock_timestamp()"
EXPIRED = f"({_OPEN}) IS TRUE"
_EXPIRED_TAG = f"CASE WHEN {EXPIRED} THEN 'expired' END"


def instant(column: str) -> str:
    """SQL for an instant of a JSON object: RFC 3339, UTC, three decimals."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""


def amount(value: str, unit: str) -> str:
    """SQL for a quantity: a decimal string without trailing zeros, and its unit."""
    return f"json_build_object('value', trim_scale({value})::text, 'unit', {unit})"


class RouteForm(serializers.Serializer[Any]):
    """Where a prescription was routed last, and how far the pharmacy is."""

    id = serializers.UUIDField()
    pharmacy_location_id = serializers.UUIDField()
    pharmacy_name = serializers.CharField()
    dispenser_tenant_id = serializers.UUIDField()
    state = OpenChoice(choices=RouteState.choices)
    progress = OpenChoice(choices=Progress.choices, allow_null=True)
    note = serializers.CharField(allow_null=True)
    priority = serializers.CharField()
    routed_at = Instant()
    acknowledged_at = Instant(allow_null=True)
    ready_at = Instant(allow_null=True)
    returned_at = Instant(allow_null=True)
    return_reason_code = serializers.CharField(allow_null=True)
    return_reason_text = serializers.CharField(allow_null=True)

    def to_representation(self, instance: Any) -> Any:
        """The object as PostgreSQL wrote it."""
        return instance


_ROUTE = (
    "SELECT json_build_object('id', r.id, 'pharmacy_location_id', r.pharmacy_location_id,"
    " 'pharmacy_name', r.pharmacy_name, 'dispenser_tenant_id', r.dispenser_tenant_id, 'state', r.state,"
    " 'progress', nullif(r.progress, ''), 'note', nullif(r.note, ''), 'priority', r.priority,"
    f" 'routed_at', {instant('r.routed_at')}, 'acknowledged_at', {instant('r.acknowledged_at')},"
    f" 'ready_at', {instant('r.ready_at')}, 'returned_at', {instant('r.returned_at')},"
    " 'return_reason_code', nullif(r.return_reason_code, ''), 'return_reason_text', nullif(r.return_reason_text, ''))"
    f" FROM prescriptions_route r WHERE r.tenant_id = {TENANT} AND r.id = t.route_id"
)


class SnapshotRefOut(Representation):
    """The signed snapshot, by its digest and the key that signed it."""

    id = serializers.UUIDField(source="snapshot_id")
    digest = serializers.CharField(source="snapshot_digest")
    kid = serializers.CharField(source="snapshot_kid")

    class Meta:
        model = Prescription
        fields = ("id", "digest", "kid")


class PrescriptionItemOut(Representation):
    """One medication of a prescription, with what has been dispensed of it."""

    medication = Document(MedicationForm())
    dosage = Document(DosageForm(many=True))
    quantity = Computed(amount("t.quantity_value", "t.quantity_unit"), QuantityForm())
    dispensed_quantity = Computed("trim_scale(t.dispensed_quantity)::text", serializers.CharField())

    class Meta:
        model = PrescriptionItem
        fields = (
            "id", "line", "medication", "medication_text", "dosage", "quantity", "quantity_in_words", "days_supply",
            "fills_allowed", "dispense_interval_days", "substitution_allowed", "substitution_reason",
            "authorization_number", "schedule", "effective_schedule", "dispensed_quantity", "fills_used", "status",
            "not_dispensed_reason",
        )  # fmt: skip
        blank_as_null = (
            "medication_text", "quantity_in_words", "substitution_reason", "authorization_number", "not_dispensed_reason",
        )  # fmt: skip
        example: ClassVar = {"line": 1, "dispensed_quantity": "0", "fills_used": 0, "status": "pending"}


class _Shared(Representation):
    """The members that owner and pharmacy read."""

    reason_codes = Document(CodingIn(many=True))
    patient = Document(PatientForm())
    prescriber = Document(PrescriberForm())
    snapshot = SnapshotRefOut(when=Q(snapshot_id__isnull=False))
    route = Computed(_ROUTE, RouteForm(allow_null=True))
    expired = Computed(EXPIRED, serializers.BooleanField())
    items = PrescriptionItemOut(many=True, by="prescription", ordering=("line",))


_BLANK = (
    "prescriber_id", "notes_to_pharmacy", "patient_instructions", "cancel_reason_code",
    "cancel_reason_text",
)  # fmt: skip
_HEAD = ("id", "tenant_id", "number", "status", "version", "patient_id", "patient", "prescriber")
_BODY = (
    "prescriber_id", "location_id", "items", "reason_codes", "priority", "category", "valid_from", "notes_to_pharmacy",
    "patient_instructions",
)  # fmt: skip
_OWNERS = ("encounter_id", "template_id", "recurring_treatment_id", "prior_prescription_id")
_TAIL = (
    "validation", "signed_at", "signed_by", "snapshot", "route", "expires_at", "expired_at", "expired",
    "dispense_status", "dispensed_at", "cancelled_at", "cancelled_by", "cancel_reason_code", "cancel_reason_text",
    "cancellation_acknowledged_at", "created_at", "updated_at", "created_by",
)  # fmt: skip
_EXAMPLE: dict[str, Any] = {
    "number": "RX-2026-000042",
    "patient_id": "pat-1",
    "prescriber_id": "prac-1",
    "status": "signed",
    "route": None,
    "expired": False,
}


class PrescriptionOut(_Shared):
    """A prescription, whole, as its owner reads it."""

    validation = Document(RunForm(allow_null=True))

    class Meta:
        model = Prescription
        name = "prescription"
        fields: tuple[str, ...] = (*_HEAD, *_OWNERS, *_BODY, *_TAIL)
        blank_as_null = ("encounter_id", *_BLANK)
        unversioned = _EXPIRED_TAG
        whose = "patient_id"
        example = _EXAMPLE


class PrescriptionRowOut(PrescriptionOut):
    """A prescription in a list; `include=items` brings its items."""

    class Meta(PrescriptionOut.Meta):
        fields: tuple[str, ...] = (*(name for name in PrescriptionOut.Meta.fields if name != "items"), "items")
        includes = ("items",)


_OVERRIDES = (
    "SELECT json_build_object('outcome', t.validation -> 'outcome', 'overrides', coalesce((SELECT json_agg("
    "json_build_object('code', i -> 'code', 'lines', i -> 'lines', 'reason_code', i -> 'override' -> 'reason_code'))"
    " FROM jsonb_array_elements(t.validation -> 'issues') i"
    " WHERE jsonb_typeof(i -> 'override') = 'object'), '[]')) WHERE t.validation IS NOT NULL"
)


class PrescriptionForPharmacyOut(_Shared):
    """A prescription as the pharmacy may see it that it was routed to."""

    validation = Computed(_OVERRIDES, ReceivedRunForm(allow_null=True))

    class Meta:
        model = Prescription
        name = "prescription"
        fields: tuple[str, ...] = (*_HEAD, *_BODY, *_TAIL)
        blank_as_null = _BLANK
        example = _EXAMPLE


_HELD = "t.route_state IN ('queued', 'sent', 'acknowledged')"
_OF_COPY: dict[str, Any] = {
    "name": "prescription",
    "where": _HELD,
    "unversioned": _EXPIRED_TAG,
    "whose": "patient_id",
    "example": _EXAMPLE,
    "blank_as_null": (),
}


class PrescriptionRowForPharmacyOut(PrescriptionForPharmacyOut):
    """The members of a row of the pharmacy's list, its items last."""

    class Meta(PrescriptionForPharmacyOut.Meta):
        fields: tuple[str, ...] = (
            *(name for name in PrescriptionForPharmacyOut.Meta.fields if name != "items"),
            "items",
        )


def _received(name: str, shown: type[Representation], **meta: Any) -> type[Representation]:
    base = received(f"{name}Base", shown, ReceivedPrescription, **_OF_COPY, **meta)
    members = {
        "__doc__": "A prescription as the pharmacy holds it that it was routed to; `created_at` is the time of routing.",
        "__module__": __name__,
        "expired": Computed(EXPIRED, serializers.BooleanField()),
        "created_at": Instant(source="routed_at"),
        "Meta": type("Meta", (base.Meta,), {}),
    }
    return type(name, (base,), members)


ReceivedPrescriptionOut = _received("ReceivedPrescriptionOut", PrescriptionForPharmacyOut)
ReceivedPrescriptionRowOut = _received("ReceivedPrescriptionRowOut", PrescriptionRowForPharmacyOut, includes=("items",))
