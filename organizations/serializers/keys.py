"""The body that creates or rotates an API key."""

from ipaddress import ip_network
from typing import Any

from rest_framework import serializers

from api.serializers import StrictSerializer
from organizations.actions.keys import OVERLAP_HOURS


class ApiKeyIn(StrictSerializer):
    """A new API key; with `replaces` the successor of a key, which still works for `overlap_hours`."""

    name = serializers.CharField(max_length=200, required=False)
    partner = serializers.CharField(max_length=200, required=False)
    roles = serializers.ListField(
        child=serializers.SlugField(max_length=60), min_length=1, max_length=20, required=False
    )
    scopes = serializers.ListField(
        child=serializers.CharField(max_length=80), min_length=1, max_length=100, required=False
    )
    allowed_cidrs = serializers.ListField(child=serializers.CharField(max_length=43), max_length=50, required=False)
    expires_at = serializers.DateTimeField(required=False)
    replaces = serializers.UUIDField(required=False)
    overlap_hours = serializers.IntegerField(min_value=0, max_value=168, default=OVERLAP_HOURS)

    def validate_allowed_cidrs(self, value: list[str]) -> list[str]:
        """Require networks in CIDR notation whose host bits are zero."""
        try:
            return [str(ip_network(network)) for network in value]
        except ValueError:
            raise serializers.ValidationError("Not a network in CIDR notation.", code="invalid_network") from None

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require name, partner and roles unless the key replaces another."""
        missing = [name for name in ("name", "partner", "roles") if name not in attrs and "replaces" not in attrs]
        if missing:
            raise serializers.ValidationError(dict.fromkeys(missing, "This field is required."), code="required")
        return attrs
