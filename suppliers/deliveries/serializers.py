"""Bodies of shipments and of what is reported of deliveries. Source: contract, supply-order.md 3."""

from decimal import Decimal
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.scans import read_scan
from api.serializers import DateField, DecimalField, InstantField, PrintedField, StrictSerializer, refusal
from core.identifiers import gtin14, has_gs1_check_digit
from suppliers.company.fields import WholeEntry
from suppliers.files.serializers import FileIdsField
from suppliers.inventory.serializers import MOST_SERIALS, QUANTITY_MAX
from suppliers.inventory.states import Unit

from .models import MOST_PACKAGES
from .states import DeliveryStatus, ExceptionType, PackageLevel

MOST_ASKED: Final = 500
BODY_BYTES: Final = 2_000_000
_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_SSCC: Final = "340123450000000000"
# What a PATCH may ask a shipment to become.
ASKED: Final = (
    DeliveryStatus.IN_TRANSIT.value, DeliveryStatus.DELIVERED.value, DeliveryStatus.CANCELLED.value,
    DeliveryStatus.LOST.value,
)  # fmt: skip


def _text(length: int, **more: Any) -> serializers.CharField:
    return serializers.CharField(max_length=length, required=False, allow_null=True, allow_blank=True, **more)


def _degrees() -> DecimalField:
    return DecimalField(max_digits=4, decimal_places=1, min_value=Decimal(-273), required=False, allow_null=True)


