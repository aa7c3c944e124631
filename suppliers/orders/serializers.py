"""Bodies of the supplier's answers to an order. Source: contract, supply-order.md 2 "The supplier's answer"."""

from typing import ClassVar

from rest_framework import serializers

from api.serializers import StrictSerializer


class AcceptOrderIn(StrictSerializer):
    """How an order is accepted."""

    allow_partial = serializers.BooleanField(
        default=False,
        help_text="Let what is not in stock come later, where the buyer's `backorder_policy` is `accept`.",
    )
    revision = serializers.IntegerField(
        min_value=1, required=False, allow_null=True, help_text="The revision that was read."
    )

    class Meta:
        example: ClassVar = {"allow_partial": False}


class RejectOrderIn(StrictSerializer):
    """Why an order is rejected; the buyer reads both."""

    reason_code = serializers.RegexField(
        r"^[a-z][a-z0-9_]*$",
        max_length=40,
        help_text="A word of the supplier, such as `out_of_stock` or `price_error`.",
    )
    note = serializers.CharField(max_length=450, required=False, allow_null=True, allow_blank=True, default="")

    class Meta:
        example: ClassVar = {"reason_code": "out_of_stock", "note": "Not before spring"}
