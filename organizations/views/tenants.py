"""The endpoints of tenants."""

from collections.abc import Sequence

from api.filters import Condition
from api.operations import Operation
from api.sorts import ORDERING_FIELDS
from core.errors import Duplicate, InvalidFields, InvalidTransition
from organizations.actions.provisioning import PlanAboveOwn, UnknownOrganization, create_tenant
from organizations.actions.tenants import OwnTenant, update_tenant
from organizations.filters.tenancy import TenantFilters
from organizations.grants import GrantBeyondOwn
from organizations.policies import StateScopeMissing, tenant_in_reach
from organizations.representations.tenancy import TenantOut
from organizations.serializers.tenancy import TenantIn, TenantPatchIn

from .reach import ReachViewSet


class TenantViewSet(ReachViewSet):
    """Tenants within the reach of the caller's memberships."""

    scope_prefix = "tenants."
    serializer_class = TenantOut
    filterset_class = TenantFilters
    ordering_fields = (*ORDERING_FIELDS, "name")
    operations = {
        "list": Operation(
            "List tenants",
            "The caller's tenants. Organization administrators also see the tenants of every organization below "
            "theirs. Without X-Tenant-Id the reach of all active memberships is combined.",
            tenant="optional",
        ),
        "create": Operation(
            "Provision a tenant",
            "Sets up configuration, entitlements and a first location and, with `admin_email`, invites the first "
            "administrator. The organization is `organization_id`, or that of the tenant in X-Tenant-Id. A plan may give "
            "no more than one that the caller's own organization has; others are granted by the platform's staff.",
            scope="tenants.provision",
            body=TenantIn,
            run=create_tenant,
            errors=(InvalidFields, Duplicate, UnknownOrganization, GrantBeyondOwn, PlanAboveOwn),
            example={
                "name": "North Clinic",
                "slug": "north-clinic",
                "kinds": ["provider"],
                "admin_email": "kari@example.org",
            },
        ),
        "retrieve": Operation("Get a tenant", tenant="optional"),
        "partial_update": Operation(
            "Update a tenant",
            "`status` suspends or resumes a tenant other than the caller's own; this also needs the scope "
            "`tenants.provision`.",
            scope="tenants.configure",
            body=TenantPatchIn,
            find=tenant_in_reach,
            run=update_tenant,
            errors=(InvalidFields, InvalidTransition, OwnTenant, StateScopeMissing),
            example={"time_zone": "Europe/Oslo"},
        ),
    }

    def restrictions(self) -> Sequence[Condition]:
        """Keep the tenants within reach."""
        return (Condition(*self.reach().tenants()),)
