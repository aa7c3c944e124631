"""Read-only admin pages of the ledger: the acting tenant's events."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.paginator import InfinitePaginator

from ledger.admin import EventColumns, PendingColumns
from organizations.models import User
from organizations.staff import columns
from organizations.staff.columns import column
from organizations.staff.roles import Area
from organizations.staff.tenant_admin import TenantAdmin


@admin.register(EventColumns.model)
class EventAdmin(EventColumns, TenantAdmin):
    """Events of the acting tenant."""

    area = Area.LEDGER
    paginator = InfinitePaginator
    list_fullwidth = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Add the e-mail address of the subject to each row."""
        emails = User.objects.filter(pk=OuterRef("subject_id")).values("email")[:1]
        rows: QuerySet[Any] = (
            super().get_queryset(request).annotate(subject_email=Subquery(emails, output_field=models.CharField()))
        )
        return rows

    @column(description="Who")
    def who(self, row: Any) -> str:
        """The person's e-mail address, or the kind of subject."""
        return str(row.subject_email or row.subject_kind)

    @column(description="Payload")
    def payload(self, row: Any) -> SafeString:
        """The event's data as indented JSON."""
        return columns.json_lines(row.data)


@admin.register(PendingColumns.model)
class PendingAdmin(PendingColumns, TenantAdmin):
    """Events of the acting tenant that a subscriber has not handled yet."""

    area = Area.LEDGER
