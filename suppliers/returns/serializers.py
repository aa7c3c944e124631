"""Bodies of returns. Source: contract, supply-invoice.md 4."""

from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.scans import read_scan
from api.serializers import InstantField, PrintedField, StrictSerializer, refusal
from suppliers.company.fields import WholeEntry
from suppliers.files.serializers import FileIdsField
from suppliers.inventory.serializers import MOST_SERIALS, QUANTITY_MAX
from suppliers.inventory.states import Unit

from .models import MOST_LINES
from .states import Condition, Decision, Disposition, Reason, Resolution, ReturnType

BODY_BYTES: Final = 2_000_000
_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_AT: Final = "2026-11-25T09:30:00Z"


def _text(length: int, **more: Any) -> serializers.CharField:
    return serializers.CharField(
        max_length=length, required=False, allow_null=True, allow_blank=True, default="", **more
    )


def _unit() -> serializers.ChoiceField:
    return serializers.ChoiceField(
        choices=Unit.choices, default=Unit.PACK.value, help_text="`pack`: packs of the line's packaging; `base`: base units."
    )  # fmt: skip


def _quantity(**more: Any) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX, **more)


def _serials(help_text: str) -> serializers.ListField:
    return serializers.ListField(
        child=PrintedField(max_length=20), max_length=MOST_SERIALS, required=False, default=list, help_text=help_text
    )  # fmt: skip


def _refuse_repeated(numbers: list[str]) -> None:
    if len(set(numbers)) < len(numbers):
        raise refusal("serial_numbers", "A serial number is named twice.", "duplicate")


class ReturnLineIn(WholeEntry):
    """Goods of one line of the delivery that go back, in `unit`."""

    delivery_line_id = serializers.UUIDField()
    quantity = _quantity()
    unit = _unit()
    lot_number = PrintedField(
        max_length=20,
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        help_text="The lot that goes back; by default the one that was received.",
    )
    serial_numbers = _serials("The units that go back; by default all that were accepted, if so many go back.")
    scan = _text(200, help_text="A GS1 element string in place of lot and serial number.")
    reason_code = serializers.ChoiceField(choices=Reason.choices)
    condition = serializers.ChoiceField(choices=Condition.choices, default=Condition.SEALED.value)

    class Meta:
        example: ClassVar = {"delivery_line_id": _ID, "quantity": 2, "reason_code": "damaged", "condition": "opened"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take the members of the scan over."""
        attrs = read_scan(attrs, ("gtin", "lot_number"))
        _refuse_repeated(attrs["serial_numbers"])
        return attrs


class GoodsReturnIn(StrictSerializer):
    """Goods of one delivery that its buyer wants to send back."""

    delivery_id = serializers.UUIDField()
    purchase_order_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="By default that of the delivery, and no other one."
    )
    type = serializers.ChoiceField(
        choices=ReturnType.choices, default=ReturnType.RETURN.value,
        help_text="`recall` has no window and is authorized at once.",
    )  # fmt: skip
    lines: Any = serializers.ListSerializer(child=ReturnLineIn(), min_length=1, max_length=MOST_LINES)
    resolution = serializers.ChoiceField(choices=Resolution.choices, default=Resolution.CREDIT.value)
    note = _text(5_000, help_text="The supplier reads it.")
    file_ids = FileIdsField(
        default=list, help_text="Own files that are ready and not private, such as photos. They stay from then on."
    )

    class Meta:
        example: ClassVar = {"delivery_id": _ID, "lines": [ReturnLineIn.Meta.example]}


class AuthorizeIn(StrictSerializer):
    """The supplier's decision about a requested return."""

    decision = serializers.ChoiceField(choices=Decision.choices, default=Decision.AUTHORIZED.value)
    reason = _text(2_000, help_text="Required if declined.")
    valid_until = InstantField(
        required=False, allow_null=True, default=None, help_text="Until when the buyer may hand the goods over."
    )
    instructions = _text(2_000, help_text="How and where the goods are to be sent.")

    class Meta:
        example: ClassVar = {"decision": "authorized", "instructions": "To gate 4, marked with the return number."}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a reason of who declines, and nothing of an authorization."""
        if attrs["decision"] == Decision.DECLINED:
            if not attrs["reason"]:
                raise refusal("reason", "Say why the return is declined.", "required")
            for name in ("valid_until", "instructions"):
                if attrs[name]:
                    raise refusal(name, "The return is declined.", "invalid")
        elif attrs["reason"]:
            raise refusal("reason", "Only who declines says why.", "invalid")
        return attrs


class ReturnShipIn(StrictSerializer):
    """How the buyer has handed the goods over."""

    carrier = _text(120)
    tracking_number = _text(120)
    shipped_at = InstantField(required=False, allow_null=True, default=None, help_text="By default now.")

    class Meta:
        example: ClassVar = {"carrier": "DHL", "tracking_number": "00340434161094042557"}


class CameBackIn(WholeEntry):
    """What has come back of one line."""

    return_line_id = serializers.UUIDField()
    quantity = serializers.IntegerField(min_value=0, max_value=QUANTITY_MAX)
    unit = _unit()
    serial_numbers = _serials("The units, where a line that has them comes back in part.")

    class Meta:
        example: ClassVar = {"return_line_id": _ID, "quantity": 2}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require each unit once."""
        _refuse_repeated(attrs["serial_numbers"])
        return attrs


class ReturnReceiveIn(StrictSerializer):
    """What has arrived at the supplier; lines that are not named have come back whole."""

    received_at = InstantField(required=False, allow_null=True, default=None, help_text="By default now.")
    location_id = serializers.UUIDField(
        help_text="Where the goods are set apart: a place that is not for sale, or one with a place of quarantine beside or below it."
    )  # fmt: skip
    lines: Any = serializers.ListSerializer(child=CameBackIn(), max_length=MOST_LINES, required=False, default=list)

    class Meta:
        example: ClassVar = {"location_id": _ID}


class InspectedIn(WholeEntry):
    """What becomes of goods of one line, in `unit`; a line may be named several times."""

    return_line_id = serializers.UUIDField()
    disposition = serializers.ChoiceField(choices=Disposition.choices)
    quantity = _quantity(
        required=False, allow_null=True, default=None, help_text="By default all that is left of the line."
    )
    unit = _unit()
    serial_numbers = _serials("The units, where a line that has them is divided.")
    location_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Where goods are put that are sold again."
    )
    file_ids = FileIdsField(
        default=list, help_text="Evidence, such as the record of a temperature logger: own files that are ready and not private."
    )  # fmt: skip
    witness = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="A second member, who has seen goods destroyed, by its user id."
    )  # fmt: skip

    class Meta:
        example: ClassVar = {"return_line_id": _ID, "disposition": "quarantine"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require that no unit is named twice."""
        _refuse_repeated(attrs["serial_numbers"])
        return attrs


class ReturnInspectIn(StrictSerializer):
    """What the supplier has found; of a completed return, what becomes of goods in quarantine."""

    lines: Any = serializers.ListSerializer(child=InspectedIn(), min_length=1, max_length=2 * MOST_LINES)
    credit_note_number = _text(64, help_text="Required where goods are credited; unique among the supplier's invoices.")

    class Meta:
        example: ClassVar = {"lines": [InspectedIn.Meta.example], "credit_note_number": "CN-2026-0017"}
