"""Admin pages of OAuth clients. Staff approve a client before its first token; its secret is never shown."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from organizations.models import OAuthApplication
from organizations.oauth import client_keys, clients
from organizations.staff import columns
from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import StaffAdmin


def _approve(click: ButtonClick) -> None:
    clients.approve(click.row, by=click.user, at=click.at)


def _withdraw(click: ButtonClick) -> str:
    return f"Approval withdrawn; {clients.withdraw(click.row, at=click.at)} sessions ended."


BUTTONS = (
    Button(
        name="approve",
        label="Approve",
        permission=Permission.APPROVE_CLIENTS,
        run=_approve,
        explains="The client can get tokens with the scopes listed on its page. Check its redirect URIs first.",
        shown=lambda row: row.approved_at is None,
        icon="verified",
    ),
    Button(
        name="withdraw",
        label="Withdraw approval",
        permission=Permission.APPROVE_CLIENTS,
        run=_withdraw,
        explains="The client gets no more tokens. All its sessions and machine tokens end at once.",
        shown=lambda row: row.approved_at is not None,
        icon="block",
        danger=True,
    ),
)


@admin.register(OAuthApplication)
class ClientAdmin(StaffAdmin):
    """Clients of the authorization server."""

    area = Area.CLIENTS
    in_palette = True
    buttons = BUTTONS
    list_display = ("name", "client_id", "client_type", "authorization_grant_type", "approval", "tenant", "created")
    list_filter = (
        ("approved_at", admin.EmptyFieldListFilter),
        "authorization_grant_type",
        ("tenant", AutocompleteSelectFilter),
    )
    search_fields = ("name", "client_id")
    ordering = ("-created", "-id")
    list_select_related = ("tenant", "service_account", "approved_by")
    fieldsets = (
        (None, {"fields": ("name", "client_id", "client_type", "authorization_grant_type", "approval")}),
        (
            "Rights",
            {"fields": ("all_scopes", "tenant", "service_account", "redirect_uris", "post_logout_redirect_uris")},
        ),
        ("Keys in place of a secret", {"fields": ("keys",)}),
        ("History", {"fields": ("approved_at", "approver", "created", "updated")}),
    )
    readonly_fields = ("approval", "all_scopes", "keys", "approver", "created", "updated")

    def get_queryset(self, request: HttpRequest) -> QuerySet[OAuthApplication]:
        """Read everything but the digest of the secret."""
        rows: QuerySet[OAuthApplication] = super().get_queryset(request)
        return rows.defer("client_secret")

    @column(description="Approval", label={"approved": "success", "waiting": "warning"})
    def approval(self, row: OAuthApplication) -> str:
        """Whether staff have approved the client."""
        return "approved" if row.approved_at else "waiting"

    @column(description="Scopes")
    def all_scopes(self, row: OAuthApplication) -> str:
        """All scopes that the client can be granted."""
        return columns.words(row.allowed_scopes)

    @column(description="Keys")
    def keys(self, row: OAuthApplication) -> str:
        """The ids of the client's keys, or the address where it publishes them."""
        return columns.words(client_keys.named(row))

    @column(description="Approved by")
    def approver(self, row: OAuthApplication) -> str:
        """The member of staff who approved the client."""
        return row.approved_by.email if row.approved_by else "–"