class ShippedLineIn(WholeEntry):
    """Goods of a line of the order; without `lot_number` the lots that are allocated to it, what expires first at first."""

    order_line_id = serializers.UUIDField()
    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    unit = serializers.ChoiceField(
        choices=Unit.choices, default=Unit.PACK.value, help_text="`pack`: packs of the line's packaging; `base`: base units."
    )  # fmt: skip
    lot_number = PrintedField(max_length=20, required=False, allow_null=True, allow_blank=True, default=None)
    expiry_date = DateField(required=False, allow_null=True, default=None, help_text="That of the lot, as a check.")
    serial_numbers = serializers.ListField(
        child=PrintedField(max_length=20),
        max_length=MOST_SERIALS,
        required=False,
        default=list,
        help_text="One for each base unit of a product that has serial numbers, at the latest when it leaves.",
    )
    gtin = _text(14, default=None, help_text="Of a packaging of the product, as a check.")
    scan = _text(200, default=None, help_text="A GS1 element string in place of lot, expiry, serial number and GTIN.")

    class Meta:
        example: ClassVar = {"order_line_id": _ID, "quantity": 10, "lot_number": "L2026-17"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take the members of the scan over, and require a GTIN with its check digit."""
        attrs = read_scan(attrs, ("gtin", "lot_number", "expiry_date"))
        if attrs["gtin"]:
            attrs["gtin"] = gtin14(attrs["gtin"])
            if attrs["gtin"] is None:
                raise refusal("gtin", "This is no GTIN.", "invalid_gtin")
        if len(set(attrs["serial_numbers"])) < len(attrs["serial_numbers"]):
            raise refusal("serial_numbers", "A serial number is named twice.", "duplicate")
        return attrs


class PackedLineIn(WholeEntry):
    """What a package holds of a line of the shipment, which is named by its number in the list, from 1 on."""

    line_no = serializers.IntegerField(min_value=1, max_value=MOST_ASKED)
    base_quantity = serializers.IntegerField(
        min_value=1,
        max_value=QUANTITY_MAX,
        required=False,
        allow_null=True,
        default=None,
        help_text="By default all of the line that no package before holds.",
    )

    class Meta:
        example: ClassVar = {"line_no": 1, "base_quantity": 100}


class PackageIn(WholeEntry):
    """A package with its number, a Serial Shipping Container Code, and the one that it stands in."""

    sscc = _text(18, default=None)
    scan = _text(200, default=None, help_text="A GS1 element string with identifier 00 in place of `sscc`.")
    parent_sscc = _text(18, default=None)
    level = serializers.ChoiceField(choices=PackageLevel.choices)
    lines: Any = serializers.ListSerializer(
        child=PackedLineIn(), max_length=MOST_ASKED, required=False, default=list, help_text="What lies in no inner package."
    )  # fmt: skip

    class Meta:
        example: ClassVar = {"sscc": _SSCC, "level": "pallet", "lines": [PackedLineIn.Meta.example]}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require numbers of 18 digits with their check digits."""
        attrs = read_scan(attrs, ("sscc",))
        for name in ("sscc", "parent_sscc"):
            value = attrs[name]
            if value and not (len(value) == 18 and value.isascii() and value.isdigit() and has_gs1_check_digit(value)):
                raise refusal(name, "This is no SSCC of 18 digits with its check digit.", "invalid_sscc")
        if not attrs["sscc"]:
            raise refusal("sscc", "This field is required.", "required")
        return attrs


class TransportTemperatureIn(WholeEntry):
    """What temperatures the goods need and have had, in degrees Celsius."""

    required_min_c = _degrees()
    required_max_c = _degrees()
    logger_id = _text(120)
    min_recorded_c = _degrees()
    max_recorded_c = _degrees()
    excursion_minutes = serializers.IntegerField(min_value=0, max_value=10_000_000, required=False, allow_null=True)

    class Meta:
        example: ClassVar = {"required_min_c": "2.0", "required_max_c": "8.0", "logger_id": "TL-4711"}


class _TransportIn(StrictSerializer):
    """What a shipment says of its way."""

    carrier = _text(120)
    service = _text(120)
    tracking_number = _text(120)
    tracking_url = serializers.URLField(max_length=2000, required=False, allow_null=True, allow_blank=True)
    estimated_at = InstantField(required=False, allow_null=True)
    gross_weight_g = serializers.IntegerField(min_value=0, max_value=QUANTITY_MAX, required=False, allow_null=True)
    temperature = TransportTemperatureIn(required=False, allow_null=True)
    picking_notes = _text(2000, help_text="The buyer never reads them.")
    packages: Any = serializers.ListSerializer(child=PackageIn(), max_length=MOST_PACKAGES, required=False)
    file_ids = FileIdsField(
        help_text="Own files that are ready and not private, such as the delivery note. They stay from then on."
    )

    def validate_packages(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Require a tree: each number once, each parent in the list, no package in itself."""
        parents = {one["sscc"]: one["parent_sscc"] for one in value}
        if len(parents) < len(value):
            raise serializers.ValidationError("A number is there twice.", code="duplicate")
        if any(parent and parent not in parents for parent in parents.values()):
            raise serializers.ValidationError(
                "A package stands in one that is not in the list.", code="unknown_package"
            )
        done = set[str]()
        for start in parents:
            at, way = start, set[str]()
            while at and at not in done:
                if at in way:
                    raise serializers.ValidationError("A package stands in itself.", code="cycle")
                way.add(at)
                at = parents[at] or ""
            done |= way
        return value


class ShipmentIn(_TransportIn):
    """A shipment of lines of an order; with `dispatched_at` it leaves at once, without it is in preparation."""

    from_location_id = serializers.UUIDField(
        help_text="The supplier's place that the goods leave from; those below it are part of it."
    )
    dispatched_at = InstantField(required=False, allow_null=True, default=None)
    lines: Any = serializers.ListSerializer(child=ShippedLineIn(), min_length=1, max_length=MOST_ASKED)

    class Meta:
        example: ClassVar = {
            "from_location_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70",
            "dispatched_at": "2026-11-23T08:00:00Z",
            "carrier": "DHL",
            "tracking_number": "00340434161094042557",
            "lines": [ShippedLineIn.Meta.example],
        }


class SupplierExceptionIn(WholeEntry):
    """What the supplier reports of a delivery that is under way."""

    type = serializers.ChoiceField(choices=ExceptionType.choices)
    note = _text(2000, default="")
    line_nos = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=1000),
        max_length=1000,
        required=False,
        default=list,
        help_text="The lines of the delivery that it concerns; none stands for all.",
    )
    file_ids = FileIdsField(default=list, help_text="Own files that are ready and not private. They stay from then on.")

    class Meta:
        example: ClassVar = {"type": "delayed", "note": "Held at customs"}


class ShipmentChangeIn(_TransportIn):
    """Changes of a shipment; what it holds changes in preparation only. `status` is what it is to become."""

    status = serializers.ChoiceField(choices=ASKED, required=False)
    from_location_id = serializers.UUIDField(required=False)
    dispatched_at = InstantField(
        required=False, allow_null=True, help_text="When it left; by default now. With status in_transit."
    )
    delivered_at = InstantField(
        required=False, allow_null=True, help_text="When the carrier handed it over; by default now. With status delivered."
    )  # fmt: skip
    reason = _text(500, help_text="Why it is cancelled or lost.")
    exception = SupplierExceptionIn(required=False, allow_null=True)
    lines: Any = serializers.ListSerializer(child=ShippedLineIn(), min_length=1, max_length=MOST_ASKED, required=False)

    class Meta:
        example: ClassVar = {"status": "in_transit", "tracking_number": "00340434161094042557"}


class DeliveryExceptionIn(SupplierExceptionIn):
    """What the buyer reports of a delivery."""

    class Meta:
        example: ClassVar = {"type": "damaged", "note": "Two boxes are wet", "line_nos": [1]}
