"""Choices of a page's filters, searched while one types; those of a tenant's rows in the acting tenant only."""

from typing import Any

from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.http import HttpRequest, HttpResponse

from core.db import tenant_context

from . import acting_tenant
from .tenant_admin import TenantAdmin


class StaffAutocomplete(AutocompleteJsonView):
    """Django's search for choices, bound to the acting tenant where the choices are rows of a tenant."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the choices; without an acting tenant a tenant's table has none.

        :raises PermissionDenied: the parameters name no field, or the user may not see what it refers to.
        """
        _, page, *_ = self.process_request(request)
        chosen = acting_tenant.current(request)
        if chosen is None or not isinstance(page, TenantAdmin):
            return super().get(request, *args, **kwargs)
        with tenant_context(chosen.tenant_id):
            return super().get(request, *args, **kwargs)
