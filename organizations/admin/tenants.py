"""Admin pages of tenants: provision, suspend, resume, change the plan, offboard. A tenant's data is not shown here."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from core.clock import now
from core.db import tenant_context
from core.errors import PlatformError
from organizations.actions import entitlements, provisioning, tenants
from organizations.models import ProvisioningStep, Quota, Tenant
from organizations.plans import API_KEYS, LOCATIONS, USERS, WEBHOOK_ENDPOINTS
from organizations.staff import acting_tenant, audit, columns
from organizations.staff.buttons import Button, ButtonClick, ConfirmedForm
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission, does
from organizations.staff.tenant_admin import StaffAdmin, link_action, show_refusal

from .forms import HoldForm, PlanForm, ProvisioningForm, limit_text


def _suspend(click: ButtonClick) -> None:
    tenants.suspend_tenant(actor=click.actor, tenant=click.row, reason=click.data["reason"], at=click.at)


def _resume(click: ButtonClick) -> None:
    tenants.resume_tenant(actor=click.actor, tenant=click.row, at=click.at)


def _offboard(click: ButtonClick) -> None:
    tenants.offboard_tenant(actor=click.actor, tenant=click.row, at=click.at)


def _hold(click: ButtonClick) -> None:
    values = {"legal_hold": click.data["hold"]}
    tenants.update_tenant(actor=click.actor, tenant=click.row, data=values, at=click.at)


def _plan(click: ButtonClick) -> None:
    entitlements.grant_plan(tenant=click.row, plan=click.data["plan"], at=click.at, actor=click.actor)


BUTTONS = (
    Button(
        name="suspend",
        label="Suspend",
        permission=Permission.STOP_TENANTS,
        run=_suspend,
        explains="Writes are refused, webhooks pause and jobs skip the tenant. Reads go on if the tenant’s settings allow "
        "them. The reason is also shown to the tenant.",
        shown=lambda row: row.status == "active",
        icon="pause_circle",
        danger=True,
    ),
    Button(
        name="resume",
        label="Resume",
        permission=Permission.STOP_TENANTS,
        run=_resume,
        explains="The tenant works again, and webhooks continue where they stopped.",
        shown=lambda row: row.status == "suspended",
        icon="play_circle",
    ),
    Button(
        name="plan",
        label="Change plan",
        permission=Permission.CHANGE_PLANS,
        run=_plan,
        explains="Features, quotas and rate limits follow the new plan at once. A plan that allows less than is used is refused.",
        shown=lambda row: row.status in ("active", "suspended"),
        form=PlanForm,
        icon="sell",
    ),
    Button(
        name="hold",
        label="Legal hold",
        permission=Permission.END_TENANTS,
        run=_hold,
        explains="Under a legal hold, the tenant cannot be closed and its data cannot be deleted.",
        shown=lambda row: row.status != "closed",
        form=HoldForm,
        icon="gavel",
    ),
    Button(
        name="offboard",
        label="Begin offboarding",
        permission=Permission.END_TENANTS,
        run=_offboard,
        explains="Writes are refused and the retention period begins. When it is over, the command close_tenant deletes "
        "the rows in batches and closes the tenant.",
        shown=lambda row: row.status in ("active", "suspended"),
        form=ConfirmedForm,
        icon="event_busy",
        danger=True,
    ),
)


# The lists that a tenant's page leads to, by the quota that counts them: title, page, and whether it needs an acting tenant.
_LISTS = {
    USERS: ("Members", "organizations_membership", False),
    API_KEYS: ("API keys", "organizations_apikey", False),
    LOCATIONS: ("Locations", "organizations_location", True),
    WEBHOOK_ENDPOINTS: ("Webhook endpoints", "webhooks_endpoint", True),
}


def _list_address(row: Any, key: str) -> str:
    _, page, is_acting = _LISTS[key]
    address = reverse(f"admin:{page}_changelist")
    if not is_acting:
        return f"{address}?{urlencode({'tenant__id__exact': row.pk})}"
    return (
        address
        if row.is_acting
        else f"{reverse('admin:acting_tenant')}?{urlencode({'tenant': row.pk, 'next': address})}"
    )


@admin.register(Tenant)
class TenantListAdmin(StaffAdmin):
    """All tenants. The add page provisions a tenant by the same action as the API."""

    area = Area.TENANTS
    in_palette = True
    buttons = BUTTONS
    list_display = ("name", "slug", "all_kinds", "status_label", "plan", "environment", "organization", "created_at")
    list_filter = (
        "status",
        "environment",
        "plan",
        ("managed_by", admin.EmptyFieldListFilter),
        ("organization", AutocompleteSelectFilter),
    )
    search_fields = ("name", "slug")
    ordering = ("-created_at", "-id")
    list_select_related = ("organization",)
    date_hierarchy = "created_at"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "id",
                    "name",
                    "slug",
                    "status_badge",
                    "suspended_reason",
                    "all_kinds",
                    "organization",
                    "managed_by",
                    "environment",
                )
            },
        ),
        ("What it has", {"fields": ("holdings",)}),
        ("Plan", {"fields": ("plan", "all_features", "entitled_until", "legal_hold")}),
        ("Settings", {"fields": ("region", "time_zone", "locale", "currency", "reads_while_suspended")}),
        ("History", {"fields": ("steps", "created_at", "updated_at", "offboarding_at", "closed_at", "version")}),
    )
    readonly_fields = ("status_badge", "all_kinds", "all_features", "holdings", "steps")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Offer the add page to roles that may provision tenants."""
        return does(request.user, Permission.PROVISION_TENANTS)

    @column(description="Status")
    def status_badge(self, row: Tenant) -> SafeString:
        """The status as on the overview."""
        return render_to_string("staff/status.html", {"status": row.status})

    @column(description="Kinds")
    def all_kinds(self, row: Tenant) -> str:
        """The kinds of the tenant; a supplier that a buyer manages is marked."""
        return "managed supplier" if row.managed_by_id else columns.words(row.kinds)

    @column(description="Features")
    def all_features(self, row: Tenant) -> str:
        """Features that the tenant is entitled to and has switched on."""
        return columns.words(row.features)

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the tenant, and whether this member of staff acts in it."""
        row = super().get_object(request, *args, **kwargs)
        if row is not None:
            chosen = acting_tenant.current(request)
            row.is_acting = chosen is not None and chosen.tenant_id == row.pk
        return row

    @column(description="Related lists")
    def holdings(self, row: Any) -> SafeString:
        """How much the tenant has of each kind, with links to the lists."""
        with tenant_context(row.pk):
            quotas = {quota.key: quota for quota in Quota.objects.filter(tenant_id=row.pk, key__in=_LISTS)}
        lines = [
            (_list_address(row, key), _LISTS[key][0], f"{quota.used:,}", limit_text(quota.limit))
            for key in _LISTS
            if (quota := quotas.get(key)) is not None
        ]
        return format_html_join(
            "",
            '<div class="flex flex-row py-1" style="column-gap: 1rem"><a href="{}" class="text-primary-600 dark:text-primary-500">{}</a><span class="ml-auto">{} of {}</span></div>',
            lines,
        )

    @column(description="Provisioning")
    def steps(self, row: Tenant) -> SafeString:
        """The finished provisioning steps, in order."""
        names = ProvisioningStep.objects.filter(tenant=row).order_by("finished_at", "id").values_list("name", flat=True)
        return format_html("{}", " → ".join(names) or "–")

    def tenant_of(self, row: Any) -> UUID | None:
        """Return the tenant's own id: its changes are recorded in its own ledger."""
        key: UUID = row.pk
        return key

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """Return a link that chooses this tenant as the acting tenant."""
        address = f"{reverse('admin:acting_tenant')}?tenant={row.pk}"
        return [link_action("Act in this tenant", address, icon="visibility")]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Provision a tenant."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = ProvisioningForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                provisioned = _provision(request, form)
            except PlatformError as refusal:
                show_refusal(refusal, form)
            else:
                for email, link in provisioned.invitations.items():
                    messages.info(request, f"Invitation link for {email}, shown this once: {link}")
                messages.success(request, f"{provisioned.tenant.name} is {provisioned.tenant.status}.")
                return HttpResponseRedirect(reverse("admin:organizations_tenant_change", args=[provisioned.tenant.pk]))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Set up a tenant",
            "form": form,
            "back": reverse("admin:organizations_tenant_changelist"),
        }
        return TemplateResponse(request, "staff/provision.html", context)


def _provision(request: HttpRequest, form: ProvisioningForm) -> provisioning.Provisioned:
    actor = audit.staff_actor(request)
    with transaction.atomic():
        at = now()
        provisioned = provisioning.provision_tenant(actor=actor, spec=form.spec(), at=at)
        actor_in_tenant = audit.staff_actor(request, provisioned.tenant.id)
        with tenant_context(provisioned.tenant.id):
            reason = form.cleaned_data["reason"]
            audit.note(
                request, actor_in_tenant, action="tenant.provision", row=provisioned.tenant, reason=reason, at=at
            )
    return provisioned
