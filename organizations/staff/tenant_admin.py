"""The two bases of all admin pages: read-only lists with buttons, and the same for what belongs to one tenant.

A page names its `area`; whoever's role does not see the area gets 403. Rows are changed by buttons alone.
"""

from collections.abc import Callable, Sequence
from datetime import MAXYEAR
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from unfold.admin import ModelAdmin
from unfold.enums import ActionVariant

from core.clock import now
from core.db import tenant_context
from core.errors import PlatformError

from . import acting_tenant, audit, columns, exports
from .buttons import Button, ButtonClick, ConfirmedForm, ReasonForm
from .columns import column
from .roles import Area, does, sees

MENU_FROM = 3
LOOKUPS = frozenset({"", "exact", "id__exact", "in", "isnull", "isempty", "icontains"})
DAYS = frozenset({"year", "month", "day"})


class StaffAdmin(ModelAdmin):  # type: ignore[misc]  # the theme has no types
    """Pages of a global table."""

    area: ClassVar[Area]
    buttons: ClassVar[Sequence[Button]] = ()
    actions = None
    list_per_page = 50
    list_filter_submit = True
    show_full_result_count = False
    view_on_site = False

    # -- who ---------------------------------------------------------------------------------------------------------

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the page's link to those who see its area."""
        return sees(request.user, self.area)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Open the page to those who see its area."""
        return sees(request.user, self.area)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is added by a bare form."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is changed by a bare form."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is deleted."""
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Let a list be narrowed by its filters only, as they ask: Django would take any field and any question.

        Those tell the start of a kept digest, and some break at the database (`__range` of one value, `__regex`).
        """
        fields = {field.name for field in self.opts.get_fields()} | {
            field.attname for field in self.opts.concrete_fields
        }
        offered = {_filtered(one) for one in self.list_filter}
        name, _, question = lookup.partition("__")
        if name == self.date_hierarchy and question in DAYS:
            return value.isascii() and value.isdigit() and int(value[:9]) < MAXYEAR  # Django looks at the year after
        if name in fields and (name not in offered or question not in LOOKUPS):
            return False
        allowed: bool = super().lookup_allowed(lookup, value, request)
        return allowed

    @column(description="Status", ordering="status", label=columns.STATUS_COLOURS)
    def status_label(self, row: Any) -> str:
        """The state as a coloured label."""
        return str(row.status)

    # -- addresses ---------------------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        """Add the export and one address for each button."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        view = self.admin_site.admin_view
        return [
            path("export/", view(self.export_view), name=f"{name}_export"),
            path("<path:object_id>/do/<slug:button>/", view(self.button_view), name=f"{name}_button"),
            *self.further_urls(),
            *super().get_urls(),
        ]

    def further_urls(self) -> list[URLPattern]:
        """Addresses that only this page has."""
        return []

    def _link(self, kind: str, *arguments: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{kind}", args=arguments)

    # -- looking -----------------------------------------------------------------------------------------------------

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with a link that exports it as it is filtered."""
        response: HttpResponse = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data is not None:
            address = f"{self._link('export')}?{request.GET.urlencode()}"
            response.context_data["actions_list"] = [
                *response.context_data.get("actions_list", ()),
                link_action("Export CSV", address, icon="download"),
            ]
        return response

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The page of one row, with the buttons its state and the viewer's role allow."""
        row = kwargs.get("obj")
        if row is not None:
            context["actions_detail"] = [*self.links(request, row), *self._buttons_of(request, row)]
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """Further links on the page of one row."""
        return []

    def _buttons_of(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        found = [
            link_action(button.label, self._link("button", row.pk, button.name), icon=button.icon, danger=button.danger)
            for button in self.buttons
            if does(request.user, button.permission) and button.shown(row)
        ]
        if len(found) < MENU_FROM:
            return found
        return [{"title": "Actions", "icon": "bolt", "variant": ActionVariant.DEFAULT, "attrs": {}, "items": found}]

    def export_view(self, request: HttpRequest) -> HttpResponse:
        """The list as it is filtered, as CSV; in one piece, because a stream would outlive the transaction.

        :raises BadRequest: it is filtered by what the list cannot be, so that a whole list is not taken for a part.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            rows = self.get_changelist_instance(request).get_queryset(request)[: exports.MOST_ROWS]
        except IncorrectLookupParameters:
            raise BadRequest from None
        text = exports.as_csv(self.get_list_display(request), rows, self)
        audit.log_security(
            request,
            "staff_exported",
            subject=str(request.user.pk),
            tenant_id=getattr(acting_tenant.current(request), "tenant_id", None),
        )
        response = HttpResponse(text, content_type="text/csv; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{self.opts.model_name}.csv"'
        return response

    # -- changing ----------------------------------------------------------------------------------------------------

    def named(self, row: Any) -> str:
        """What a button's page calls the row."""
        return str(row)

    def tenant_of(self, row: Any) -> UUID | None:
        """The tenant in whose ledger a change of this row is told; None is the platform's own."""
        return getattr(row, "tenant_id", None)

    def locked(self, key: Any) -> Any:
        """The row a button works on, held until the transaction ends."""
        return self.model._base_manager.select_for_update(no_key=True).get(pk=key)

    def button_view(self, request: HttpRequest, object_id: str, button: str) -> HttpResponse:
        """Ask for the reason, then run the button's action and go back to the row."""
        chosen = next((one for one in self.buttons if one.name == button), None)
        row = self.get_object(request, unquote(object_id))
        if row is None or chosen is None or not self.has_view_permission(request):
            raise Http404
        if not does(request.user, chosen.permission):
            raise PermissionDenied
        form = _filled(chosen.form, request, row)
        if request.method == "POST" and form.is_valid():
            try:
                message = self._click(request, chosen, row, form.cleaned_data)
            except PlatformError as refusal:
                show_refusal(refusal, form)
            else:
                messages.success(request, message or f"{chosen.label}: done.")
                return HttpResponseRedirect(self._link("change", row.pk))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"{chosen.label}: {self.named(row)}",
            "button": chosen,
            "row": row,
            "form": form,
            "back": self._link("change", row.pk),
        }
        return TemplateResponse(request, "staff/button.html", context)

    def _click(self, request: HttpRequest, button: Button, found: Any, data: dict[str, Any]) -> str:
        tenant_id = self.tenant_of(found)
        actor = audit.staff_actor(request, tenant_id)
        with transaction.atomic(), tenant_context(tenant_id or audit.PLATFORM):
            at = now()  # no earlier: what is projected bears it, and exports wait for open transactions
            row = self.locked(found.pk)
            message = button.run(ButtonClick(actor, request.user, row, data, at))
            action = f"{self.opts.model_name}.{button.name}"
            audit.note(request, actor, action=action, row=row, reason=data["reason"], at=at)
        return message if isinstance(message, str) else ""


class TenantAdmin(StaffAdmin):
    """Pages of a table whose rows belong to tenants: closed until there is an acting tenant, then only that one's rows.

    Every view of the page, with the rendering of its template, runs in one transaction bound to that tenant, so the
    database itself keeps other tenants' rows away; the filter in the query is the first wall.
    """

    tenant_field: ClassVar[str] = "tenant_id"

    def get_urls(self) -> list[URLPattern]:
        """Bind every address of the page."""
        patterns = super().get_urls()
        for pattern in patterns:
            if pattern.name is not None:  # the nameless one only redirects
                pattern.callback = _bound(self, pattern.callback)
        return patterns

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Keep the acting tenant's rows."""
        chosen = acting_tenant.current(request)
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.filter(**{self.tenant_field: chosen.tenant_id}) if chosen else rows.none()


def _bound(page: TenantAdmin, view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not page.admin_site.has_permission(request):
            return view(request, *args, **kwargs)
        if not sees(request.user, page.area):
            raise PermissionDenied
        chosen = acting_tenant.current(request)
        if chosen is None:
            return HttpResponseRedirect(
                f"{reverse('admin:acting_tenant')}?{urlencode({'next': request.get_full_path()})}"
            )
        with tenant_context(chosen.tenant_id):
            response = view(request, *args, **kwargs)
            if isinstance(response, TemplateResponse) and not response.is_rendered:
                response.render()
        return response

    return inner


def link_action(title: str, address: str, *, icon: str = "", danger: bool = False) -> dict[str, Any]:
    """One button in the head of a page, in the theme's form."""
    variant = ActionVariant.DANGER if danger else ActionVariant.DEFAULT
    return {"title": title, "path": address, "icon": icon, "variant": variant, "attrs": {}, "dialog": None}


def _filled(kind: type[ReasonForm], request: HttpRequest, row: Model) -> ReasonForm:
    form = kind(request.POST if request.method == "POST" else None)
    if isinstance(form, ConfirmedForm):
        form.expected = str(row)
        form.fields["confirmation"].help_text = f"Type “{row}”."
    return form


def show_refusal(refusal: PlatformError, form: Form) -> None:
    """Write a refusal into the form it answers."""
    form.add_error(None, refusal.detail)
    for fault in refusal.errors:
        name = fault.field if fault.field in form.fields else None
        form.add_error(name, ValidationError(fault.message, code=fault.code))


def _filtered(one: Any) -> str:
    """What a filter of a list reads: its field, or the parameter of a filter of our own."""
    if isinstance(one, type):
        return str(getattr(one, "parameter_name", ""))
    return str(one if isinstance(one, str) else one[0])
