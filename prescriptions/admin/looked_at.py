"""Base of lists of patients' data: each look at a list, its export or one row leaves an access record."""

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse

from organizations.staff.exports import MOST_ROWS
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin

from .looks import note_look


class LookedAtAdmin(TenantAdmin):
    """Pages of a table whose rows name a patient in `patient_id`; `kind` is what the records call a row."""

    area = Area.RECORDS
    kind: ClassVar[str]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list; whose rows are on the page is recorded."""
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            shown = [row.patient_id for row in listed["cl"].result_list]
            note_look(request, shown, kind=self.kind, count=len(shown), parameters=sorted(request.GET))
        return response

    def export_view(self, request: HttpRequest) -> HttpResponse:
        """Return the list as CSV, recorded alike."""
        response = super().export_view(request)
        rows = self.get_changelist_instance(request).get_queryset(request)[:MOST_ROWS]
        shown = [row.patient_id for row in rows]
        note_look(request, shown, kind=self.kind, count=len(shown), parameters=sorted({*request.GET, "export"}))
        return response

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show one row; the look is recorded."""
        row = kwargs["obj"]
        note_look(request, [row.patient_id], kind=self.kind, key=str(row.pk))
        return super().render_change_form(request, context, *args, **kwargs)
