"""The users of a supplier, by the address of the supplier's own interface."""

from django.http import HttpRequest, HttpResponse

from api.operations import Operation
from api.views import ApiViewSet
from api.writing import Answer, Command
from core.errors import InvalidFields, InvalidTransition, QuotaExceeded, VersionConflict
from core.pipeline import run
from organizations.actions.memberships import LastAdministrator
from organizations.actions.supplier_users import OtherMember, save_user
from organizations.filters.supplier_users import SupplierUserFilters
from organizations.grants import GrantBeyondOwn, MakersMembership
from organizations.policies import OwnRoles, ScopeEscalation
from organizations.refusals import AlreadyMember
from organizations.representations.supplier_users import SupplierUserOut
from organizations.serializers.supplier_users import SupplierUserIn

MANAGE = "suppliers:users"


class SupplierUserViewSet(ApiViewSet):
    """The persons who are members of the supplier, by the same rows as `/v1/memberships`."""

    family = "supplier"
    tenant_kind = "supplier"
    tag = "Supplier"
    operation_ids = {"list": "listSupplierUsers", "create": "saveSupplierUser"}
    serializer_class = SupplierUserOut
    filterset_class = SupplierUserFilters
    operations = {
        "list": Operation(
            "List users",
            "Persons with their roles, status and last sign-in. Of whoever has not accepted the invitation only what the "
            "inviter wrote is shown.",
            scope=MANAGE,
        ),
        "create": Operation(
            "Invite or change a user",
            "Somebody new is invited by e-mail (201) and needs a `role`. Of a user (200), `role` replaces the role, and "
            "`active` false deactivates: the person cannot sign in to this supplier any more, an open invitation ends. Only "
            "members all of whose roles are a supplier's can be changed here. Nobody grants a role with scopes beyond the own.",
            scope=MANAGE,
            body=SupplierUserIn,
            run=save_user,
            further_statuses=(200,),
            errors=(
                InvalidFields, InvalidTransition, OtherMember, OwnRoles, ScopeEscalation, GrantBeyondOwn, MakersMembership,
                LastAdministrator, AlreadyMember, QuotaExceeded, VersionConflict,
            ),
        ),
    }  # fmt: skip

    def create(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Save, and answer 201 for a person who was invited, 200 for a user who was changed."""
        return self.write(_save)


def _save(command: Command) -> Answer:
    row, is_new = save_user(command.actor, command.data, command.at, command.check_found)
    assert command.reading is not None
    (rows,) = run([command.reading.call(row.pk)])
    content, version = rows.row()
    return Answer(content or b"null", status=201 if is_new else 200, tag=f'"{(version or b"").decode()}"')
