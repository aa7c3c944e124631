"""Versions of the tables of medications: those of the platform, and the acting tenant's own, which can be loaded here."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from core.clock import now
from core.db import tenant_context
from core.errors import PlatformError
from organizations.staff import audit
from organizations.staff.roles import Area, Permission, does
from organizations.staff.tenant_admin import StaffAdmin, TenantAdmin, link_action, show_refusal
from prescriptions.medications.loading import Load, Target, current_version
from prescriptions.medications.models import PlatformTableVersion, TenantTableVersion
from prescriptions.medications.tables import TABLES

from . import uploads
from .looks import chosen_tenant
from .uploads import ApplyForm, Preview, PreviewForm

_COLUMNS = ("table", "number", "rows", "added", "changed", "removed", "source", "loaded_at")


@admin.register(PlatformTableVersion)
class PlatformTableVersionAdmin(StaffAdmin):
    """Loads of the platform's tables. For looking only: `load_terminology` loads them."""

    area = Area.CATALOG
    list_display = (*_COLUMNS, "demonstration")
    list_filter = ("table", "demonstration")
    search_fields = ("=table", "source")
    ordering = ("-loaded_at", "-id")
    fields = ("id", *_COLUMNS, "demonstration", "digest")


@admin.register(TenantTableVersion)
class TenantTableVersionAdmin(TenantAdmin):
    """Loads of the acting tenant's own tables, whose rows win over the platform's."""

    area = Area.CATALOG
    list_display = _COLUMNS
    list_filter = ("table",)
    search_fields = ("=table", "source")
    ordering = ("-loaded_at", "-id")
    fields = ("id", "tenant", *_COLUMNS, "digest")

    def further_urls(self) -> list[URLPattern]:
        """The page that loads a table."""
        view = self.admin_site.admin_view(self.load_view)
        return [path("load/", view, name="prescriptions_tenanttableversion_load")]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with the link to the page that loads."""
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed and does(request.user, Permission.LOAD_TABLES):
            more = link_action("Load a table", self._link("load"), icon="upload")
            listed["actions_list"] = [*listed.get("actions_list", ()), more]
        return response

    def load_view(self, request: HttpRequest) -> HttpResponse:
        """Take a file and show its differences; apply what was shown, with a reason."""
        if not (self.has_view_permission(request) and does(request.user, Permission.LOAD_TABLES)):
            raise PermissionDenied
        if request.method == "POST" and "shown" in request.POST:
            return self._apply(request)
        form = PreviewForm(request.POST, request.FILES) if request.method == "POST" else PreviewForm()
        found = None
        if request.method == "POST" and form.is_valid():
            try:
                found = uploads.preview(chosen_tenant(request).tenant_id, form.cleaned_data, now())
            except PlatformError as refusal:
                _show_faults(refusal, form)
        return self._page(request, form, found, ApplyForm(initial={"shown": found.seal}) if found else None)

    def _apply(self, request: HttpRequest) -> HttpResponse:
        form = ApplyForm(request.POST)
        if form.is_valid():
            try:
                found = _loaded(request, form)
            except PlatformError as refusal:
                show_refusal(refusal, form)
            else:
                told = f"version {found.version} is loaded" if found.is_new else "nothing has changed"
                messages.success(request, f"{found.table.replace('_', ' ').capitalize()}: {told}.")
                return HttpResponseRedirect(self._link("changelist"))
        return self._page(request, PreviewForm(), None, form)

    def _page(
        self, request: HttpRequest, form: forms.Form, found: Preview | None, applying: forms.Form | None
    ) -> HttpResponse:
        target = Target(chosen_tenant(request).tenant_id)
        current = [one for one in (current_version(table, target) for table in TABLES.values()) if one]
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Load a table",
            "form": form,
            "found": found,
            "applying": applying,
            "current": current,
            "tables": [(table.name.replace("_", " "), ", ".join(table.columns)) for table in TABLES.values()],
            "back": self._link("changelist"),
        }
        return TemplateResponse(request, "prescriptions/load.html", context)


def _loaded(request: HttpRequest, form: ApplyForm) -> Load:
    """Load the table and record who did it and why, both or neither."""
    tenant_id = chosen_tenant(request).tenant_id
    actor = audit.staff_actor(request, tenant_id)
    with transaction.atomic(), tenant_context(tenant_id):
        at = now()
        found = uploads.apply(tenant_id, form.cleaned_data["shown"], at)
        row = current_version(TABLES[found.table], Target(tenant_id))
        if found.is_new:
            reason = form.cleaned_data["reason"]
            audit.note(request, actor, action="tenanttableversion.load", row=row, reason=reason, at=at)
    return found


def _show_faults(refusal: PlatformError, form: forms.Form) -> None:
    """Name each fault with its line."""
    form.add_error("file", refusal.detail)
    for fault in refusal.errors:
        form.add_error("file", f"{fault.field}: {fault.message}")
