"""Bodies that move stock and make stock locations."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.postal import AddressIn
from api.scans import read_scan
from api.serializers import DateField, DecimalField, PrintedField, StrictSerializer, refusal
from core.identifiers import gln, gtin14
from core.time_zones import time_zones

from .states import LotStatus, Mode, OnReserved, ReasonCode, RecallClass

MOST_LINES = 200
QUANTITY_MAX = 1_000_000_000_000
TYPES = ("warehouse", "zone", "cold_room", "freezer", "quarantine", "bin")
_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_SCANNED = ("gtin", "lot_number", "expiry_date", "manufacture_date")
MOST_SERIALS = 1000
_OF_PLACE = ("name", "type", "parent_id", "address", "time_zone", "active")


def _text(length: int) -> serializers.CharField:
    return serializers.CharField(max_length=length, required=False, allow_null=True, allow_blank=True, default=None)


class GoodsIn(StrictSerializer):
    """Which goods: a product by one of its names, and its lot; or a scan of the label, which holds both."""

    product_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    supplier_sku = _text(64)
    gtin = _text(14)
    supplier_id = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Whose product it is, where a buyer names it by a GTIN that several suppliers have.",
    )
    lot_number = PrintedField(max_length=20, required=False, allow_null=True, allow_blank=True, default=None)
    serial_numbers = serializers.ListField(
        child=PrintedField(max_length=20),
        max_length=MOST_SERIALS,
        required=False,
        default=list,
        help_text="One for each unit of a product that has serial numbers; of a count, all units that are there.",
    )
    scan = _text(200)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take the members of the scan over, and require one name of the product."""
        attrs = read_scan(attrs, [name for name in _SCANNED if name in self.fields])
        if attrs["gtin"]:
            attrs["gtin"] = gtin14(attrs["gtin"])
            if attrs["gtin"] is None:
                raise refusal("gtin", "This is no GTIN.", "invalid_gtin")
        named = [name for name in ("product_id", "supplier_sku", "gtin") if attrs[name]]
        if len(named) != 1:
            raise refusal(named[1] if named else "product_id", "Name the product in one way.", "required")
        return attrs


