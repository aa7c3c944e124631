"""The staff's page of exceptions in trade: the queues with their counts, and the rows of one."""

from typing import Any, Final
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from organizations.staff.pages import SharedPage, register_page
from organizations.staff.roles import Area

from .queues import PAGE, Exceptional, Queue, counts, rows_of, seen_by

_MOST_PAGES: Final = 10_000


@register_page
class ExceptionsPage(SharedPage):
    """What needs attention in the trade of all tenants, by queues."""

    area = Area.CATALOG
    name = "suppliers_exceptions"
    address = "suppliers/exceptions/"
    title = "Exceptions"

    def is_open_to(self, user: Any) -> bool:
        """Open the page to whoever sees one of its queues."""
        return bool(seen_by(user))

    def view(self, request: HttpRequest) -> HttpResponse:
        """Show the queues, and the rows of the chosen one.

        :raises BadRequest: the queue or the page is not known; all must not be taken for a part.
        """
        queues = seen_by(request.user)
        own = {one.name: one for one in queues if not one.is_of_alerts}
        name, number = (request.GET.get(key, "") for key in ("queue", "page"))
        is_page = number == "" or (number.isascii() and number.isdigit() and 0 < int(number[:9]) <= _MOST_PAGES)
        if (name and name not in own) or not is_page:
            raise BadRequest
        page, chosen = int(number or 1), own.get(name)
        found = rows_of(chosen, (page - 1) * PAGE) if chosen else []
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": self.title,
            "queues": [{"of": one, "count": count, "link": _address(one)} for one, count in counts(queues)],
            "chosen": chosen,
            "rows": [{"of": one, "link": _acting(chosen, one)} for one in found[:PAGE]] if chosen else [],
            "next": urlencode({"queue": name, "page": str(page + 1)}) if len(found) > PAGE else "",
        }
        return TemplateResponse(request, "suppliers/exceptions.html", context)


def _address(queue: Queue) -> str:
    """Return where the rows of a queue are shown."""
    if queue.is_of_alerts:
        return f"{reverse('admin:suppliers_notification_queue')}?{urlencode({'type': queue.name})}"
    return f"{reverse('admin:suppliers_exceptions')}?{urlencode({'queue': queue.name})}"


def _acting(queue: Queue, row: Exceptional) -> str:
    """Return the address that makes a tenant the acting one and then shows its row."""
    then = reverse(f"admin:{queue.page}", args=[row.row_id])
    return f"{reverse('admin:acting_tenant')}?{urlencode({'tenant': row.tenant_id, 'next': then})}"
