"""Bodies of requests and their answers."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import StrictSerializer
from prescriptions import vocabularies
from prescriptions.prescribing.serializers import (
    MOST_ITEMS,
    CodingIn,
    ItemIn,
    QuantityIn,
    many,
    optional_text,
    refusal,
)
from prescriptions.states import RequestKind, RequestStatus

_DECISIONS = [one for one in RequestStatus.choices if one[0] not in (RequestStatus.OPEN, RequestStatus.CLOSED)]


class ProposedIn(StrictSerializer):
    """What the pharmacy proposes instead."""

    product = CodingIn(required=False, allow_null=True, default=None)
    quantity = QuantityIn(required=False, allow_null=True, default=None)
    dosage_text = optional_text(500)

    class Meta:
        example: ClassVar = {"quantity": {"value": "30", "unit": "tablet"}}


class RequestIn(StrictSerializer):
    """What a pharmacy asks of the prescriber; `follow_up` asks again what is not answered yet."""

    kind = serializers.ChoiceField(choices=RequestKind.choices)
    item_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    text = optional_text(500)
    proposed = ProposedIn(required=False, allow_null=True, default=None)
    follow_up = serializers.BooleanField(default=False)

    class Meta:
        example: ClassVar = {"kind": "clarification", "text": "Is the dose meant for a day?"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand a text of a clarification, and an item of everything else."""
        if attrs["kind"] == RequestKind.CLARIFICATION:
            if not (attrs["text"] or "").strip():
                raise refusal("text", "Say what is to be clarified.", "required")
        elif attrs["item_id"] is None:
            raise refusal("item_id", "Name the item that is to be renewed or changed.", "required")
        return attrs


class RespondIn(StrictSerializer):
    """The prescriber's answer; `reason_code` belongs to a denial, `items` to an approval with changes."""

    decision = serializers.ChoiceField(choices=_DECISIONS)
    reason_code = serializers.ChoiceField(
        choices=vocabularies.DENIED, required=False, allow_null=True, allow_blank=True, default=""
    )
    note = optional_text(500)
    items = many(ItemIn, required=False, allow_null=True, default=None, min_length=1, max_length=MOST_ITEMS)

    class Meta:
        example: ClassVar = {"decision": "denied", "reason_code": "appointment_needed"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand a reason of a denial and items of an approval with changes, and neither of anything else."""
        for name, decision in (("reason_code", RequestStatus.DENIED), ("items", RequestStatus.APPROVED_WITH_CHANGES)):
            if attrs["decision"] == decision and not attrs[name]:
                raise refusal(name, f"The decision {decision.value} needs it.", "required")
            if attrs["decision"] != decision and attrs[name]:
                raise refusal(name, f"It belongs to the decision {decision.value}.", "invalid")
        return attrs
