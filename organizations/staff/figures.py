"""Numbers over all tenants for the first page of the staff's admin: tenants, credentials, refusals."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Q
from django.urls import reverse

from organizations.models import ApiKey, OAuthApplication, SecurityLogEntry, Tenant

_SOON: Final = timedelta(days=30)
_DAY: Final = timedelta(days=1)


def tenants_by_status() -> list[dict[str, Any]]:
    """Count the tenants in each status, with the address of their list."""
    counted = dict(Tenant.objects.values_list("status").annotate(Count("id")).order_by("status"))
    address = reverse("admin:organizations_tenant_changelist")
    return [
        {"status": status, "count": counted.get(status, 0), "link": f"{address}?status__exact={status}"}
        for status in Tenant.Status.values
    ]


def refusals(at: datetime) -> dict[str, Any]:
    """Count the refused requests of the last 24 hours, with the six most frequent codes."""
    refused = SecurityLogEntry.objects.filter(~Q(code__startswith="staff_"), at__gte=at - _DAY)
    codes = refused.values_list("code").annotate(number=Count("id")).order_by("-number", "code")[:6]
    return {"total": refused.count(), "codes": list(codes)}


def expiring_keys(at: datetime) -> dict[str, Any]:
    """Count the API keys that expire within 30 days, and return the first eight."""
    rows = ApiKey.objects.filter(status__in=["active", "rotating"], expires_at__lte=at + _SOON)
    shown = rows.select_related("tenant").defer("digest").order_by("expires_at", "id")[:8]
    return {"total": rows.count(), "rows": list(shown)}


def waiting_clients() -> int:
    """Count the OAuth clients that are not approved yet."""
    return int(OAuthApplication.objects.filter(approved_at=None).count())
