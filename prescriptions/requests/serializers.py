"""Bodies of requests and their answers."""

from typing import ClassVar

from api.serializers import StrictSerializer
from prescriptions.prescribing.serializers import CodingIn, QuantityIn, optional_text


class ProposedIn(StrictSerializer):
    """What the pharmacy proposes instead."""

    product = CodingIn(required=False, allow_null=True, default=None)
    quantity = QuantityIn(required=False, allow_null=True, default=None)
    dosage_text = optional_text(500)

    class Meta:
        example: ClassVar = {"quantity": {"value": "30", "unit": "tablet"}}
