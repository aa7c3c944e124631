"""Pages of replays: a stretch of the past sent again, how far it is, and stopping it."""

from typing import Any

from django.contrib import admin
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin
from webhooks import states
from webhooks.models import Replay

from .buttons import REPLAY_BUTTONS
from .filters import EndpointFilter, ReplayStateFilter
from .wording import COLOURS


@admin.register(Replay)
class ReplayAdmin(TenantAdmin):
    """Wishes of the acting tenant to send something again."""

    area = Area.WEBHOOKS
    buttons = REPLAY_BUTTONS
    list_display = ("created_at", "endpoint_url", "only", "state_label", "progress", "examined", "queued")
    list_filter = (ReplayStateFilter, EndpointFilter)
    search_fields = ("=id",)
    search_help_text = "Replay id, in full."
    ordering = ("-created_at", "-id")
    list_select_related = ("endpoint",)
    fieldsets = (
        (None, {"fields": ("id", "tenant", "endpoint_url", "state_label", "progress", "error")}),
        ("What", {"fields": ("since", "until", "only", "all_types")}),
        ("How far", {"fields": ("examined", "queued", "cursor_at", "started_at", "finished_at")}),
        ("Who", {"fields": ("requested_by", "created_at")}),
    )
    readonly_fields = ("endpoint_url", "state_label", "progress", "all_types")

    def locked(self, key: Any) -> Replay:
        """The row without a lock: its button takes the endpoint's first, as the interface does."""
        found: Replay = Replay.objects.get(pk=key)
        return found

    @column(description="State", ordering="state", label=COLOURS)
    def state_label(self, row: Replay) -> str:
        """The state as a label."""
        return row.state

    @column(description="Endpoint")
    def endpoint_url(self, row: Any) -> str:
        """Where it goes."""
        return str(row.endpoint.url)

    @column(description="Types")
    def all_types(self, row: Replay) -> str:
        """Which kinds of events."""
        return columns.words(row.types) if row.types else "all"

    @column(description="Progress")
    def progress(self, row: Replay) -> SafeString:
        """How much of the stretch of time is behind it."""
        return render_to_string("webhooks/progress.html", {"percent": percent(row), "state": row.state})


def percent(row: Replay) -> int:
    """Tell how much of the stretch has been gone through."""
    if row.state == states.COMPLETED:
        return 100
    if row.cursor_at is None:
        return 0
    done = (row.cursor_at - row.since) / (row.until - row.since)
    return max(0, min(99, int(done * 100)))
