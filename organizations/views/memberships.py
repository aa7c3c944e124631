"""HTTP of memberships."""

from typing import ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.operations import Operation
from api.views import ApiViewSet
from api.writing import Command
from core.errors import InvalidFields, InvalidTransition, NotFound, QuotaExceeded, VersionConflict
from organizations import policies
from organizations.actions import memberships as actions
from organizations.models import Membership
from organizations.queries.memberships import locked_membership
from organizations.refusals import AlreadyMember
from organizations.serializers.tenancy import MembershipIn, MembershipPatchIn
from organizations.shapes.tenancy import MEMBERSHIP, MEMBERSHIPS


class MembershipViewSet(ApiViewSet):
    """Who is a member of the tenant, with which roles."""

    family = "organizations"
    operations: ClassVar = {
        "list": Operation(scope="memberships.read", summary="List members", listing=MEMBERSHIPS),
        "create": Operation(
            scope="memberships.write",
            summary="Invite or add a member",
            description="A person is invited by e-mail and counts when the invitation is accepted; a service account of the "
            "tenant counts at once. Nobody grants a role that holds scopes the granter lacks.",
            body=MembershipIn,
            shape=MEMBERSHIP,
            status=201,
            errors=(
                InvalidFields,
                policies.ScopeEscalation,
                AlreadyMember,
                actions.UnknownAccount,
                QuotaExceeded,
            ),
            example={"email": "kari@example.org", "name": "Kari", "roles": ["tenant_admin"]},
        ),
        "partial_update": Operation(
            scope="memberships.write",
            summary="Change a member",
            body=MembershipPatchIn,
            partial=True,
            shape=MEMBERSHIP,
            errors=(
                NotFound,
                InvalidFields,
                VersionConflict,
                InvalidTransition,
                policies.OwnRoles,
                policies.ScopeEscalation,
                actions.LastAdministrator,
            ),
            example={"status": "suspended"},
        ),
        "destroy": Operation(
            scope="memberships.write",
            summary="Remove a member",
            status=204,
            errors=(NotFound, VersionConflict, InvalidTransition, actions.LastAdministrator),
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer the tenant's members."""
        return self.list_page()

    def create(self, request: HttpRequest) -> HttpResponse:
        """Invite a person, or add a service account."""

        def work(command: Command) -> Membership:
            terms, data = actions.Terms.of(command.data), command.data
            if "service_account_id" in data:
                return actions.add_known_service(
                    actor=command.actor, account_id=data["service_account_id"], terms=terms, at=command.at
                )
            membership, _ = actions.invite_member(
                actor=command.actor, email=data["email"], name=data.get("name", ""), terms=terms, at=command.at
            )
            return membership

        return self.write(work)

    def partial_update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Change roles, places, validity or state."""

        def work(command: Command) -> Membership:
            return actions.change_membership(
                actor=command.actor, membership=command.target, data=command.data, at=command.at
            )

        return self.write(work, find=lambda actor: locked_membership(actor, pk))

    def destroy(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """End a membership."""

        def work(command: Command) -> Membership:
            return actions.revoke_membership(actor=command.actor, membership=command.target, at=command.at)

        return self.write(work, find=lambda actor: locked_membership(actor, pk))
