"""Columns of the ledger's admin pages. The admin site of `organizations` makes the pages and binds the tenant."""

from typing import Any, ClassVar

from .models import Event, Pending


class EventColumns:
    """Recorded events, read-only."""

    model: ClassVar = Event
    list_display: ClassVar[Any] = (
        "occurred_at",
        "type",
        "resource_type",
        "resource_id",
        "who",
        "credential",
        "request_id",
    )
    list_filter: ClassVar[Any] = ("resource_type", "subject_kind")
    search_fields: ClassVar[Any] = ("=type", "=resource_id", "=request_id", "=subject_id", "=credential")
    search_help_text = "Type, resource id, request id, subject or credential, in full."
    ordering: ClassVar[Any] = ("-occurred_at", "-id")
    date_hierarchy = "occurred_at"
    fieldsets: ClassVar[Any] = (
        (None, {"fields": ("id", "type", "version", "occurred_at", "tenant_id")}),
        ("What", {"fields": ("resource_type", "resource_id", "resource_version", "payload")}),
        ("Who", {"fields": ("who", "subject_id", "subject_kind", "credential", "membership_id", "request_id")}),
    )
    readonly_fields: ClassVar[Any] = ("who", "payload")


class PendingColumns:
    """Events that a subscriber has not handled yet."""

    model: ClassVar = Pending
    list_display: ClassVar[Any] = ("subscriber", "event_id", "attempts", "due_at", "last_error")
    list_filter: ClassVar[Any] = ("subscriber",)
    search_fields: ClassVar[Any] = ("=event_id",)
    search_help_text = "Event id, in full."
    ordering: ClassVar[Any] = ("due_at", "id")
    fields: ClassVar[Any] = ("id", "tenant_id", "event_id", "subscriber", "attempts", "due_at", "last_error")
