"""Admin pages of files: what stands in quarantine and what was found, never the content."""

from typing import Any

from django.contrib import admin

from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import TenantAdmin

from .actions import reject_by_staff, rescan_file
from .models import File, FileBinding, ReceivedFile
from .states import FileStatus


def _reject(click: ButtonClick) -> None:
    reject_by_staff(click.actor, click.row, click.at)


def _rescan(click: ButtonClick) -> None:
    rescan_file(click.actor, click.row, click.at)


@admin.register(File)
class FileAdmin(TenantAdmin):
    """Files of the acting tenant."""

    area = Area.CATALOG
    list_display = (
        "name", "purpose", "status_label", "content_type", "size", "scanned_by", "finding", "rejection_reason", "tenant",
        "created_at",
    )  # fmt: skip
    list_filter = ("status", "purpose", "visibility", "rejection_reason", "scanned_by")
    search_fields = ("=sha256", "name__startswith")
    search_help_text = "SHA-256 in full, or how the name begins."
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    list_select_related = ("tenant",)
    fields = (
        "id", "tenant", "name", "title", "purpose", "status", "rejection_reason", "scanned_by", "finding", "content_type",
        "size", "sha256", "visibility", "bound_to", "expires_on", "upload_expires_at", "check_at", "attempts", "created_at",
        "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("bound_to",)
    buttons = (
        Button(
            name="rescan",
            label="Scan again",
            permission=Permission.REVIEW_FILES,
            run=_rescan,
            explains="Nobody can read the content until it has passed. Do this after the scanner has learnt of something new.",
            shown=lambda row: row.status in (FileStatus.SCANNING, FileStatus.READY),
            icon="search",
        ),
        Button(
            name="reject",
            label="Reject",
            permission=Permission.REVIEW_FILES,
            run=_reject,
            explains="Nobody can read the content any more, and it is deleted. This cannot be undone; the tenant can upload the "
            "same content again. Evidence, such as of a licence, is refused as long as it is needed.",
            shown=lambda row: row.status != FileStatus.REJECTED,
            icon="block",
            danger=True,
        ),
    )

    @column(description="Bound to")
    def bound_to(self, row: Any) -> str:
        """What the file belongs to."""
        bound = FileBinding.objects.filter(tenant_id=row.tenant_id, file_id=row.pk).order_by("position", "id")
        return ", ".join(f"{one.resource_type} {one.resource_id}" for one in bound) or "nothing"


@admin.register(ReceivedFile)
class ReceivedFileAdmin(TenantAdmin):
    """Files that documents have handed over to the acting tenant, as they were then."""

    area = Area.CATALOG
    list_display = ("name", "purpose", "content_type", "size", "owner_tenant_id", "tenant", "created_at")
    list_filter = ("purpose",)
    search_fields = ("=file_id", "=owner_tenant_id")
    search_help_text = "Id of the file or of its owner, in full."
    ordering = ("-created_at", "-id")
    list_select_related = ("tenant",)
    fields = (
        "id", "tenant", "file_id", "owner_tenant_id", "name", "title", "purpose", "content_type", "size", "sha256", "expires_on",
        "created_at",
    )  # fmt: skip
