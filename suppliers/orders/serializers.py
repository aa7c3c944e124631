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
