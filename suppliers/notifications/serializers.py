"""Bodies of notifications and of the preferences. Source: contract, supply-order.md 5."""

import re
from datetime import time
from typing import Any, ClassVar, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers import StrictSerializer, refusal
from core.time_zones import time_zones
from suppliers.files.serializers import FileIdsField

from .documents import document_names
from .models import MOST_BODY
from .preferences import DEFAULT
from .states import EXPIRY_DAYS, MOST_EXPIRY_DAYS, TOLD, WITH_THRESHOLD, Digest

MOST_QUANTITY: Final = 1_000_000_000_000
_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


class DocumentIn(StrictSerializer):
    """A document that the tenant shares with another one."""

    type = serializers.CharField(
        max_length=24, help_text="Today `reservation`; further types of documents will follow."
    )
    id = serializers.UUIDField()

    class Meta:
        example: ClassVar = {"type": "reservation", "id": _ID}

    def validate_type(self, value: str) -> str:
        """Require a type of document that can be written about."""
        if value not in document_names():
            raise refusal("", f"Choose one of {', '.join(document_names())}.", "invalid_choice")
        return value


class MessageIn(StrictSerializer):
    """A message to the other party of a document."""

    resource = DocumentIn()
    body = serializers.CharField(max_length=MOST_BODY)
    file_ids = FileIdsField(
        default=list, help_text="Own files that are ready and not private; from then on they cannot be deleted."
    )

    class Meta:
        example: ClassVar = {"resource": DocumentIn.Meta.example, "body": "Can you hold the goods until Friday?"}


class RecallAnswerIn(StrictSerializer):
    """What a buyer has found of recalled goods, in base units; what is left out stays as it was."""

    quantity_found = serializers.IntegerField(min_value=0, max_value=MOST_QUANTITY, required=False, allow_null=True)
    quantity_disposed = serializers.IntegerField(min_value=0, max_value=MOST_QUANTITY, required=False, allow_null=True)
    closed = serializers.BooleanField(required=False, help_text="Whether the buyer has finished.")
    note = serializers.CharField(max_length=500, required=False, allow_blank=True, allow_null=True)

    class Meta:
        example: ClassVar = {"quantity_found": 12, "quantity_disposed": 12, "closed": True}


class NotificationIn(StrictSerializer):
    """What a member does with a notification; what is left out stays."""

    read = serializers.BooleanField(required=False, help_text="The caller's own mark.")
    acknowledged = serializers.BooleanField(
        required=False, help_text="Of an alert, for the whole tenant; it is not taken back."
    )
    archived = serializers.BooleanField(required=False, help_text="For the whole tenant.")
    recall_response = RecallAnswerIn(required=False)

    class Meta:
        example: ClassVar = {"read": True, "acknowledged": True}


class ChannelsIn(StrictSerializer):
    """Through which channels a type of notification goes, and how low a number has to be for an alert."""

    in_app = serializers.BooleanField(default=True)
    email = serializers.BooleanField(default=True)
    webhook = serializers.BooleanField(default=True)
    threshold = serializers.IntegerField(
        min_value=0,
        max_value=MOST_QUANTITY,
        allow_null=True,
        default=None,
        help_text="Of `low_stock` base units that are free, of `expiring_lot` and `license_expiring` days that are left: "
        "an alert opens at this number or below. Null: each is told.",
    )

    class Meta:
        example: ClassVar = {**DEFAULT}


_TIME_OF_DAY: Final = "([01][0-9]|2[0-3]):[0-5][0-9]"


@extend_schema_field({"type": "string", "pattern": f"^{_TIME_OF_DAY}$", "example": "20:00"})
class TimeOfDayField(serializers.TimeField):
    """An hour and minute of the day, as `20:00`."""

    def __init__(self, **more: Any) -> None:
        super().__init__(input_formats=["%H:%M"], format="%H:%M", **more)

    def to_internal_value(self, data: Any) -> time:
        """Read two digits of each, where Python would take one."""
        if not isinstance(data, str) or not re.fullmatch(_TIME_OF_DAY, data):
            self.fail("invalid", format="hh:mm")
        found: time = super().to_internal_value(data)
        return found


class QuietHoursIn(StrictSerializer):
    """The hours of the day in which no mail goes out, by the clocks of a time zone; they may pass midnight."""

    to = TimeOfDayField()
    timezone = serializers.CharField(max_length=64, help_text="Of the IANA database.")

    class Meta:
        example: ClassVar = {"from": "20:00", "to": "07:00", "timezone": "Europe/Berlin"}

    def get_fields(self) -> dict[str, Any]:
        """Add `from`, which is a word of Python, in front."""
        return {"from": TimeOfDayField(), **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a known time zone, and two different times: the same twice could be no hour, or all of them."""
        if attrs["timezone"] not in time_zones():
            raise refusal("timezone", "There is no such time zone.", "invalid_choice")
        if attrs["from"] == attrs["to"]:
            raise refusal("to", "The quiet hours must end at another time than they begin.", "invalid")
        return attrs


class TypesIn(StrictSerializer):
    """The channels of each type of notification; a type that is left out takes its defaults."""

    class Meta:
        example: ClassVar = {"low_stock": {**DEFAULT, "email": False, "threshold": 20}}

    def get_fields(self) -> dict[str, Any]:
        """One member for each type that a tenant is told of."""
        return {name: ChannelsIn(required=False) for name in TOLD}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a threshold of what has no number."""
        for name, one in attrs.items():
            if one["threshold"] is not None and name not in WITH_THRESHOLD:
                raise refusal(f"{name}.threshold", "This type has no number to hold against a threshold.", "invalid")
        return attrs


class PreferencesIn(StrictSerializer):
    """How the tenant wants to be told; what is left out takes its default."""

    types = TypesIn(default=dict)
    expiry_days = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MOST_EXPIRY_DAYS),
        min_length=1,
        max_length=10,
        default=[*EXPIRY_DAYS],
        help_text="How many days before the last day of use a lot is told of.",
    )
    low_stock_default = serializers.IntegerField(
        min_value=0,
        max_value=MOST_QUANTITY,
        allow_null=True,
        default=None,
        help_text="In base units: the threshold of levels that have none of their own.",
    )
    digest = serializers.ChoiceField(choices=Digest.choices, default=Digest.IMMEDIATE.value)
    quiet_hours = QuietHoursIn(allow_null=True, default=None)

    class Meta:
        example: ClassVar = {
            "types": TypesIn.Meta.example,
            "expiry_days": [60, 14],
            "digest": "daily",
            "quiet_hours": QuietHoursIn.Meta.example,
        }
