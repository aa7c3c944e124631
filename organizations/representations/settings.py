"""Representations of a tenant's configuration, entitlement, quotas and rate limits."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.representations import Instant, OpenChoice
from organizations.configuration_schema import SCHEMAS
from organizations.plans import Enforcement, Period


def _schema(section: str) -> dict[str, Any]:
    """Return a section's schema without the dialect, which the OpenAPI document names once."""
    return {key: rule for key, rule in SCHEMAS[section].items() if key != "$schema"}


@extend_schema_field(_schema("policies"))
class PoliciesField(serializers.JSONField):
    """The policies in effect."""


@extend_schema_field(_schema("modules"))
class ModulesField(serializers.JSONField):
    """The modules in effect."""


@extend_schema_field(_schema("branding"))
class BrandingField(serializers.JSONField):
    """The branding in effect."""


class ConfigurationOut(serializers.Serializer[Any]):
    """The settings in effect for a tenant."""

    tenant_id = serializers.UUIDField()
    policies = PoliciesField()
    modules = ModulesField()
    branding = BrandingField()
    locked = serializers.ListField(
        child=serializers.CharField(),
        help_text="Settings locked by an organization above, for example `policies.max_days_supply`.",
    )
    own = serializers.ListField(child=serializers.CharField(), help_text="Settings that the tenant has set itself.")
    schema_version = serializers.IntegerField()
    version = serializers.IntegerField()
    updated_at = Instant()


class QuotaOut(serializers.Serializer[Any]):
    """A quota and how much of it is used."""

    key = serializers.CharField()
    limit = serializers.IntegerField(allow_null=True, help_text="Null means unlimited.")
    used = serializers.IntegerField()
    remaining = serializers.IntegerField(allow_null=True)
    period = OpenChoice(choices=list(Period))
    resets_at = Instant(allow_null=True)
    enforcement = OpenChoice(choices=list(Enforcement))
    warn_at = serializers.FloatField(help_text="The share of the limit at which a warning is sent.")


class EntitlementOut(serializers.Serializer[Any]):
    """A tenant's plan, with its features, quotas and rate limits."""

    id = serializers.UUIDField()
    tenant_id = serializers.UUIDField()
    plan = serializers.CharField()
    features = serializers.DictField(child=serializers.BooleanField())
    quotas = QuotaOut(many=True)
    rate_limits = serializers.DictField(child=serializers.IntegerField())
    valid_from = Instant()
    valid_until = Instant(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]  # a member of the answer, not an option of the field
    version = serializers.IntegerField()


class RatePolicyOut(serializers.Serializer[Any]):
    """A rate limit and the number of requests left."""

    name = serializers.CharField()
    limit = serializers.IntegerField()
    window_seconds = serializers.IntegerField()
    remaining = serializers.IntegerField()
    reset_seconds = serializers.IntegerField()
    scope = OpenChoice(choices=("credential",))


class LimitsOut(serializers.Serializer[Any]):
    """The rate limits of the credential and the quotas of the tenant."""

    tenant_id = serializers.UUIDField()
    quotas = QuotaOut(many=True)
    policies = RatePolicyOut(many=True)
