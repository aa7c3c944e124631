"""Bodies of the operations on reservations."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import DateField, StrictSerializer
from suppliers.catalog.states import DAYS_MAX
from suppliers.inventory.states import Unit

MOST_LINES = 200
QUANTITY_MAX = 1_000_000_000
_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


class ReservationLineIn(StrictSerializer):
    """A quantity of a product: packs of a packaging, or with `unit` base its base units."""

    product_id = serializers.UUIDField()
    packaging_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    unit = serializers.ChoiceField(choices=Unit.choices, default=Unit.PACK.value)
    offer_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    min_remaining_shelf_life_days = serializers.IntegerField(
        min_value=0, max_value=DAYS_MAX, required=False, allow_null=True, default=None
    )

    class Meta:
        example: ClassVar = {"product_id": _ID, "quantity": 10}


class ReservationsIn(StrictSerializer):
    """What is to be reserved with one supplier, all of it or nothing."""

    supplier_id = serializers.UUIDField()
    items: Any = serializers.ListSerializer(child=ReservationLineIn(), min_length=1, max_length=MOST_LINES)
    needed_date = DateField(required=False, allow_null=True, default=None)
    ttl_seconds = serializers.IntegerField(
        min_value=60,
        max_value=86_400,
        required=False,
        help_text="For how long; by default 900, or less where the supplier keeps reservations no longer.",
    )

    class Meta:
        example: ClassVar = {
            "supplier_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70",
            "items": [{"product_id": _ID, "quantity": 10}],
            "ttl_seconds": 900,
        }


class ExtendIn(StrictSerializer):
    """How long the reservation is to last from now on."""

    ttl_seconds = serializers.IntegerField(min_value=60, max_value=86_400)

    class Meta:
        example: ClassVar = {"ttl_seconds": 900}
