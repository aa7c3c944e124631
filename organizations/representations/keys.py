"""Representations of API keys; only the answer that creates a key holds its secret."""

from typing import Any

from rest_framework import serializers

from api.representations import Computed, OpenChoice, Representation
from core.conditions import TENANT
from organizations.filters.keys import EFFECTIVE_STATUS
from organizations.models import ApiKey, ApiKeyUse


class ApiKeyOut(Representation):
    """An API key of the tenant."""

    prefix = Computed(
        "'hpk_' || t.\"environment\" || '_' || t.\"key_id\"",
        serializers.CharField(help_text="The beginning of the key."),
    )
    status = Computed(EFFECTIVE_STATUS, OpenChoice(choices=ApiKey.Status.values))
    replaced_by_id = Computed(
        f'SELECT k.id FROM organizations_apikey k WHERE k.tenant_id = {TENANT} AND k.rotated_from_id = t."id"',
        serializers.UUIDField(allow_null=True, help_text="The successor of this key."),
    )

    class Meta:
        model = ApiKey
        beside = (ApiKeyUse, "api_key_id")
        name = "API key"
        fields: tuple[str, ...] = (
            "id", "tenant_id", "membership_id", "key_id", "prefix", "last4", "name", "partner", "roles", "scopes",
            "allowed_cidrs", "environment", "status", "expires_at", "overlap_ends_at", "last_used_at", "last_used_ip",
            "usage_count", "rotated_from_id", "replaced_by_id", "created_by", "version", "created_at", "updated_at",
        )  # fmt: skip
        example: Any = {
            "key_id": "Xk20fa8Q",
            "prefix": "hpk_live_Xk20fa8Q",
            "last4": "9aZ0",
            "name": "Warehouse system",
            "partner": "Acme ERP",
            "roles": ["supplier_integration"],
            "scopes": ["catalog.read", "catalog.write"],
            "allowed_cidrs": [],
        }


class NewApiKeyOut(ApiKeyOut):
    """A new API key, with its text."""

    api_key = serializers.CharField(
        allow_null=True,
        help_text="The whole key, shown only once (null when an Idempotency-Key is repeated).",
    )

    class Meta(ApiKeyOut.Meta):
        revealed = ("api_key",)
        fields = (*ApiKeyOut.Meta.fields, *revealed)
        example: Any = {**ApiKeyOut.Meta.example, "api_key": "hpk_live_Xk20fa8Q_" + "0" * 34 + "9aZ0"}


class SupplierApiKeyOut(ApiKeyOut):
    """An API key of the supplier, in the envelope of the supplier's interface."""

    class Meta(ApiKeyOut.Meta):
        name = "supplier API key"


class NewSupplierApiKeyOut(NewApiKeyOut):
    """A new API key of the supplier, with its text."""

    class Meta(NewApiKeyOut.Meta):
        name = "new supplier API key"
