"""Dispensations as owner and pharmacy read them."""

from typing import Any

from rest_framework import serializers

from api.received_copies import received
from api.representations import Computed, Document, Representation
from prescriptions.prescribing.serializers import CodingIn

from .models import Dispensation, DispensationLine, ReceivedDispensation


class _Form(serializers.Serializer[Any]):
    """A JSON value that is answered as it is stored."""

    def to_representation(self, instance: Any) -> Any:
        return instance


class PrescriptionTokenOut(serializers.Serializer[Any]):
    """The token by which a patient lets any pharmacy claim a prescription, and when it ends; shown once."""

    token = serializers.CharField(allow_null=True)
    expires_at = serializers.DateTimeField()


class SubstitutionForm(_Form):
    """Whether another product was given than the one prescribed, of which kind, and why."""

    was_substituted = serializers.BooleanField()
    type = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class ReceiverForm(_Form):
    """Who collected."""

    name = serializers.CharField(allow_null=True)
    relationship = serializers.CharField(allow_null=True)
    id_checked = serializers.BooleanField()


class WitnessForm(_Form):
    """Who witnessed."""

    membership_id = serializers.UUIDField()


class DispensationLineOut(Representation):
    """What was handed over of one item, or why nothing was."""

    quantity = Computed("trim_scale(t.quantity)::text", serializers.CharField(allow_null=True))
    product = Document(CodingIn(allow_null=True))
    substitution = Document(SubstitutionForm(allow_null=True))

    class Meta:
        model = DispensationLine
        fields = (
            "id", "item_id", "fill_number", "quantity", "unit", "not_dispensed_reason", "product", "lot_number",
            "expires_on", "days_supply", "substitution",
        )  # fmt: skip
        blank_as_null = ("unit", "not_dispensed_reason", "lot_number")


class DispensationOut(Representation):
    """One act of dispensing; a reversed one counts no more."""

    lines = DispensationLineOut(many=True, by="dispensation", ordering=("id",))
    receiver = Document(ReceiverForm(allow_null=True))
    witness = Document(WitnessForm(allow_null=True))

    class Meta:
        model = Dispensation
        name = "dispensation"
        fields = (
            "id", "prescription_id", "fill_number", "pharmacy_location_id", "dispenser_tenant_id", "dispensed_by",
            "handed_over_at", "lines", "is_partial", "receiver", "witness", "status", "reversed_at",
            "reversal_reason_code", "reversal_reason_text", "version", "created_at", "updated_at",
        )  # fmt: skip
        blank_as_null = ("reversal_reason_code", "reversal_reason_text")


ReceivedDispensationOut = received(
    "ReceivedDispensationOut", DispensationOut, ReceivedDispensation, name="dispensation"
)
