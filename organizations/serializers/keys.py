"""The body that creates or rotates an API key."""

from ipaddress import ip_network
from typing import Any

from rest_framework import serializers

from api.serializers import StrictSerializer, refusal
from organizations.actions.keys import OVERLAP_HOURS

_OF_SYSTEMS = "supplier_integration"


class ApiKeyIn(StrictSerializer):
    """A new API key; with `replaces` the successor of a key, which still works for `overlap_hours`."""

    name = serializers.CharField(max_length=200, required=False)
    partner = serializers.CharField(max_length=200, required=False)
    roles = serializers.ListField(
        child=serializers.SlugField(max_length=60), min_length=1, max_length=20, required=False
    )
    role = serializers.SlugField(max_length=60, required=False, help_text="One role, in place of `roles`.")
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
        if role := attrs.pop("role", None):
            if "roles" in attrs:
                raise refusal("role", "Give either role or roles.", "invalid")
            attrs["roles"] = [role]
        missing = [name for name in ("name", "partner", "roles") if name not in attrs and "replaces" not in attrs]
        if missing:
            raise serializers.ValidationError(dict.fromkeys(missing, "This field is required."), code="required")
        return attrs


class SupplierApiKeyIn(ApiKeyIn):
    """A new API key of a supplier; one with scopes alone has the role of the supplier's systems."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Give the role that the scopes are part of where none is named."""
        if "scopes" in attrs and not {"role", "roles", "replaces"} & attrs.keys():
            attrs["roles"] = [_OF_SYSTEMS]
        return super().validate(attrs)
