"""HTTP of what a tenant has configured and is entitled to. The tenant is named by the path and must be within reach."""

from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse

from api.filters import check_names
from api.operations import Operation
from api.preconditions import content_etag
from api.views import ApiViewSet
from api.writing import Answer, Command
from core import clock
from core.actor import Actor
from core.clock import rfc3339
from core.db import tenant_context
from core.errors import InvalidFields, NotFound, VersionConflict
from organizations import configuration_schema
from organizations.actions import configuration as actions
from organizations.models import TenantConfiguration
from organizations.queries import configuration, entitlements
from organizations.queries.reachable import Reach
from organizations.serializers.configuration import ConfigurationIn

CONFIGURE = "tenants.configure"

_KEYS = {"type": "array", "items": {"type": "string"}}
CONFIGURATION_SCHEMA: dict[str, Any] = {
    "title": "TenantConfiguration",
    "type": "object",
    "required": [
        "tenant_id",
        *configuration_schema.SCHEMAS,
        "locked",
        "own",
        "schema_version",
        "version",
        "updated_at",
    ],
    "properties": {
        "tenant_id": {"type": "string", "format": "uuid"},
        **{
            name: {key: rule for key, rule in schema.items() if key != "$schema"}
            for name, schema in configuration_schema.SCHEMAS.items()
        },
        "locked": _KEYS | {"description": "Keys decided by an organization above."},
        "own": _KEYS | {"description": "Keys the tenant has set itself."},
        "schema_version": {"type": "integer"},
        "version": {"type": "integer"},
        "updated_at": {"type": "string", "format": "date-time"},
    },
    "examples": [
        {
            "tenant_id": "0190a5d2-7c1e-7b3a-9f00-00000000000a",
            **{name: {} for name in configuration_schema.SCHEMAS},
            "policies": {"prescription_validity_days": 180},
            "locked": [],
            "own": ["policies.prescription_validity_days"],
            "schema_version": 1,
            "version": 3,
            "updated_at": "2026-01-05T08:00:00.000Z",
        }
    ],
}
QUOTA_SCHEMA: dict[str, Any] = {
    "title": "Quota",
    "type": "object",
    "required": ["key", "limit", "used", "remaining", "period", "resets_at", "enforcement", "warn_at"],
    "properties": {
        "key": {"type": "string"},
        "limit": {"type": ["integer", "null"]},
        "used": {"type": "integer"},
        "remaining": {"type": ["integer", "null"]},
        "period": {"type": "string", "x-extensible-enum": ["none", "month", "day"]},
        "resets_at": {"type": ["string", "null"], "format": "date-time"},
        "enforcement": {"type": "string", "x-extensible-enum": ["hard", "soft", "warn"]},
        "warn_at": {"type": "number"},
    },
}
QUOTA_EXAMPLE: dict[str, Any] = {
    "key": "api_keys",
    "limit": 20,
    "used": 3,
    "remaining": 17,
    "period": "none",
    "resets_at": None,
    "enforcement": "hard",
    "warn_at": 0.8,
}
ENTITLEMENT_SCHEMA: dict[str, Any] = {
    "title": "Entitlement",
    "type": "object",
    "required": [
        "id",
        "tenant_id",
        "plan",
        "features",
        "quotas",
        "rate_limits",
        "valid_from",
        "valid_until",
        "source",
        "version",
    ],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "tenant_id": {"type": "string", "format": "uuid"},
        "plan": {"type": "string"},
        "features": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "quotas": {"type": "array", "items": QUOTA_SCHEMA},
        "rate_limits": {"type": "object", "additionalProperties": {"type": "integer"}},
        "valid_from": {"type": "string", "format": "date-time"},
        "valid_until": {"type": ["string", "null"], "format": "date-time"},
        "source": {"type": "string"},
        "version": {"type": "integer"},
    },
    "examples": [
        {
            "id": "0190a5d2-7c1e-7b3a-9f00-0000000000e1",
            "tenant_id": "0190a5d2-7c1e-7b3a-9f00-00000000000a",
            "plan": "standard",
            "features": {"marketplace": True},
            "quotas": [QUOTA_EXAMPLE],
            "rate_limits": {},
            "valid_from": "2026-01-01T00:00:00.000Z",
            "valid_until": None,
            "source": "plan",
            "version": 1,
        }
    ],
}


