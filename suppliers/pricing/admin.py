"""Links from the staff's pages of prices to the page that explains one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from organizations.staff.tenant_admin import link_action


class LeadsToWhy:
    """A page of what prices come from, whose list and rows lead to "Why this price"."""

    def why_of(self, row: Any) -> dict[str, Any]:
        """Return what the form of the page begins with."""
        return {"currency": currency} if (currency := getattr(row, "currency", "")) else {}

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """Lead from one row."""
        return [*super().links(request, row), _why(self.why_of(row))]  # type: ignore[misc]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Lead from the list."""
        response: HttpResponse = super().changelist_view(request, extra_context)  # type: ignore[misc]
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            listed["actions_list"] = [*listed.get("actions_list", ()), _why({})]
        return response


def _why(given: dict[str, Any]) -> dict[str, Any]:
    query = f"?{urlencode(given)}" if given else ""
    return link_action("Why this price", reverse("admin:suppliers_price_why") + query, icon="help")