class AdjustmentLineIn(GoodsIn):
    """One change of a level: by `quantity` base units (delta), or to that quantity (set)."""

    location_id = serializers.UUIDField()
    expiry_date = DateField(required=False, allow_null=True, default=None)
    manufacture_date = DateField(required=False, allow_null=True, default=None)
    mode = serializers.ChoiceField(choices=Mode.choices)
    quantity = serializers.IntegerField(min_value=-QUANTITY_MAX, max_value=QUANTITY_MAX)
    expected_quantity = serializers.IntegerField(
        min_value=0, max_value=QUANTITY_MAX, required=False, allow_null=True, default=None
    )
    reason_code = serializers.ChoiceField(choices=ReasonCode.choices)
    note = _text(500)
    low_stock_threshold = serializers.IntegerField(
        min_value=0, max_value=QUANTITY_MAX, required=False, allow_null=True, default=None
    )
    on_reserved = serializers.ChoiceField(choices=OnReserved.choices, default=OnReserved.REJECT.value)

    class Meta:
        example: ClassVar = {
            "supplier_sku": "GLV-NIT-M-100",
            "location_id": _ID,
            "mode": "delta",
            "quantity": 500,
            "reason_code": "receipt",
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold the quantity to the mode."""
        attrs = super().validate(attrs)
        if attrs["mode"] == Mode.SET and attrs["expected_quantity"] is None:
            raise refusal("expected_quantity", "Say which quantity the count expected.", "required")
        if attrs["mode"] == Mode.SET and attrs["quantity"] < 0:
            raise refusal("quantity", "A counted quantity is not negative.", "min_value")
        if attrs["mode"] == Mode.DELTA and not attrs["quantity"]:
            raise refusal("quantity", "A change is not nothing.", "invalid")
        return attrs


class AdjustmentIn(StrictSerializer):
    """An adjustment of stock, all lines or none."""

    reference = _text(120)
    note = _text(500)
    lines: Any = serializers.ListSerializer(child=AdjustmentLineIn(), min_length=1, max_length=MOST_LINES)

    class Meta:
        example: ClassVar = {"reference": "Goods in 4711", "lines": [AdjustmentLineIn.Meta.example]}


class TransferLineIn(GoodsIn):
    """So many base units of goods."""

    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)

    class Meta:
        example: ClassVar = {"supplier_sku": "GLV-NIT-M-100", "quantity": 100}


class TransferIn(StrictSerializer):
    """A transfer between two of the tenant's stock locations."""

    from_location_id = serializers.UUIDField()
    to_location_id = serializers.UUIDField()
    note = _text(500)
    lines: Any = serializers.ListSerializer(child=TransferLineIn(), min_length=1, max_length=MOST_LINES)

    class Meta:
        example: ClassVar = {
            "from_location_id": _ID,
            "to_location_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70",
            "lines": [TransferLineIn.Meta.example],
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require two places."""
        if attrs["from_location_id"] == attrs["to_location_id"]:
            raise refusal("to_location_id", "The goods are there already.", "invalid")
        return attrs


class RecallIn(StrictSerializer):
    """What a recall says; class I is the gravest."""

    reference = _text(120)
    authority = _text(120)
    instructions = _text(2000)

    class Meta:
        example: ClassVar = {"class": "II", "reference": "FSCA-2026-014", "instructions": "Set aside and send back."}

    def get_fields(self) -> dict[str, Any]:
        """Add `class`, which is a word of Python, in front."""
        return {"class": serializers.ChoiceField(choices=RecallClass.choices), **super().get_fields()}


class LotChangeIn(StrictSerializer):
    """What is to change of a lot, and why; `recall` goes with the status recalled."""

    status = serializers.ChoiceField(choices=LotStatus.choices, required=False, allow_null=True, default=None)
    recall = RecallIn(required=False, allow_null=True, default=None)
    expiry_date = DateField(required=False, allow_null=True, default=None)
    reason = serializers.CharField(max_length=500)

    class Meta:
        example: ClassVar = {"status": "quarantined", "reason": "Seal broken"}


class TemperatureIn(StrictSerializer):
    """A range of temperatures, in degrees Celsius."""

    min_c = DecimalField(max_digits=4, decimal_places=1, required=False, allow_null=True, default=None)
    max_c = DecimalField(max_digits=4, decimal_places=1, required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {"min_c": "2.0", "max_c": "8.0"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require the lower end to be lower."""
        low, high = attrs["min_c"], attrs["max_c"]
        if low is not None and high is not None and low >= high:
            raise refusal("min_c", "Must be below max_c.", "max_value")
        return attrs


class StockLocationIn(StrictSerializer):
    """A stock location: a new place, or with `location_id` one that exists, which becomes one or is replaced as one."""

    location_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    name = _text(200)
    type = serializers.ChoiceField(choices=TYPES, required=False, allow_null=True, default=None)
    parent_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    address = AddressIn(required=False, allow_null=True, default=None)
    time_zone = _text(64)
    active = serializers.BooleanField(
        required=False, allow_null=True, default=None, help_text="Of a new place; it is in use unless this is false."
    )
    code = serializers.CharField(max_length=40)
    sellable = serializers.BooleanField(default=True)
    temperature = TemperatureIn(required=False, allow_null=True, default=None)
    gln = _text(13)
    tracks_stock = serializers.BooleanField(default=True)
    license_number = _text(80)
    license_types = serializers.ListField(
        child=serializers.CharField(max_length=40), max_length=20, required=False, default=list
    )
    license_valid_to = DateField(required=False, allow_null=True, default=None)

    class Meta:
        example: ClassVar = {
            "name": "Cold room 1",
            "type": "cold_room",
            "code": "CR-1",
            "temperature": {"min_c": "2.0", "max_c": "8.0"},
        }

    def validate_time_zone(self, value: str | None) -> str:
        """Require a known time zone; blank is the tenant's."""
        if value and value not in time_zones():
            raise serializers.ValidationError("There is no such time zone.", code="unknown_time_zone")
        return value or ""

    def validate_gln(self, value: str | None) -> str:
        """Require a Global Location Number with its check digit."""
        if value and gln(value) is None:
            raise serializers.ValidationError("This is no GLN.", code="invalid_gln")
        return value or ""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require what a new place needs; goods in quarantine are not for sale."""
        for name in ("name", "type"):
            if not attrs["location_id"] and not attrs[name]:
                raise refusal(name, "A new place needs it.", "required")
        if attrs["location_id"] and any(attrs[name] not in (None, "") for name in _OF_PLACE):
            raise refusal("location_id", "Change the place itself at /v1/locations.", "invalid")
        if attrs["type"] == "quarantine" and attrs["sellable"]:
            raise refusal("sellable", "Goods in quarantine are not for sale.", "invalid")
        return attrs
