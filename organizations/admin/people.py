"""Admin pages of people: their sign-in, memberships and staff role."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget

from organizations.actions import staff
from organizations.models import SignInSession, StaffRole, User
from organizations.signin import sessions
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import StaffAdmin


class RoleForm(ReasonForm):
    """The new staff role, with the reason."""

    role = forms.ChoiceField(
        required=False, choices=[("", "No staff role"), *StaffRole.choices], widget=UnfoldAdminSelectWidget()
    )


def _appoint(click: ButtonClick) -> None:
    staff.appoint(user=click.row, role=click.data["role"], by=click.user, at=click.at)


def _deactivate(click: ButtonClick) -> str:
    return f"The person is deactivated; {staff.deactivate(user=click.row, by=click.user, at=click.at)} sessions ended."


def _remove_second_factor(click: ButtonClick) -> str:
    ended = staff.remove_second_factor(user=click.row, by=click.user, at=click.at)
    return f"The second factor is removed; {ended} sessions ended."


def _has_second_factor(row: User) -> bool:
    device: Any = getattr(row, "totp_device", None)
    return device is not None and device.confirmed_at is not None


def _end_sessions(click: ButtonClick) -> str:
    return f"{sessions.end_all(click.row.pk, reason='ended_by_staff', at=click.at)} sessions ended."


BUTTONS = (
    Button(
        name="end-sessions",
        label="End sessions",
        permission=Permission.LOCK_PEOPLE,
        run=_end_sessions,
        explains="All sessions of this person end at once. The person can sign in again.",
        icon="logout",
    ),
    Button(
        name="unlock",
        label="Unlock sign-in",
        permission=Permission.LOCK_PEOPLE,
        run=lambda click: f"{staff.unlock(user=click.row)} failure counters cleared.",
        explains="Failed attempts are cleared, so this person can try again at once.",
        icon="lock_open",
    ),
    Button(
        name="remove-second-factor",
        label="Remove second factor",
        permission=Permission.LOCK_PEOPLE,
        run=_remove_second_factor,
        explains="For a lost device: the person signs in with the password alone until another factor is enrolled.",
        shown=_has_second_factor,
        icon="phonelink_erase",
        danger=True,
    ),
    Button(
        name="deactivate",
        label="Deactivate",
        permission=Permission.LOCK_PEOPLE,
        run=_deactivate,
        explains="This person can no longer sign in, and all sessions end at once. Memberships stay as they are.",
        shown=lambda row: bool(row.is_active),
        icon="person_off",
        danger=True,
    ),
    Button(
        name="reactivate",
        label="Reactivate",
        permission=Permission.LOCK_PEOPLE,
        run=lambda click: staff.reactivate(user=click.row),
        explains="This person may sign in again.",
        shown=lambda row: not row.is_active,
        icon="person_check",
    ),
    Button(
        name="appoint",
        label="Change staff role",
        permission=Permission.APPOINT_STAFF,
        run=_appoint,
        explains="The role decides what this person may see and do in this admin. All sessions of the person end.",
        form=RoleForm,
        icon="badge",
    ),
)


@admin.register(User)
class PersonAdmin(StaffAdmin):
    """People and their state, without password hashes and secrets of second factors."""

    area = Area.PEOPLE
    in_palette = True
    buttons = BUTTONS
    list_display = ("email", "name", "is_active", "role", "has_second_factor", "last_sign_in_at", "created_at")
    list_filter = ("is_active", "staff_role")
    search_fields = ("email", "name")
    ordering = ("-created_at", "-id")
    list_select_related = ("totp_device",)
    date_hierarchy = "created_at"
    fieldsets = (
        (None, {"fields": ("id", "email", "name", "is_active", "role", "created_at")}),
        ("Sign-in", {"fields": ("has_second_factor", "last_sign_in_at", "password_changed_at", "open_sessions")}),
        ("Memberships", {"fields": ("tenants",)}),
    )
    readonly_fields = ("role", "has_second_factor", "open_sessions", "tenants")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Read everything but the password hash."""
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.defer("password")

    def named(self, row: User) -> str:
        """Return the person's e-mail address."""
        return row.email

    @column(description="Staff role", ordering="staff_role", label=True)
    def role(self, row: User) -> str:
        """The staff role as a label."""
        return row.staff_role if row.is_staff else ""

    @column(description="Second factor", boolean=True)
    def has_second_factor(self, row: User) -> bool:
        """Whether a second factor is in force."""
        return _has_second_factor(row)

    @column(description="Open sessions")
    def open_sessions(self, row: User) -> int:
        """The number of the person's open sessions."""
        return SignInSession.objects.filter(user=row, ended_at__isnull=True).count()

    @column(description="Member of")
    def tenants(self, row: User) -> str:
        """The tenants in which the person has a membership that is neither revoked nor expired."""
        rows = row.memberships.filter(~Q(status__in=["revoked", "expired"])).select_related("tenant")
        found = [
            f"{one.tenant.name} ({', '.join(one.roles)}; {one.status})"
            for one in rows.order_by("created_at", "id")[:50]
        ]
        return "; ".join(found) or "–"
