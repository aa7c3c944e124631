"""Bodies of the operations of pharmacies."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import DateField, InstantField, StrictSerializer
from prescriptions import vocabularies
from prescriptions.prescribing.serializers import AmountField, CodingIn, many, optional_text, refusal

MOST_LINES = 100
_ITEM = "0197b0c8-7b7e-7000-8000-000000000001"


def _choice(choices: Any, **options: Any) -> serializers.ChoiceField:
    given = {"required": False, "allow_null": True, "allow_blank": True, "default": "", **options}
    return serializers.ChoiceField(choices=choices, **given)


class ClaimIn(StrictSerializer):
    """The patient's token and the place that is to dispense, which may be left out where there is only one."""

    token = serializers.CharField(max_length=100)
    pharmacy_location_id = serializers.UUIDField(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"token": "7KQ4-WHD2-9XVP-3M8R-TB5N-C6JY-0Z"}


class ReturnIn(StrictSerializer):
    """Why the pharmacy hands a prescription back."""

    reason_code = serializers.ChoiceField(choices=vocabularies.RETURN)
    reason_text = optional_text(500)

    class Meta:
        example: ClassVar = {"reason_code": "out_of_stock"}


class ReverseIn(StrictSerializer):
    """Why a dispensation counts no more."""

    reason_code = serializers.ChoiceField(choices=vocabularies.REVERSE)
    reason_text = optional_text(500)

    class Meta:
        example: ClassVar = {"reason_code": "not_collected"}


class SubstitutionIn(StrictSerializer):
    """Whether another product is given than the one prescribed, of which kind, and why."""

    was_substituted = serializers.BooleanField()
    type = _choice((*vocabularies.SUBSTITUTION, *vocabularies.THERAPEUTIC))
    reason = _choice(vocabularies.SUBSTITUTION_REASON)

    class Meta:
        example: ClassVar = {"was_substituted": True, "type": "G", "reason": "FP"}


class LineIn(StrictSerializer):
    """What is handed over of one item, or why nothing is."""

    item_id = serializers.UUIDField()
    quantity = AmountField(required=False, allow_null=True, default=None)
    not_dispensed_reason = _choice(vocabularies.NOT_DISPENSED)
    unit = optional_text(40)
    product = CodingIn(required=False, allow_null=True, default=None)
    lot_number = optional_text(50)
    expires_on = DateField(required=False, allow_null=True, default=None)
    days_supply = serializers.IntegerField(min_value=1, max_value=365, required=False, allow_null=True, default=None)
    substitution = SubstitutionIn(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"item_id": _ITEM, "quantity": "21", "lot_number": "A1234"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand a quantity or a reason, not both; and the product that was given in place of another."""
        if (attrs["quantity"] is None) == (not attrs["not_dispensed_reason"]):
            raise refusal("quantity", "Give either a quantity or a not_dispensed_reason.", "invalid")
        substitution = attrs["substitution"]
        if substitution and substitution["was_substituted"] and attrs["product"] is None:
            raise refusal("product", "Name the product that is given instead.", "required")
        if attrs["quantity"] is None and (attrs["product"] or substitution):
            raise refusal("product", "Nothing is given, so there is no product.", "invalid")
        return attrs


class ReceiverIn(StrictSerializer):
    """Who collects, and whether the identity was checked."""

    name = optional_text(200)
    relationship = optional_text(100)
    id_checked = serializers.BooleanField(default=False)

    class Meta:
        example: ClassVar = {"name": "Eva Muster", "relationship": "self", "id_checked": True}


class WitnessIn(StrictSerializer):
    """Another member of the pharmacy who may dispense."""

    membership_id = serializers.UUIDField()

    class Meta:
        example: ClassVar = {"membership_id": "0197b0c8-7b7e-7000-8000-000000000002"}


class DispenseIn(StrictSerializer):
    """What is handed over; without `lines` the rest of the current fill of every open item, in full."""

    lines = many(LineIn, required=False, allow_null=True, default=None, min_length=1, max_length=MOST_LINES)
    handed_over_at = InstantField(required=False, allow_null=True, default=None)
    receiver = ReceiverIn(required=False, allow_null=True, default=None)
    witness = WitnessIn(required=False, allow_null=True, default=None)
    pharmacy_location_id = serializers.UUIDField(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"lines": [LineIn.Meta.example], "receiver": ReceiverIn.Meta.example}
