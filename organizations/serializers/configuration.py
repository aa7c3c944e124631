"""The body that changes settings. Sections are held against their JSON Schema after the merge, not here."""

from rest_framework import serializers

from api.serializers import StrictSerializer


class ConfigurationIn(StrictSerializer):
    """A merge patch of some sections; null takes a key, or a section, back to what comes from above."""

    policies = serializers.JSONField(required=False, allow_null=True)
    modules = serializers.JSONField(required=False, allow_null=True)
    branding = serializers.JSONField(required=False, allow_null=True)
