"""The body that changes settings. Sections are checked against their JSON Schema after the merge, not here."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from api.serializers import StrictSerializer


@extend_schema_field({"type": ["object", "null"], "additionalProperties": True})
class SectionField(serializers.Field[Any, Any, Any, Any]):
    """A merge patch of one section, passed on unchanged."""

    default_error_messages = {"invalid_type": "Must be of type object."}

    def to_internal_value(self, data: Any) -> Any:
        """Accept an object; null is handled before this method."""
        if not isinstance(data, Mapping):
            self.fail("invalid_type")
        return data

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


@extend_schema_serializer(component_name="TenantConfiguration")
class ConfigurationIn(StrictSerializer):
    """A merge patch of the settings; null resets a setting, or a whole section, to the inherited value."""

    policies = SectionField(required=False, allow_null=True)
    modules = SectionField(required=False, allow_null=True)
    branding = SectionField(required=False, allow_null=True)
