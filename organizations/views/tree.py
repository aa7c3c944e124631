"""HTTP of organizations."""

from typing import ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.filters import Condition
from api.operations import Operation
from api.views import ApiViewSet
from api.writing import Command
from core.errors import Duplicate, InvalidFields, InvalidTransition, NotFound, VersionConflict
from organizations.actions import tree as actions
from organizations.models import Organization
from organizations.policies import OutsideReach, organization_in_reach
from organizations.queries.reachable import Reach
from organizations.queries.tree import BELOW
from organizations.refusals import OrganizationInUse
from organizations.serializers.tenancy import OrganizationIn, OrganizationPatchIn
from organizations.shapes.tenancy import CHILDREN, ORGANIZATION, ORGANIZATIONS, TENANTS


class OrganizationViewSet(ApiViewSet):
    """The tree of organizations, as far as the caller's memberships reach."""

    family = "organizations"
    operation_ids: ClassVar = {"children": "listOrganizationChildren", "tenants": "listOrganizationTenants"}
    operations: ClassVar = {
        "list": Operation(
            scope="organizations.read",
            summary="List organizations",
            description="Organizations of the caller's tenants; for organization administrators everything below them too. "
            "Without X-Tenant-Id the reach of all active memberships counts.",
            listing=ORGANIZATIONS,
            tenant="optional",
        ),
        "create": Operation(
            scope="organizations.write",
            summary="Create an organization",
            description="Below `parent_id`, or below the organization of the tenant in X-Tenant-Id.",
            body=OrganizationIn,
            shape=ORGANIZATION,
            status=201,
            errors=(InvalidFields, Duplicate, actions.UnknownParent, actions.TreeTooDeep),
            example={"name": "North Clinic", "type": "clinic", "slug": "north-clinic"},
        ),
        "retrieve": Operation(
            scope="organizations.read",
            summary="Get an organization",
            shape=ORGANIZATION,
            tenant="optional",
            errors=(NotFound,),
        ),
        "partial_update": Operation(
            scope="organizations.write",
            summary="Update, move or suspend an organization",
            description="Another `parent_id` moves it with everything below it; both places must be within reach.",
            body=OrganizationPatchIn,
            partial=True,
            shape=ORGANIZATION,
            errors=(
                NotFound,
                InvalidFields,
                VersionConflict,
                InvalidTransition,
                Duplicate,
                OutsideReach,
                actions.UnknownParent,
                actions.OrganizationCycle,
                OrganizationInUse,
                actions.TreeTooDeep,
            ),
            example={"name": "North Clinic and Day Surgery"},
        ),
        "children": Operation(
            scope="organizations.read",
            summary="List the organizations below one",
            listing=CHILDREN,
            tenant="optional",
            errors=(NotFound,),
        ),
        "tenants": Operation(
            scope="organizations.read",
            summary="List an organization's tenants",
            listing=TENANTS,
            tenant="optional",
            errors=(NotFound,),
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer the organizations within reach."""
        return self.list_page(Condition(*Reach.of(self.actors_in_reach()).organizations()), bound=False)

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer one organization."""
        return self.retrieve_one(pk, extra=Condition(*Reach.of(self.actors_in_reach()).organizations()), bound=False)

    def create(self, request: HttpRequest) -> HttpResponse:
        """Add an organization."""

        def work(command: Command) -> Organization:
            return actions.create_organization(actor=command.actor, data=command.data, at=command.at)

        return self.write(work)

    def partial_update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Change, move, suspend, resume or close an organization."""

        def work(command: Command) -> Organization:
            return actions.update_organization(
                actor=command.actor, organization=command.target, data=command.data, at=command.at
            )

        return self.write(work, find=lambda actor: organization_in_reach(actor, pk))

    def children(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer what is below an organization, `depth` levels deep; what is below is not always within reach."""
        reach = self._reach(pk)
        below = Condition(BELOW, (str(pk), request.GET.get("depth") or "1"))
        return self.list_page(below, Condition(*reach.organizations()), bound=False)

    def tenants(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer the tenants of an organization that are within reach."""
        reach = self._reach(pk)
        own = Condition('t."organization_id" = {0}', (str(pk),))
        return self.list_page(own, Condition(*reach.tenants()), bound=False)

    def _reach(self, pk: UUID) -> Reach:
        reach = Reach.of(self.actors_in_reach())
        if not reach.holds_organization(pk):
            raise NotFound("No such organization.")
        return reach
