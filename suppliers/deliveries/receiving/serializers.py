"""Bodies of receipts. Source: contract, supply-order.md 4."""

from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.scans import read_scan
from api.serializers import DateField, InstantField, PrintedField, StrictSerializer, refusal
from suppliers.company.fields import WholeEntry
from suppliers.deliveries.models import MOST_LINES
from suppliers.deliveries.states import RejectionReason
from suppliers.files.serializers import FileIdsField
from suppliers.inventory.serializers import MOST_SERIALS, QUANTITY_MAX
from suppliers.inventory.states import Unit

BODY_BYTES: Final = 2_000_000
_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_AT: Final = "2026-11-25T09:30:00Z"


def _text(length: int, **more: Any) -> serializers.CharField:
    return serializers.CharField(
        max_length=length, required=False, allow_null=True, allow_blank=True, default="", **more
    )


def _quantity(**more: Any) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=0, max_value=QUANTITY_MAX, **more)


def _unit() -> serializers.ChoiceField:
    return serializers.ChoiceField(
        choices=Unit.choices, default=Unit.PACK.value, help_text="`pack`: packs of the line's packaging; `base`: base units."
    )  # fmt: skip


class CountedLineIn(WholeEntry):
    """What became of goods: accepted, rejected, or short, which is missing; in `unit`."""

    accepted_quantity = _quantity()
    rejected_quantity = _quantity(required=False, default=0)
    short_quantity = _quantity(required=False, default=0)
    unit = _unit()
    rejection_reason = serializers.ChoiceField(
        choices=RejectionReason.choices, required=False, allow_null=True, default=None, help_text="Required if rejected."
    )  # fmt: skip
    lot_number = PrintedField(
        max_length=20,
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        help_text="The lot that has come; by default the one that was shipped.",
    )
    expiry_date = DateField(
        required=False, allow_null=True, default=None, help_text="The last day of use; by default that of the shipment."
    )
    serial_numbers = serializers.ListField(
        child=PrintedField(max_length=20),
        max_length=MOST_SERIALS,
        required=False,
        default=list,
        help_text="Those of the accepted units; by default all that are left, if so many are accepted.",
    )
    scan = _text(
        200, help_text="A GS1 element string in place of lot, expiry date and serial number; its GTIN is one of the product."
    )  # fmt: skip
    note = _text(2_000)
    file_ids = FileIdsField(
        default=list, help_text="Own files that are ready and not private, such as photos of damage. They stay from then on."
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take the members of the scan over; require that something is said, and why goods are rejected."""
        attrs = read_scan(attrs, ("gtin", "lot_number", "expiry_date"))
        if not (attrs["accepted_quantity"] or attrs["rejected_quantity"] or attrs["short_quantity"]):
            raise refusal("accepted_quantity", "Say what became of at least one unit.", "required")
        if attrs["rejected_quantity"] and not attrs["rejection_reason"]:
            raise refusal("rejection_reason", "Say why goods are rejected.", "required")
        if attrs["rejection_reason"] and not attrs["rejected_quantity"]:
            raise refusal("rejection_reason", "Nothing is rejected.", "invalid")
        if len(set(attrs["serial_numbers"])) < len(attrs["serial_numbers"]):
            raise refusal("serial_numbers", "A serial number is named twice.", "duplicate")
        return attrs


class ReceiptLineIn(CountedLineIn):
    """What became of the goods of one line of the delivery."""

    delivery_line_id = serializers.UUIDField()

    class Meta:
        example: ClassVar = {
            "delivery_line_id": _ID,
            "accepted_quantity": 9,
            "rejected_quantity": 1,
            "rejection_reason": "damaged",
        }


class PutawayIn(WholeEntry):
    """Where accepted goods of a line are put; what no entry names stays at the place of the receipt."""

    delivery_line_id = serializers.UUIDField()
    location_id = serializers.UUIDField()
    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    unit = _unit()

    class Meta:
        example: ClassVar = {"delivery_line_id": _ID, "location_id": _ID, "quantity": 4}


class ReceiptIn(StrictSerializer):
    """What a buyer has received of a delivery; or the reversal of a receipt, with `reverses` alone."""

    received_at = InstantField(required=False, allow_null=True, default=None, help_text="Required, but of a reversal.")
    location_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Where it was received. Required, but of a reversal."
    )
    lines: Any = serializers.ListSerializer(
        child=ReceiptLineIn(), max_length=MOST_LINES, required=False, default=list, help_text="Required, but of a reversal."
    )  # fmt: skip
    temperature_ok = serializers.BooleanField(
        required=False, allow_null=True, default=None,
        help_text="Whether goods that must stay cold have. Required where a line has such goods; with false they are set apart.",
    )  # fmt: skip
    confirm_difference = serializers.BooleanField(
        default=False, help_text="Lots and expiry dates that differ from the shipment's are what has come."
    )
    reverses = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="A receipt of this delivery that is taken back."
    )
    putaway: Any = serializers.ListSerializer(
        child=PutawayIn(), max_length=MOST_LINES, required=False, default=list, help_text="The supplier never reads it."
    )  # fmt: skip

    class Meta:
        example: ClassVar = {"received_at": _AT, "location_id": _ID, "lines": [ReceiptLineIn.Meta.example]}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a receipt, or a reversal without anything of one."""
        if attrs["reverses"] is not None:
            for name in ("lines", "putaway", "location_id", "temperature_ok", "confirm_difference"):
                if attrs[name]:
                    raise refusal(name, "A reversal takes back all of a receipt.", "invalid")
            return attrs
        for name in ("received_at", "location_id", "lines"):
            if not attrs[name]:
                raise refusal(name, "This field is required.", "required")
        return attrs


class ManagedLineIn(CountedLineIn):
    """What has come of one line of the order, and in which lot."""

    order_line_id = serializers.UUIDField()

    class Meta:
        example: ClassVar = {"order_line_id": _ID, "accepted_quantity": 10, "lot_number": "L2026-17"}


class ManagedReceiptIn(StrictSerializer):
    """What a buyer has received of an order to a supplier that is not on the platform."""

    received_at = InstantField()
    location_id = serializers.UUIDField(help_text="Where it was received.")
    lines: Any = serializers.ListSerializer(child=ManagedLineIn(), min_length=1, max_length=MOST_LINES)
    temperature_ok = serializers.BooleanField(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"received_at": _AT, "location_id": _ID, "lines": [ManagedLineIn.Meta.example]}
