"""HTTP of tenants."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.filters import Condition
from api.operations import Operation
from api.permissions import InsufficientScope
from api.views import ApiViewSet
from api.writing import Command
from core.errors import Duplicate, InvalidFields, InvalidTransition, NotFound, VersionConflict
from organizations.actions import provisioning
from organizations.actions import tenants as actions
from organizations.actions.provisioning import FirstMember, TenantSpec
from organizations.models import Tenant
from organizations.policies import tenant_in_reach
from organizations.queries.reachable import Reach
from organizations.serializers.tenancy import TenantIn, TenantPatchIn
from organizations.shapes.tenancy import TENANT, TENANTS

_PLAIN = ("region", "time_zone", "locale", "currency", "environment")


class TenantViewSet(ApiViewSet):
    """Tenants within the reach of the caller's memberships."""

    family = "organizations"
    operations: ClassVar = {
        "list": Operation(
            scope="tenants.read",
            summary="List tenants",
            description="The caller's tenants; for organization administrators those of every organization below them too. "
            "Without X-Tenant-Id the reach of all active memberships counts.",
            listing=TENANTS,
            tenant="optional",
        ),
        "create": Operation(
            scope="tenants.provision",
            summary="Provision a tenant",
            description="Sets up configuration, entitlements, a first location and, with `admin_email`, invites the first "
            "administrator. The organization is `organization_id`, or that of the tenant in X-Tenant-Id.",
            body=TenantIn,
            shape=TENANT,
            status=201,
            errors=(InvalidFields, Duplicate, provisioning.UnknownOrganization),
            example={
                "name": "North Clinic",
                "slug": "north-clinic",
                "kinds": ["provider"],
                "admin_email": "kari@example.org",
            },
        ),
        "retrieve": Operation(
            scope="tenants.read", summary="Get a tenant", shape=TENANT, tenant="optional", errors=(NotFound,)
        ),
        "partial_update": Operation(
            scope="tenants.configure",
            summary="Update a tenant",
            description="`status` suspends or resumes a tenant below the caller's; that needs tenants.provision too.",
            body=TenantPatchIn,
            partial=True,
            shape=TENANT,
            errors=(NotFound, InvalidFields, VersionConflict, InvalidTransition, actions.OwnTenant, InsufficientScope),
            example={"time_zone": "Europe/Oslo"},
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer the tenants within reach."""
        return self.list_page(Condition(*Reach.of(self.actors_in_reach()).tenants()), bound=False)

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer one tenant."""
        return self.retrieve_one(pk, extra=Condition(*Reach.of(self.actors_in_reach()).tenants()), bound=False)

    def create(self, request: HttpRequest) -> HttpResponse:
        """Provision a tenant."""

        def work(command: Command) -> Tenant:
            return provisioning.provision_tenant(actor=command.actor, spec=_spec(command.data), at=command.at).tenant

        return self.write(work)

    def partial_update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Change a tenant."""

        def work(command: Command) -> Tenant:
            if "status" in command.data and not command.actor.may("tenants.provision"):
                raise InsufficientScope(
                    "Changing the state needs the scope tenants.provision.", required=["tenants.provision"]
                )
            return actions.update_tenant(actor=command.actor, tenant=command.target, data=command.data, at=command.at)

        return self.write(work, find=lambda actor: tenant_in_reach(actor, pk))


def _spec(data: dict[str, Any]) -> TenantSpec:
    first = FirstMember(email=data["admin_email"], name=data.get("admin_name", "")) if "admin_email" in data else None
    return TenantSpec(
        slug=data["slug"],
        name=data["name"],
        kinds=tuple(data["kinds"]),
        organization_id=data.get("organization_id"),
        plan=data.get("plan", ""),
        fields={name: data[name] for name in _PLAIN if name in data},
        members=(first,) if first else (),
    )
