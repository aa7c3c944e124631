"""The two base classes of admin pages: read-only lists with buttons, for global tables and for tables of tenants.

A page names its `area`; a user whose role does not see the area gets 403. Only buttons change rows.
"""

from collections.abc import Callable, Sequence
from datetime import MAXYEAR
from typing import Any, ClassVar, Protocol
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
from .buttons import Alarm, Button, ButtonClick, ConfirmedForm, Later, ReasonForm, Shown
from .columns import column
from .roles import Area, does, sees

MENU_FROM = 3
LOOKUPS = frozenset({"", "exact", "id__exact", "in", "isnull", "isempty", "icontains"})
DAYS = frozenset({"year", "month", "day"})


class StaffAdmin(ModelAdmin):  # type: ignore[misc]  # the theme has no types
    """Pages of a global table."""

    area: ClassVar[Area]
    buttons: ClassVar[Sequence[Button]] = ()
    additions: ClassVar[Sequence[Button]] = ()  # above the list: `run` returns the row that it added
    in_palette: ClassVar[bool] = False  # whether Ctrl-K finds its rows
    actions = None
    list_per_page = 50
    list_filter_submit = True
    show_full_result_count = False
    view_on_site = False

    # -- permissions -------------------------------------------------------------------------------------------------

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the page's link to roles that see its area."""
        return sees(request.user, self.area)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Open the page to roles that see its area."""
        return sees(request.user, self.area)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse Django's add form: rows are added by actions."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse Django's change form: rows are changed by buttons."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse Django's deletion."""
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow only the lookups that the list's own filters use; Django would allow any lookup of any field.

        Some lookups would reveal the start of a stored digest, and some fail in the database (`__range` of one value,
        `__regex`).
        """
        fields = {field.name for field in self.opts.get_fields()} | {
            field.attname for field in self.opts.concrete_fields
        }
        offered = {_filter_parameter(one) for one in self.list_filter}
        name, _, operator = lookup.partition("__")
        if name == self.date_hierarchy and operator in DAYS:
            return value.isascii() and value.isdigit() and int(value[:9]) < MAXYEAR  # Django computes the next year
        if name in fields and (name not in offered or operator not in LOOKUPS):
            return False
        allowed: bool = super().lookup_allowed(lookup, value, request)
        return allowed

    @column(description="Status", ordering="status", label=columns.STATUS_COLOURS)
    def status_label(self, row: Any) -> str:
        """The status as a coloured label."""
        return str(row.status)

    # -- addresses ---------------------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        """Add the addresses of the export and of the buttons."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        view = self.admin_site.admin_view
        return [
            path("export/", view(self.export_view), name=f"{name}_export"),
            path("do/<slug:button>/", view(self.addition_view), name=f"{name}_addition"),
            path("<path:object_id>/do/<slug:button>/", view(self.button_view), name=f"{name}_button"),
            *self.further_urls(),
            *super().get_urls(),
        ]

    def further_urls(self) -> list[URLPattern]:
        """Return addresses that only this page has."""
        return []

    def _link(self, kind: str, *arguments: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{kind}", args=arguments)

    # -- reading -----------------------------------------------------------------------------------------------------

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, with a link that exports the filtered rows."""
        response: HttpResponse = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data is not None:
            address = f"{self._link('export')}?{request.GET.urlencode()}"
            response.context_data["actions_list"] = [
                *response.context_data.get("actions_list", ()),
                *[
                    link_action(one.label, self._link("addition", one.name), icon=one.icon)
                    for one in self.additions
                    if does(request.user, one.permission)
                ],
                link_action("Export CSV", address, icon="download"),
            ]
            menu = response.context_data["sidebar_navigation"]
            names = {str(item["link"]): item["title"] for group in menu for item in group["items"]}
            response.context_data["title"] = names.get(request.path, response.context_data["title"])
        return response

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show one row, with the buttons that its state and the user's role allow."""
        row = kwargs.get("obj")
        if row is not None:
            context["actions_detail"] = [*self.links(request, row), *self._buttons_of(request, row)]
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def look_up(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        """Read what the columns of these rows show beside the rows themselves."""

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """Return further links for the page of one row."""
        return []

    def _buttons_of(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        actions = [
            link_action(button.label, self._link("button", row.pk, button.name), icon=button.icon, danger=button.danger)
            for button in self.buttons
            if does(request.user, button.permission) and button.shown(row)
        ]
        if len(actions) < MENU_FROM:
            return actions
        return [{"title": "Actions", "icon": "bolt", "variant": ActionVariant.DEFAULT, "attrs": {}, "items": actions}]

    def export_view(self, request: HttpRequest) -> HttpResponse:
        """Return the filtered list as CSV, in one piece because a stream would outlive the transaction.

        :raises BadRequest: a filter is not valid; the whole list must not be taken for a filtered one.
        """
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            rows = list(self.get_changelist_instance(request).get_queryset(request)[: exports.MOST_ROWS])
        except IncorrectLookupParameters:
            raise BadRequest from None
        self.look_up(request, rows)
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
        """Return the name of the row in the title of a button's page."""
        return str(row)

    def tenant_of(self, row: Any) -> UUID | None:
        """Return the tenant in whose ledger a change of this row is recorded; None for the platform's own ledger."""
        return getattr(row, "tenant_id", None)

    def locked(self, key: Any) -> Any:
        """Return the row that a button changes, locked until the transaction ends."""
        return self.model._base_manager.select_for_update(no_key=True).get(pk=key)

    def button_view(self, request: HttpRequest, object_id: str, button: str) -> HttpResponse:
        """Ask for the reason, run the button's action, and return to the row."""
        chosen = next((one for one in self.buttons if one.name == button), None)
        row = self.get_object(request, unquote(object_id))
        if row is None or chosen is None or not self.has_view_permission(request):
            raise Http404
        if not does(request.user, chosen.permission):
            raise PermissionDenied
        form = _form_of(chosen.form, request, row)
        if request.method == "POST" and form.is_valid():
            try:
                message = self._click(request, chosen, row, form.cleaned_data)
            except PlatformError as refusal:
                show_refusal(refusal, form)
            else:
                return self._answer(request, chosen, row, message)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"{chosen.label}: {self.named(row)}",
            "button": chosen,
            "row": row,
            "form": form,
            "beside": form.beside(row),
            "back": self._link("change", row.pk),
        }
        return TemplateResponse(request, "staff/button.html", context)

    def addition_view(self, request: HttpRequest, button: str) -> HttpResponse:
        """Ask for the members and the reason, run the action that adds a row, and go to the row."""
        chosen = next((one for one in self.additions if one.name == button), None)
        if chosen is None or not self.has_view_permission(request):
            raise Http404
        if not does(request.user, chosen.permission):
            raise PermissionDenied
        form = chosen.form(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            try:
                row = self._add(request, chosen, form.cleaned_data)
            except PlatformError as refusal:
                show_refusal(refusal, form)
            else:
                return self._answer(request, chosen, row, None)
        back = self._link("changelist")
        context = {**self.admin_site.each_context(request), "opts": self.opts, "title": chosen.label, "back": back}
        return TemplateResponse(request, "staff/button.html", {**context, "button": chosen, "form": form})

    def _add(self, request: HttpRequest, button: Button, data: dict[str, Any]) -> Any:
        actor = audit.staff_actor(request)
        with transaction.atomic(), tenant_context(audit.PLATFORM):
            at = now()
            row = button.run(ButtonClick(actor, request.user, None, data, at))
            action = f"{self.opts.model_name}.{button.name}"
            audit.note(request, actor, action=action, row=row, reason=data["reason"], at=at)
        return row

    def _answer(self, request: HttpRequest, button: Button, row: Any, message: Any) -> HttpResponse:
        back = self._link("change", row.pk)
        if isinstance(message, Shown):
            context = {**self.admin_site.each_context(request), "opts": self.opts, "back": back, "shown": message}
            return TemplateResponse(request, "staff/shown.html", {**context, "title": button.label})
        if isinstance(message, Later):
            transaction.on_commit(lambda: messages.info(request, message.run()))
        else:
            tell = messages.error if isinstance(message, Alarm) else messages.success
            tell(request, message if isinstance(message, str) else f"{button.label}: done.")
        return HttpResponseRedirect(back)

    def _click(self, request: HttpRequest, button: Button, shown: Any, data: dict[str, Any]) -> Any:
        tenant_id = self.tenant_of(shown)
        actor = audit.staff_actor(request, tenant_id)
        with transaction.atomic(), tenant_context(tenant_id or audit.PLATFORM):
            at = now()  # inside the transaction: projected resources carry it, and exports wait for open transactions
            row = self.locked(shown.pk)
            message = button.run(ButtonClick(actor, request.user, row, data, at))
            action = f"{self.opts.model_name}.{button.name}"
            audit.note(request, actor, action=action, row=row, reason=data["reason"], at=at)
        return message


class FoundByItsAction:
    """A page whose buttons lock what they change in the lock order of their actions, and not here."""

    model: Any

    def locked(self, key: Any) -> Any:
        """Return the row as it is; its action locks it."""
        return self.model._base_manager.get(pk=key)


class TenantAdmin(StaffAdmin):
    """Pages of a table whose rows belong to tenants. Without an acting tenant they redirect to the choice of one.

    Every view, with the rendering of its template, runs in one transaction bound to the acting tenant. So row security
    keeps other tenants' rows away, in addition to the filter in the query.
    """

    tenant_field: ClassVar[str] = "tenant_id"

    def get_urls(self) -> list[URLPattern]:
        """Bind every view of the page to the acting tenant."""
        patterns = super().get_urls()
        for pattern in patterns:
            if pattern.name is not None:  # the pattern without a name only redirects
                pattern.callback = bound_to_tenant(self, pattern.callback)
        return patterns

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Narrow the rows to those of the acting tenant."""
        chosen = acting_tenant.current(request)
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.filter(**{self.tenant_field: chosen.tenant_id}) if chosen else rows.none()


class Page(Protocol):
    """What `bound_to_tenant` must know of a page."""

    area: ClassVar[Area]
    admin_site: Any


def bound_to_tenant(page: Page, view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Bind a view and the rendering of its template to the acting tenant; without one it redirects to the choice of one.

    :raises PermissionDenied: the role does not see the area.
    """

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
    """Return a button for the head of a page, as the theme expects it."""
    variant = ActionVariant.DANGER if danger else ActionVariant.DEFAULT
    return {"title": title, "path": address, "icon": icon, "variant": variant, "attrs": {}, "dialog": None}


def _form_of(kind: type[ReasonForm], request: HttpRequest, row: Model) -> ReasonForm:
    form = kind(request.POST if request.method == "POST" else None, initial=kind.initial_of(row))
    form.row = row
    if isinstance(form, ConfirmedForm):
        form.expected = str(row)
        form.fields["confirmation"].help_text = f"Type “{row}”."
    return form


def show_refusal(refusal: PlatformError, form: Form) -> None:
    """Add the messages of a refusal to the form."""
    form.add_error(None, refusal.detail)
    for fault in refusal.errors:
        name = fault.field if fault.field in form.fields else None
        form.add_error(name, ValidationError(fault.message, code=fault.code))


def _filter_parameter(one: Any) -> str:
    """Return the field that a list filter reads, or the parameter of a filter class."""
    if isinstance(one, type):
        return str(getattr(one, "parameter_name", ""))
    return str(one if isinstance(one, str) else one[0])
