"""Recurring treatments of the acting tenant, for looking only."""

from django.contrib import admin
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from organizations.staff.columns import column
from prescriptions.recurring.models import RecurringTreatment

from .filters import StuckTreatments
from .looked_at import LookedAtAdmin

_COLOURS = {"active": "success", "paused": "warning", "completed": "info", "ended": "info"}
_PROGRESS = ("next_due_on", "drafts_from", "occurrences_created", "occurrences_skipped", "last_prescription_id")


@admin.register(RecurringTreatment)
class RecurringTreatmentAdmin(LookedAtAdmin):
    """Treatments that go on: when the next draft is due, and why one makes none."""

    kind = "RecurringTreatment"
    list_display = ("id", "rhythm", "state_label", "pause_reason", "next_due_on", "patient_id", "created_at")
    list_filter = ("status", StuckTreatments)
    search_fields = ("=id",)
    search_help_text = "An id, in full."
    ordering = ("-created_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "state_label", "pause_reason", "tenant", "version")}),
        ("Who and what", {"fields": ("patient_id", "prescriber_id", "location_id", "template_id", "own_items")}),
        ("Schedule", {"fields": ("rhythm", "start_date", "end_date", "max_occurrences", "lead_days", "review_by")}),
        ("Progress", {"fields": (*_PROGRESS, "auto_create_draft", "created_by", "created_at", "updated_at")}),
    )
    readonly_fields = ("state_label", "rhythm", "own_items")

    @column(description="Status", ordering="status", label=_COLOURS)
    def state_label(self, row: RecurringTreatment) -> str:
        """The status as a label."""
        return str(row.status)

    @column(description="Rhythm")
    def rhythm(self, row: RecurringTreatment) -> str:
        """How often it is due."""
        return str(row)

    @column(description="Items")
    def own_items(self, row: RecurringTreatment) -> SafeString | str:
        """What is prescribed, where no template says so."""
        return render_to_string("prescriptions/wanted.html", {"items": row.items}) if row.items else "by the template"
