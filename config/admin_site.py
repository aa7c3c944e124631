"""The staff's admin as a whole: its side bar and its overview. The roof may look into every floor, so they stand here."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest
from django.urls import reverse

from core.clock import now
from core.db import role_context
from core.row_security import DISPATCHER
from ledger.public import backlog
from organizations.models import ApiKey, OAuthApplication, SecurityLogEntry, Tenant
from organizations.staff.roles import Area, sees
from webhooks.models import Attempt

SOON = timedelta(days=30)
DAY = timedelta(days=1)
SAMPLE = 1_000

# Title, icon, and the pages: area, icon, title, model.
_GROUPS: tuple[tuple[str, tuple[tuple[Area, str, str, str], ...]], ...] = (
    (
        "Tenants and people",
        (
            (Area.TENANTS, "apartment", "Tenants", "organizations_tenant"),
            (Area.ORGANIZATIONS, "account_tree", "Organizations", "organizations_organization"),
            (Area.MEMBERSHIPS, "group", "Memberships", "organizations_membership"),
            (Area.PEOPLE, "person", "People", "organizations_user"),
            (Area.ROLES, "badge", "Roles", "organizations_role"),
        ),
    ),
    (
        "Access",
        (
            (Area.KEYS, "key", "API keys", "organizations_apikey"),
            (Area.KEYS, "smart_toy", "Service accounts", "organizations_serviceaccount"),
            (Area.CLIENTS, "apps", "OAuth clients", "organizations_oauthapplication"),
            (Area.SECURITY, "security", "Security log", "organizations_securitylogentry"),
            (Area.SECURITY, "history", "Staff actions", "admin_logentry"),
        ),
    ),
    (
        "In the acting tenant",
        (
            (Area.CONFIGURATION, "tune", "Configuration", "organizations_tenantconfiguration"),
            (Area.CONFIGURATION, "difference", "Configuration changes", "organizations_configurationversion"),
            (Area.ENTITLEMENTS, "sell", "Entitlements", "organizations_entitlement"),
            (Area.ENTITLEMENTS, "speed", "Quotas", "organizations_quota"),
            (Area.LOCATIONS, "location_on", "Locations", "organizations_location"),
            (Area.JOBS, "work_history", "Jobs", "organizations_job"),
            (Area.CATALOG, "inventory_2", "Products", "suppliers_product"),
            (Area.CATALOG, "package_2", "Packagings", "suppliers_packaging"),
            (Area.CATALOG, "category", "Own categories", "suppliers_category"),
            (Area.WEBHOOKS, "webhook", "Webhook endpoints", "webhooks_endpoint"),
            (Area.WEBHOOKS, "bolt", "Webhook events", "webhooks_event"),
            (Area.WEBHOOKS, "send", "Deliveries", "webhooks_delivery"),
            (Area.WEBHOOKS, "replay", "Replays", "webhooks_replay"),
            (Area.RECORDS, "clinical_notes", "Clinical record", "fhir_api_resource"),
            (Area.RECORDS, "dictionary", "Value sets", "fhir_api_valueset"),
            (Area.JOBS, "download", "Exports of the record", "fhir_api_exportjob"),
            (Area.SECURITY, "visibility_lock", "Access to patients' data", "fhir_api_accessrecord"),
            (Area.LEDGER, "receipt_long", "Ledger events", "ledger_event"),
            (Area.LEDGER, "pending_actions", "Ledger pending", "ledger_pending"),
        ),
    ),
    (
        "Shared by all tenants",
        (
            (Area.CATALOG, "schema", "Platform categories", "suppliers_platformcategory"),
            (Area.LOCATIONS, "local_pharmacy", "Pharmacy directory", "organizations_pharmacylisting"),
            (Area.CONFIGURATION, "lock", "Organization settings", "organizations_organizationconfiguration"),
        ),
    ),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The side bar, with the pages the role sees."""
    top = [
        {"title": "Overview", "icon": "dashboard", "link": reverse("admin:index")},
        {"title": "Acting tenant", "icon": "visibility", "link": reverse("admin:acting_tenant")},
    ]
    groups: list[dict[str, Any]] = [{"title": "", "separator": False, "items": top}]
    for title, pages in _GROUPS:
        items = [
            {"title": name, "icon": icon, "link": reverse(f"admin:{model}_changelist")}
            for area, icon, name, model in pages
            if sees(request.user, area)
        ]
        if items:
            groups.append({"title": title, "separator": True, "collapsible": False, "items": items})
    return groups


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the first page shows, as far as the role sees it; numbers over all tenants, no rows of any."""
    at = now()
    user = request.user
    return context | {
        "tenants_by_status": _tenants() if sees(user, Area.TENANTS) else None,
        "refusals": _refusals(at) if sees(user, Area.SECURITY) else None,
        "backlog": backlog() if sees(user, Area.LEDGER) else None,
        "webhooks": _webhooks() if sees(user, Area.WEBHOOKS) else None,
        "expiring_keys": _expiring(at) if sees(user, Area.KEYS) else None,
        "waiting_clients": _waiting() if sees(user, Area.CLIENTS) else None,
    }


def _tenants() -> list[dict[str, Any]]:
    counted = dict(Tenant.objects.values_list("status").annotate(Count("id")).order_by("status"))
    address = reverse("admin:organizations_tenant_changelist")
    return [
        {"status": status, "count": counted.get(status, 0), "link": f"{address}?status__exact={status}"}
        for status in Tenant.Status.values
    ]


def _refusals(at: datetime) -> dict[str, Any]:
    refused = SecurityLogEntry.objects.filter(~Q(code__startswith="staff_"), at__gte=at - DAY)
    codes = refused.values_list("code").annotate(number=Count("id")).order_by("-number", "code")[:6]
    return {"total": refused.count(), "codes": list(codes)}


def _webhooks() -> dict[str, Any]:
    latest = Attempt.objects.order_by("-id").values_list("status", flat=True)[:SAMPLE]
    with role_context(DISPATCHER):
        statuses = list(latest)
    good = sum(1 for status in statuses if status is not None and 200 <= status < 300)
    percent = round(100 * good / len(statuses), 1) if statuses else None
    return {"attempts": len(statuses), "good": good, "percent": percent}


def _expiring(at: datetime) -> dict[str, Any]:
    rows = ApiKey.objects.filter(status__in=["active", "rotating"], expires_at__lte=at + SOON)
    shown = rows.select_related("tenant").defer("digest").order_by("expires_at", "id")[:8]
    return {"total": rows.count(), "rows": list(shown)}


def _waiting() -> int:
    return int(OAuthApplication.objects.filter(approved_at=None).count())
