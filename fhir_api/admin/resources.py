"""Resources of the acting tenant: what stands in them, their versions, and what changed. Every look leaves an access record."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.paginator import InfinitePaginator

from fhir_api.access.patients import patients_of
from fhir_api.access.records import Access, record
from fhir_api.integrity import reference_keys
from fhir_api.resources.types import NUMBERS
from fhir_api.store.models import Method, Posting, Resource
from organizations.staff import acting_tenant
from organizations.staff.audit import staff_actor
from organizations.staff.columns import column
from organizations.staff.exports import MOST_ROWS
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin

from .versions import Shown, differences, name_of, version, versions


class TypeFilter(admin.SimpleListFilter):
    """Chooses a type."""

    title = "type"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """All types."""
        return [(name, name) for name in NUMBERS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the type's resources."""
        number = NUMBERS.get(self.value() or "")
        return queryset.filter(type=number) if number else queryset


@admin.register(Resource)
class ResourceAdmin(TenantAdmin):
    """The acting tenant's clinical record. A list shows names and times only; a page shows the resource."""

    area = Area.RECORDS
    list_display = ("name", "version", "how", "last_updated")
    list_display_links = ("name",)
    list_filter = (TypeFilter, "deleted")
    search_fields = ("=fhir_id",)
    search_help_text = "An id in full, or Type/id: that resource and all that refer to it."
    ordering = ("-last_updated", "-id")
    paginator = InfinitePaginator
    fieldsets = (
        (None, {"fields": ("name", "version", "how", "last_updated")}),
        ("Resource", {"fields": ("content",)}),
        ("Versions", {"fields": ("past",)}),
    )
    readonly_fields = ("name", "how", "content", "past")

    def further_urls(self) -> list[URLPattern]:
        """The page of one version."""
        return [
            path(
                "<path:object_id>/versions/<int:number>/",
                self.admin_site.admin_view(self.version_view),
                name="fhir_api_resource_version",
            )
        ]

    @column(description="Resource", ordering="fhir_id")
    def name(self, row: Resource) -> str:
        """Type and id."""
        return name_of(row)

    @column(description="Last change")
    def how(self, row: Resource) -> str:
        """How the current version came about."""
        return Shown(row.version, row.last_updated, Method(row.method), "").how

    @column(description="Content")
    def content(self, row: Resource) -> SafeString:
        """The resource in lines."""
        found = version(row, row.version)
        return _lines(found) if found else SafeString("")

    @column(description="Newest first")
    def past(self, row: Resource) -> SafeString:
        """The versions, each with a link to what it changed."""
        return render_to_string("fhir_api/versions.html", {"row": row, "versions": versions(row)})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find an id, or a resource with all that refer to it."""
        kind, slash, fhir_id = search_term.strip().rpartition("/")
        if not fhir_id:
            return queryset, False
        if not slash:
            return queryset.filter(fhir_id=fhir_id), False
        if kind not in NUMBERS:
            return queryset.none(), False
        referring = Posting.objects.filter(key__in=reference_keys(kind, fhir_id)).values("resource_id")
        return queryset.filter(Q(type=NUMBERS[kind], fhir_id=fhir_id) | Q(id__in=referring)), False

    # -- looking leaves a record -----------------------------------------------------------------------------------------

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list; whose resources are on the page is recorded."""
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            _note(request, _named(listed["cl"].result_list), "", parameters=sorted(request.GET))
        return response

    def export_view(self, request: HttpRequest) -> HttpResponse:
        """The list as CSV, recorded alike."""
        response = super().export_view(request)
        rows = self.get_changelist_instance(request).get_queryset(request)[:MOST_ROWS]
        _note(request, _named(rows), "", parameters=sorted({*request.GET, "export"}))
        return response

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The page of a resource with its versions."""
        row: Resource = kwargs["obj"]
        _note(request, [(name_of(row), one.body) for one in versions(row)], name_of(row))
        return super().render_change_form(request, context, *args, **kwargs)

    def version_view(self, request: HttpRequest, object_id: str, number: int) -> HttpResponse:
        """One version, and what differs from the one before or from the one that `with` names."""
        row = self.get_object(request, object_id)
        shown = version(row, number) if row else None
        if row is None or shown is None or not self.has_view_permission(request):
            raise Http404
        asked = request.GET.get("with", "")
        other = version(row, int(asked[:9]) if asked.isascii() and asked.isdigit() else number - 1)
        bodies = [(name_of(row), one.body) for one in (shown, other) if one]
        _note(request, bodies, name_of(row), parameters=("version",))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"{name_of(row)}, version {number}",
            "row": row,
            "shown": shown,
            "other": other,
            "content": _lines(shown),
            "changes": differences(other, shown),
            "versions": versions(row),
            "back": self._link("change", row.pk),
        }
        return TemplateResponse(request, "fhir_api/version.html", context)


def _lines(shown: Shown) -> SafeString:
    if not shown.body:
        return SafeString("–")
    return format_html('<pre style="white-space: pre-wrap; overflow-wrap: anywhere">{}</pre>', shown.lines)


def _named(rows: Iterable[Resource]) -> list[tuple[str, str]]:
    return [(name_of(row), row.body or "") for row in rows]


def _note(request: HttpRequest, found: Sequence[tuple[str, str]], name: str, *, parameters: Sequence[str] = ()) -> None:
    """Record what is shown: names with bodies of a list (`name` "") or of one resource's versions, and the reason given."""
    chosen = acting_tenant.current(request)
    if chosen is None:
        raise PermissionDenied  # its time ended while the page was made
    kind, _, fhir_id = name.partition("/")
    whose = patients_of((one.partition("/")[0], one.partition("/")[2], body.encode() or None) for one, body in found)
    count = min(1, len(found)) if name else len(found)
    read = Access("staff", kind, fhir_id, parameters, whose, count, reason=chosen.reason)
    record(staff_actor(request, chosen.tenant_id), read)
