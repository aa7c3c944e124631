"""The endpoints of organizations, and of the organizations and tenants below one."""

from collections.abc import Sequence

from api.filters import Condition
from api.operations import Operation
from api.sorts import ORDERING_FIELDS
from core.errors import Duplicate, InvalidFields, InvalidTransition, NotFound
from organizations.actions.tree import (
    OrganizationCycle,
    TreeTooDeep,
    UnknownParent,
    create_organization,
    update_organization,
)
from organizations.filters.tenancy import ChildFilters, OrganizationFilters, TenantFilters
from organizations.policies import OutsideReach, organization_in_reach
from organizations.queries.reachable import Reach
from organizations.queries.tree import BELOW
from organizations.refusals import OrganizationInUse
from organizations.representations.tenancy import OrganizationOut, TenantOut
from organizations.serializers.tenancy import OrganizationIn, OrganizationPatchIn

from .reach import ReachViewSet


class OrganizationViewSet(ReachViewSet):
    """The organizations within the reach of the caller's memberships."""

    scope_prefix = "organizations."
    serializer_class = OrganizationOut
    filterset_class = OrganizationFilters
    ordering_fields = (*ORDERING_FIELDS, "name")
    operations = {
        "list": Operation(
            "List organizations",
            "The organizations of the caller's tenants. Organization administrators also see every organization below "
            "theirs. Without X-Tenant-Id the reach of all active memberships is combined.",
            tenant="optional",
        ),
        "create": Operation(
            "Create an organization",
            "The new organization is below `parent_id`, or below the organization of the tenant in X-Tenant-Id.",
            body=OrganizationIn,
            run=create_organization,
            errors=(InvalidFields, Duplicate, UnknownParent, TreeTooDeep),
            example={"name": "North Clinic", "type": "clinic", "slug": "north-clinic"},
        ),
        "retrieve": Operation("Get an organization", tenant="optional"),
        "partial_update": Operation(
            "Update, move or suspend an organization",
            "Another `parent_id` moves the organization with everything below it; the old and the new parent must be "
            "within reach.",
            body=OrganizationPatchIn,
            find=organization_in_reach,
            run=update_organization,
            errors=(
                InvalidFields,
                InvalidTransition,
                Duplicate,
                OutsideReach,
                UnknownParent,
                OrganizationCycle,
                OrganizationInUse,
                TreeTooDeep,
            ),
            example={"name": "North Clinic and Day Surgery"},
        ),
    }

    def restrictions(self) -> Sequence[Condition]:
        """Keep the organizations within reach."""
        return (Condition(*self.reach().organizations()),)


class _BelowViewSet(ReachViewSet):
    """Base of the lists below the organization that the path names."""

    scope_prefix = "organizations."
    ordering_fields = (*ORDERING_FIELDS, "name")

    def reach(self) -> Reach:
        """Return the caller's reach after checking that the organization is in it.

        :raises NotFound: the organization does not exist or is out of reach.
        """
        reach = super().reach()
        if not reach.holds_organization(self.kwargs["pk"]):
            raise NotFound("No such organization.")
        return reach


class ChildOrganizationViewSet(_BelowViewSet):
    """The organizations below another."""

    serializer_class = OrganizationOut
    filterset_class = ChildFilters
    operation_ids = {"list": "listOrganizationChildren"}
    operations = {
        "list": Operation(
            "List the organizations below another",
            "The organizations directly below; `depth` adds levels. Only organizations within reach are listed.",
            tenant="optional",
        ),
    }

    def restrictions(self) -> Sequence[Condition]:
        """Keep organizations at the requested levels and within reach, since not all below need be within reach."""
        reach = self.reach()
        below = Condition(BELOW, (str(self.kwargs["pk"]), self.request.GET.get("depth") or "1"))
        return below, Condition(*reach.organizations())


class OrganizationTenantViewSet(_BelowViewSet):
    """The tenants of one organization."""

    serializer_class = TenantOut
    filterset_class = TenantFilters
    operation_ids = {"list": "listOrganizationTenants"}
    operations = {
        "list": Operation("List an organization's tenants", "Only tenants within reach are listed.", tenant="optional"),
    }

    def restrictions(self) -> Sequence[Condition]:
        """Keep the organization's tenants that are within reach."""
        reach = self.reach()
        return Condition('t."organization_id" = {0}', (str(self.kwargs["pk"]),)), Condition(*reach.tenants())
