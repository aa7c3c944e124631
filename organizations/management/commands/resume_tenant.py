"""`manage.py resume_tenant`: resumes a tenant, unless it is active."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from core import clock
from core.actor import system_actor
from organizations.actions.tenants import resume_tenant
from organizations.management.base import TenantCommand, locked_tenant
from organizations.models import Tenant


class Command(TenantCommand):
    """Resume a tenant."""

    help = "Resumes a suspended tenant. An active tenant stays unchanged."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add an argument for the tenant."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", required=True, help="slug or id")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Resume the tenant unless it is active."""
        with transaction.atomic():
            tenant = locked_tenant(options["tenant"])
            changed = tenant.status != Tenant.Status.ACTIVE
            if changed:
                resume_tenant(actor=system_actor(tenant.id), tenant=tenant, at=clock.now())
        return {"tenant_id": str(tenant.id), "slug": tenant.slug, "status": tenant.status, "changed": changed}
