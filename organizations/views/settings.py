"""The endpoints of a tenant's configuration and entitlement. The path names the tenant, which must be within reach."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse

from api.filters import check_names
from api.operations import Operation
from api.preconditions import content_etag
from api.views import ApiViewSet
from api.writing import Answer
from core import clock
from core.actor import Actor
from core.clock import rfc3339
from core.db import tenant_context
from core.errors import InvalidFields, NotFound
from organizations.actions.configuration import FeatureNotEnabled, SettingLocked, update_configuration
from organizations.models import TenantConfiguration
from organizations.queries import configuration, entitlements
from organizations.queries.reachable import Reach
from organizations.representations.settings import ConfigurationOut, EntitlementOut
from organizations.serializers.configuration import ConfigurationIn

CONFIGURE = "tenants.configure"


class TenantSettingsViewSet(ApiViewSet):
    """Base of the resources below one tenant's path."""

    scope_prefix = "tenants."
    singleton = True

    def actor_for(self, tenant_id: UUID) -> Actor:
        """Return the caller as an actor in a membership that reaches the tenant.

        :raises NotFound: the tenant does not exist or is out of reach.
        """
        check_names(self.request.GET, ())
        return nearest(self.actors_in_reach(), tenant_id)


def configuration_in_reach(actor: Actor, tenant_id: UUID) -> TenantConfiguration:
    """Lock and return the configuration of a tenant within the actor's reach.

    :raises NotFound: the tenant does not exist or is out of reach.
    """
    nearest([actor], tenant_id)
    with tenant_context(tenant_id):
        return configuration.locked_configuration(tenant_id)


def change_settings(actor: Actor, settings: TenantConfiguration, data: dict[str, Any], at: datetime) -> Answer:
    """Merge a change into the tenant's own settings and answer the settings in effect."""
    tenant_id = settings.tenant_id
    with tenant_context(tenant_id):
        found = update_configuration(replace(actor, tenant_id=tenant_id), settings, data, at)
    return Answer.of(shown(found, tenant_id, actor), tag=f'"{found.version}"')


class ConfigurationViewSet(TenantSettingsViewSet):
    """Policies, modules and branding of a tenant."""

    operations = {
        "retrieve": Operation(
            "Get the configuration in effect",
            "The defaults, overridden by the organizations above from the root down, then by the tenant's own "
            "settings. Secret settings are left out for callers without the scope `tenants.configure`.",
            tenant="optional",
            answer=ConfigurationOut,
        ),
        "partial_update": Operation(
            "Change settings",
            "A merge patch for each section (RFC 7396): null resets a setting to the inherited value.",
            scope=CONFIGURE,
            body=ConfigurationIn,
            answer=ConfigurationOut,
            find=configuration_in_reach,
            run=change_settings,
            errors=(InvalidFields, SettingLocked, FeatureNotEnabled),
            example={"policies": {"prescription_validity_days": 180}},
        ),
    }

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer the settings in effect."""
        actor = self.actor_for(pk)
        with tenant_context(pk):
            found = configuration.effective(pk)
        return self.answer(orjson.dumps(shown(found, pk, actor)), tag=f'"{found.version}"')


class EntitlementViewSet(TenantSettingsViewSet):
    """Features and quotas of a tenant."""

    operation_ids = {"retrieve": "getEntitlements"}
    operations = {"retrieve": Operation("Get features and quotas", tenant="optional", answer=EntitlementOut)}

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer the tenant's entitlement and the use of its quotas."""
        self.actor_for(pk)
        with tenant_context(pk):
            content = orjson.dumps(entitlements.entitlement(pk, clock.now()))
        return self.answer(content, tag=content_etag(content))


def nearest(actors: list[Actor], tenant_id: UUID) -> Actor:
    """Return the actor whose membership reaches a tenant: one of that tenant before one of an organization above.

    :raises NotFound: no membership reaches the tenant.
    """
    for actor in sorted(actors, key=lambda one: one.tenant_id != tenant_id):
        if actor.tenant_id == tenant_id or Reach.of([actor]).holds_tenant(tenant_id):
            return actor
    raise NotFound("No such tenant.")


def shown(found: configuration.Effective, tenant_id: UUID, actor: Actor) -> dict[str, Any]:
    """Return the settings in effect as this actor may see them."""
    return {
        "tenant_id": str(tenant_id),
        **configuration.visible(found.values, to_configurers=actor.may(CONFIGURE)),
        "locked": sorted(found.locked),
        "own": sorted(found.own),
        "schema_version": found.schema_version,
        "version": found.version,
        "updated_at": rfc3339(found.updated_at),
    }
