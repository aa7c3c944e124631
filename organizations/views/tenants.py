"""HTTP of tenants."""

from collections.abc import Sequence

from api.filters import Condition
from api.listing import ORDERING_FIELDS
from api.operations import Operation
from core.errors import Duplicate, InvalidFields, InvalidTransition
from organizations.actions.provisioning import UnknownOrganization, create_tenant
from organizations.actions.tenants import OwnTenant, update_tenant
from organizations.filters.tenancy import TenantFilters
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
            "The caller's tenants; organization administrators also see those of every organization below them. "
            "Without X-Tenant-Id the reach of all active memberships counts.",
            tenant="optional",
        ),
        "create": Operation(
            "Provision a tenant",
            "Sets up configuration, entitlements and a first location and, with `admin_email`, invites the first "
            "administrator. The organization is `organization_id`, or that of the tenant in X-Tenant-Id.",
            scope="tenants.provision",
            body=TenantIn,
            run=create_tenant,
            errors=(InvalidFields, Duplicate, UnknownOrganization),
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
            "`status` suspends or resumes a tenant, which must be another than the caller's own; this needs the scope "
            "`tenants.provision` as well.",
            scope="tenants.configure",
            body=TenantPatchIn,
            find=tenant_in_reach,
            run=update_tenant,
            errors=(InvalidFields, InvalidTransition, OwnTenant, StateScopeMissing),
            example={"time_zone": "Europe/Oslo"},
        ),
    }

    def restrictions(self) -> Sequence[Condition]:
        """Only tenants within reach."""
        return (Condition(*self.reach().tenants()),)
