"""Bodies that create and change organizations, tenants and memberships."""

from typing import Any

import orjson
from rest_framework import serializers

from api.postal import AddressIn
from api.serializers import StrictSerializer
from core.money import is_currency
from organizations.models import Organization, Tenant

from .locations import ContactIn, IdentifierIn, known_time_zone

METADATA_BYTES = 8 * 1024
_SLUG = r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$"
_LOCALE = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"


class OrganizationIn(StrictSerializer):
    """An organization; without `parent_id` it is below the caller's own."""

    name = serializers.CharField(max_length=200)
    slug = serializers.RegexField(_SLUG, max_length=80, required=False, allow_null=True)
    type = serializers.ChoiceField(choices=Organization.Type.choices, required=False)
    parent_id = serializers.UUIDField(required=False, allow_null=True)
    identifiers = IdentifierIn(many=True, required=False, max_length=20)  # type: ignore[call-arg]  # the stubs do not know many=True
    contact = ContactIn(required=False)
    address = AddressIn(required=False)
    metadata = serializers.DictField(required=False)

    def validate_metadata(self, value: dict[str, Any]) -> dict[str, Any]:
        """Require at most 8 KB of JSON."""
        if len(orjson.dumps(value, default=str)) > METADATA_BYTES:
            raise serializers.ValidationError("The object is larger than 8 KB.", code="max_length")
        return value


class OrganizationPatchIn(OrganizationIn):
    """A change of an organization; another `parent_id` moves it with everything below it."""

    status = serializers.ChoiceField(choices=Organization.Status.choices, required=False)


class _TenantFields(StrictSerializer):
    """Fields that may be set at creation and changed later."""

    name = serializers.CharField(max_length=200)
    region = serializers.CharField(max_length=40, required=False, allow_blank=True)
    time_zone = serializers.CharField(max_length=64, required=False)
    locale = serializers.RegexField(_LOCALE, max_length=35, required=False)
    currency = serializers.RegexField(r"^[A-Z]{3}$", required=False)

    def validate_time_zone(self, value: str) -> str:
        """Require a known time zone."""
        return known_time_zone(value)

    def validate_currency(self, value: str) -> str:
        """Require an active currency. Source: ISO 4217."""
        if not is_currency(value):
            raise serializers.ValidationError("There is no such currency.", code="unknown_currency")
        return value


class TenantIn(_TenantFields):
    """A tenant to provision; without `organization_id` the caller's organization runs it."""

    slug = serializers.RegexField(_SLUG, max_length=80)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=Tenant.Kind.choices), min_length=1, max_length=3
    )
    organization_id = serializers.UUIDField(required=False)
    plan = serializers.CharField(max_length=40, required=False)
    environment = serializers.ChoiceField(choices=Tenant.Environment.choices, required=False)
    admin_email = serializers.EmailField(max_length=254, required=False)
    admin_name = serializers.CharField(max_length=200, required=False)


class TenantPatchIn(_TenantFields):
    """A change of a tenant; `status` can only be changed by members of another tenant."""

    status = serializers.ChoiceField(
        choices=[Tenant.Status.ACTIVE.value, Tenant.Status.SUSPENDED.value], required=False
    )
    suspended_reason = serializers.CharField(max_length=500, required=False, allow_blank=True)


class _MembershipFields(StrictSerializer):
    """Roles, locations and validity of a membership."""

    roles = serializers.ListField(child=serializers.SlugField(max_length=60), min_length=1, max_length=20)
    location_ids = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=200)
    valid_from = serializers.DateTimeField(required=False, allow_null=True)
    valid_until = serializers.DateTimeField(required=False, allow_null=True)
    practitioner_id = serializers.RegexField(r"^[A-Za-z0-9\-.]{1,64}\Z", required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require an end after the beginning."""
        begin, end = attrs.get("valid_from"), attrs.get("valid_until")
        if begin is not None and end is not None and end <= begin:
            raise serializers.ValidationError({"valid_until": "Must be later than valid_from."}, code="invalid")
        return attrs


class MembershipIn(_MembershipFields):
    """A person to invite by e-mail, or a service account to add."""

    email = serializers.EmailField(max_length=254, required=False)
    name = serializers.CharField(max_length=200, required=False)
    service_account_id = serializers.UUIDField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either `email` or `service_account_id`."""
        if ("email" in attrs) == ("service_account_id" in attrs):
            raise serializers.ValidationError(
                {"email": "Give email or service_account_id, not both."}, code="one_subject"
            )
        return super().validate(attrs)


class MembershipPatchIn(_MembershipFields):
    """A change of a membership."""

    status = serializers.ChoiceField(choices=["active", "suspended"], required=False)
