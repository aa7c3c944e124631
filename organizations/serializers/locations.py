"""Bodies that create and change locations."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.postal import AddressIn
from api.serializers import StrictSerializer
from core.time_zones import time_zones
from organizations.models import LocationStatus, LocationType

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun", "holiday")
_CLOCK = r"^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$"


def known_time_zone(name: str) -> str:
    """Return the name of a time zone. Source: IANA time zone database.

    :raises ValidationError: there is no time zone of this name.
    """
    if name not in time_zones():
        raise serializers.ValidationError("There is no such time zone.", code="unknown_time_zone")
    return name


class GeoIn(StrictSerializer):
    """A geographic point in WGS 84."""

    latitude = serializers.FloatField(min_value=-90, max_value=90)
    longitude = serializers.FloatField(min_value=-180, max_value=180)


class OpeningHoursIn(StrictSerializer):
    """Opening hours on some days: all day, or from `opens` to `closes`."""

    days = serializers.ListField(child=serializers.ChoiceField(choices=DAYS), min_length=1, max_length=8)
    opens = serializers.RegexField(_CLOCK, required=False)
    closes = serializers.RegexField(_CLOCK, required=False)
    all_day = serializers.BooleanField(required=False)

    class Meta:
        example: ClassVar = {"days": ["mon", "tue"], "opens": "08:00", "closes": "18:00"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either `all_day`, or `opens` and a later `closes`."""
        spans = "opens" in attrs and "closes" in attrs
        if bool(attrs.get("all_day")) == spans or ("opens" in attrs) != ("closes" in attrs):
            raise serializers.ValidationError("Give opens and closes, or all_day.", code="invalid")
        if spans and attrs["opens"] >= attrs["closes"]:
            raise serializers.ValidationError({"closes": "Must be later than opens."}, code="invalid")
        return attrs


class ContactIn(StrictSerializer):
    """Contact details of a location or an organization."""

    phone = serializers.CharField(max_length=40, required=False)
    email = serializers.EmailField(max_length=254, required=False)
    url = serializers.URLField(max_length=300, required=False)

    class Meta:
        example: ClassVar = {"phone": "+47 55 00 00 00"}


class IdentifierIn(StrictSerializer):
    """An identifier: the register (`system`) and the number in it (`value`)."""

    system = serializers.CharField(max_length=200)
    value = serializers.CharField(max_length=100)

    class Meta:
        example: ClassVar = {"system": "urn:gln", "value": "7080000000012"}


class LocationIn(StrictSerializer):
    """A location."""

    organization_id = serializers.UUIDField(required=False, allow_null=True)
    parent_id = serializers.UUIDField(required=False, allow_null=True)
    name = serializers.CharField(max_length=200)
    type = serializers.ChoiceField(choices=LocationType.choices)
    status = serializers.ChoiceField(choices=LocationStatus.choices, required=False)
    address = AddressIn(required=False, allow_null=True)
    geo = GeoIn(required=False, allow_null=True)
    opening_hours = OpeningHoursIn(many=True, required=False, max_length=30)  # type: ignore[call-arg]  # for the list
    time_zone = serializers.CharField(max_length=64, required=False, allow_null=True)
    contact = ContactIn(required=False, allow_null=True)
    identifiers = IdentifierIn(many=True, required=False, max_length=20)  # type: ignore[call-arg]  # for the list
    listed = serializers.BooleanField(required=False)

    def validate_time_zone(self, value: str | None) -> str:
        """Require a known time zone; null is the tenant's."""
        return known_time_zone(value) if value else ""
