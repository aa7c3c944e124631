"""The endpoints of memberships."""

from api.operations import Operation
from api.views import ApiViewSet
from core.errors import InvalidFields, InvalidTransition, QuotaExceeded
from organizations.actions.memberships import (
    LastAdministrator,
    UnknownAccount,
    change_membership,
    create_membership,
    revoke_membership,
)
from organizations.filters.tenancy import MembershipFilters
from organizations.grants import GrantBeyondOwn, MakersMembership
from organizations.policies import MachineScope, OwnRoles, ScopeEscalation
from organizations.queries.memberships import locked_membership
from organizations.refusals import AlreadyMember
from organizations.representations.tenancy import MembershipOut
from organizations.serializers.tenancy import MembershipIn, MembershipPatchIn


class MembershipViewSet(ApiViewSet):
    """The members of the tenant and their roles."""

    scope_prefix = "memberships."
    serializer_class = MembershipOut
    filterset_class = MembershipFilters
    operations = {
        "list": Operation("List members"),
        "create": Operation(
            "Invite or add a member",
            "A person is invited by e-mail and becomes a member by accepting the invitation. A service account of the "
            "tenant becomes a member at once. A caller cannot grant a role with scopes that they do not hold, nor locations "
            "or a validity beyond their own. Until the invitation is accepted, the person's id and name are not shown.",
            body=MembershipIn,
            run=create_membership,
            errors=(
                InvalidFields,
                ScopeEscalation,
                GrantBeyondOwn,
                MachineScope,
                AlreadyMember,
                UnknownAccount,
                QuotaExceeded,
            ),
            example={"email": "kari@example.org", "name": "Kari", "roles": ["tenant_admin"]},
        ),
        "partial_update": Operation(
            "Change a member",
            body=MembershipPatchIn,
            find=locked_membership,
            run=change_membership,
            errors=(
                InvalidFields,
                InvalidTransition,
                OwnRoles,
                ScopeEscalation,
                GrantBeyondOwn,
                MachineScope,
                MakersMembership,
                LastAdministrator,
            ),
            example={"status": "suspended"},
        ),
        "destroy": Operation(
            "Remove a member",
            find=locked_membership,
            run=revoke_membership,
            errors=(InvalidTransition, ScopeEscalation, GrantBeyondOwn, MakersMembership, LastAdministrator),
        ),
    }