class TenantSettingsViewSet(ApiViewSet):
    """Base of what hangs under one tenant's path."""

    family = "organizations"

    def actor_for(self, tenant_id: UUID) -> Actor:
        """Find the membership through which a tenant is within reach: its own, or one of an organization above.

        :raises NotFound: no membership reaches it; unknown tenants look alike.
        """
        check_names(self.request.GET, ())
        return nearest(self.actors_in_reach(), tenant_id)


class ConfigurationViewSet(TenantSettingsViewSet):
    """Policies, modules and branding of a tenant."""

    operations: ClassVar = {
        "retrieve": Operation(
            scope="tenants.read",
            summary="Get the configuration in effect",
            description="Default, then the organizations above from the root down, then the tenant's own values. Keys marked "
            "secret are left out for those who may not configure.",
            tenant="optional",
            answer=CONFIGURATION_SCHEMA,
            errors=(NotFound,),
        ),
        "partial_update": Operation(
            scope=CONFIGURE,
            summary="Change settings",
            description="A merge patch per section (RFC 7396): null takes a key back to what comes from above.",
            body=ConfigurationIn,
            partial=True,
            answer=CONFIGURATION_SCHEMA,
            errors=(NotFound, InvalidFields, VersionConflict, actions.SettingLocked, actions.FeatureNotEnabled),
            example={"policies": {"prescription_validity_days": 180}},
        ),
    }

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer the settings in effect."""
        actor = self.actor_for(pk)
        with tenant_context(pk):
            found = configuration.effective(pk)
        return self.answer(orjson.dumps(shown(found, pk, actor)), tag=f'"{found.version}"')

    def partial_update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Merge a change into the tenant's own settings."""

        def find(actor: Actor) -> TenantConfiguration:
            nearest([actor], pk)
            with tenant_context(pk):
                return configuration.locked_configuration(pk)

        def work(command: Command) -> Answer:
            with tenant_context(pk):
                found = actions.update_configuration(
                    actor=replace(command.actor, tenant_id=pk), row=command.target, data=command.data, at=command.at
                )
            return Answer.of(shown(found, pk, command.actor), tag=f'"{found.version}"')

        return self.write(work, find=find)


class EntitlementViewSet(TenantSettingsViewSet):
    """Features and quotas of a tenant."""

    operation_ids: ClassVar = {"retrieve": "getEntitlements"}

    operations: ClassVar = {
        "retrieve": Operation(
            scope="tenants.read",
            summary="Get features and quotas",
            tenant="optional",
            answer=ENTITLEMENT_SCHEMA,
            errors=(NotFound,),
        )
    }

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer what the tenant may use and how much of it is used now."""
        self.actor_for(pk)
        with tenant_context(pk):
            content = orjson.dumps(entitlements.entitlement(pk, clock.now()))
        return self.answer(content, tag=content_etag(content))


def nearest(actors: list[Actor], tenant_id: UUID) -> Actor:
    """Choose the membership that reaches a tenant: its own before one of an organization above.

    :raises NotFound: none does.
    """
    for actor in sorted(actors, key=lambda one: one.tenant_id != tenant_id):
        if actor.tenant_id == tenant_id or Reach.of([actor]).holds_tenant(tenant_id):
            return actor
    raise NotFound("No such tenant.")


def shown(found: configuration.Effective, tenant_id: UUID, actor: Actor) -> dict[str, Any]:
    """Write the settings in effect as the interface shows them to this actor."""
    return {
        "tenant_id": str(tenant_id),
        **configuration.visible(found.values, to_configurers=actor.may(CONFIGURE)),
        "locked": sorted(found.locked),
        "own": sorted(found.own),
        "schema_version": found.schema_version,
        "version": found.version,
        "updated_at": rfc3339(found.updated_at),
    }
