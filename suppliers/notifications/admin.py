"""Admin pages of notifications, read-only: messages and alerts of the acting tenant, and the open alerts of all tenants.

No page shows the text of a message.
"""

from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from organizations.staff.columns import column
from organizations.staff.roles import Area, sees
from organizations.staff.tenant_admin import TenantAdmin

from .models import Notification
from .queue import PAGE, open_alerts
from .states import Type

SEVERITY_COLOURS: Final = {"info": "info", "warning": "warning", "critical": "danger"}
STANDING_COLOURS: Final = {"open": "warning", "acknowledged": "info", "closed": "success", "archived": "success"}
_MOST_PAGES: Final = 10_000


@admin.register(Notification)
class NotificationAdmin(TenantAdmin):
    """Messages and alerts of the acting tenant."""

    area = Area.CATALOG
    list_display = ("created_at", "type", "grade", "title", "about", "standing", "acknowledged_at")
    list_filter = ("kind", "type", "severity")
    search_fields = ("=resource_id", "=thread_id")
    search_help_text = "Id of what it is about, or of the thread, in full."
    ordering = ("-created_at", "-id")
    fields = (
        "id", "tenant_id", "kind", "type", "grade", "title", "told", "about", "thread_id", "from_tenant_id", "location_id",
        "in_app", "standing", "acknowledged_at", "acknowledged_by", "closed_at", "archived_at", "created_at", "updated_at",
        "version",
    )  # fmt: skip
    readonly_fields = ("grade", "told", "about", "standing")

    def get_urls(self) -> list[URLPattern]:
        """Add the queue, which needs no acting tenant."""
        queue = path("queue/", self.admin_site.admin_view(self.queue_view), name="suppliers_notification_queue")
        return [queue, *super().get_urls()]

    @column(description="Severity", ordering="severity", label=SEVERITY_COLOURS)
    def grade(self, row: Notification) -> str:
        """The severity as a coloured label."""
        return str(row.severity)

    @column(description="Text of the alert")
    def told(self, row: Notification) -> str:
        """What an alert says; the text of a message is for its parties alone."""
        return row.body if row.type != Type.MESSAGE else "–"

    @column(description="About")
    def about(self, row: Notification) -> str:
        """What it is about."""
        return f"{row.resource_type} {row.resource_id}"

    @column(description="Standing", label=STANDING_COLOURS)
    def standing(self, row: Notification) -> str:
        """What became of it; nothing for a message that stands in the list."""
        if row.archived_at:
            return "archived"
        if row.type == Type.MESSAGE:
            return ""
        return "closed" if row.closed_at else "acknowledged" if row.acknowledged_at else "open"

    def queue_view(self, request: HttpRequest) -> HttpResponse:
        """Show the open alerts of all tenants, with the number of each type.

        :raises PermissionDenied: the role does not see the area.
        :raises BadRequest: a filter is not valid; the whole list must not be taken for a filtered one.
        """
        if not sees(request.user, self.area):
            raise PermissionDenied
        kind, number = (request.GET.get(name, "") for name in ("type", "page"))
        is_page = number == "" or (number.isascii() and number.isdigit() and 0 < int(number[:9]) <= _MOST_PAGES)
        if kind not in ("", *Type.values) or not is_page:
            raise BadRequest
        page = int(number or 1)
        counts, found = open_alerts(kind, (page - 1) * PAGE)
        rows = [
            {"of": one, "colour": SEVERITY_COLOURS[one.severity], "link": _acting(one.tenant_id, one.notification_id)}
            for one in found[:PAGE]
        ]
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Open alerts",
            "counts": counts,
            "total": sum(one.open for one in counts),
            "rows": rows,
            "type": kind,
            "next": urlencode({"type": kind, "page": str(page + 1)}) if len(found) > PAGE else "",
        }
        return TemplateResponse(request, "suppliers/open_alerts.html", context)


def _acting(tenant_id: Any, notification_id: Any) -> str:
    """Return the address that makes a tenant the acting one and then shows its notification."""
    then = reverse("admin:suppliers_notification_change", args=[notification_id])
    return f"{reverse('admin:acting_tenant')}?{urlencode({'tenant': tenant_id, 'next': then})}"
