"""Bodies of the supplier's answers to an order. Source: contract, supply-order.md 2 "The supplier's answer"."""

from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import StrictSerializer, refusal

from .changes.serializers import answered_lines

REASON_CODE: Final = r"^[a-z][a-z0-9_]*$"


class AcceptOrderIn(StrictSerializer):
    """How an order is accepted."""

    allow_partial = serializers.BooleanField(
        default=False,
        help_text="Let what is not in stock come later, where the buyer's `backorder_policy` is `accept`.",
    )
    lines = answered_lines()
    decision = serializers.ChoiceField(
        choices=("accept", "decline"), required=False, allow_null=True, default=None,
        help_text="About the change that the buyer has proposed; `revision` is required with it.",
    )  # fmt: skip
    revision = serializers.IntegerField(
        min_value=1, required=False, allow_null=True, default=None, help_text="The revision that was read."
    )

    class Meta:
        example: ClassVar = {"allow_partial": False}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one kind of answer, and a revision with a decision."""
        if attrs["lines"] and attrs["decision"]:
            raise refusal("lines", "A decision is about the whole change of the buyer.", "invalid")
        if attrs["decision"] and attrs["revision"] is None:
            raise refusal("revision", "Say which revision was read.", "required")
        return attrs


class RejectOrderIn(StrictSerializer):
    """Why an order is rejected; the buyer reads both."""

    reason_code = serializers.RegexField(
        REASON_CODE,
        max_length=40,
        help_text="A word of the supplier, such as `out_of_stock` or `price_error`.",
    )
    note = serializers.CharField(max_length=450, required=False, allow_null=True, allow_blank=True, default="")

    class Meta:
        example: ClassVar = {"reason_code": "out_of_stock", "note": "Not before spring"}
