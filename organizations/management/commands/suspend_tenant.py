"""`manage.py suspend_tenant`: suspends a tenant, unless it is suspended."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from core import clock
from core.actor import system_actor
from organizations.actions.tenants import suspend_tenant
from organizations.management.base import TenantCommand, locked_tenant
from organizations.models import Tenant


class Command(TenantCommand):
    """Suspend a tenant."""

    help = "Suspends a tenant. A suspended tenant stays unchanged."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add arguments for the tenant and the reason."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--reason", default="")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Suspend the tenant unless it is suspended."""
        with transaction.atomic():
            tenant = locked_tenant(options["tenant"])
            changed = tenant.status != Tenant.Status.SUSPENDED
            if changed:
                suspend_tenant(actor=system_actor(tenant.id), tenant=tenant, reason=options["reason"], at=clock.now())
        return {"tenant_id": str(tenant.id), "slug": tenant.slug, "status": tenant.status, "changed": changed}
