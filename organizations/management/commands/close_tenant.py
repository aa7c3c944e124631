"""`manage.py close_tenant`: starts offboarding; after the retention time, deletes the tenant's rows and closes it."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.db.models import Q

from core import clock
from core.actor import system_actor
from organizations.actions.offboarding import end_access
from organizations.actions.tenants import close_tenant, offboard_tenant
from organizations.management.base import TenantCommand, locked_tenant
from organizations.models import Tenant
from organizations.portability import delete_rows
from organizations.refusals import LegalHold

RETENTION_DAYS = 30


class Command(TenantCommand):
    """Close a tenant."""

    help = "Closes a tenant: the first run starts offboarding; a run after the retention time deletes its rows."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the tenant and its slug as a confirmation, since deleted rows cannot be restored."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--confirm", required=True, help="the tenant's slug")
        parser.add_argument(
            "--retention-days",
            type=int,
            default=RETENTION_DAYS,
            help="days between offboarding and deletion; 0 deletes at once",
        )

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Start offboarding; delete and close if the retention time has ended.

        :raises CommandError: the slug does not match.
        """
        at = clock.now()
        with transaction.atomic():
            tenant = locked_tenant(options["tenant"])
            if tenant.slug != options["confirm"]:
                raise CommandError("--confirm must be the tenant's slug; nothing was done.")
            if tenant.status not in (Tenant.Status.OFFBOARDING, Tenant.Status.CLOSED):
                offboard_tenant(actor=system_actor(tenant.id), tenant=tenant, at=at)
        deleted: dict[str, int] = {}
        ends_at = (tenant.offboarding_at or at) + timedelta(days=options["retention_days"])
        if tenant.status == Tenant.Status.OFFBOARDING and ends_at <= at:
            deleted = self._close(tenant)
            tenant = Tenant.objects.get(pk=tenant.pk)
        return {
            "tenant_id": str(tenant.id),
            "slug": tenant.slug,
            "status": tenant.status,
            "rows_deleted_from": clock.rfc3339(ends_at) if tenant.status == Tenant.Status.OFFBOARDING else None,
            "deleted": deleted,
        }

    def _close(self, tenant: Tenant) -> dict[str, int]:
        if Tenant.objects.filter(Q(pk=tenant.pk) | Q(managed_by=tenant), legal_hold=True).exists():
            raise LegalHold
        actor, at = system_actor(tenant.id), clock.now()
        with transaction.atomic():
            end_access(actor=actor, tenant=tenant, at=at)
        deleted = delete_rows(tenant.id)
        with transaction.atomic():
            close_tenant(actor=actor, tenant=locked_tenant(str(tenant.id)), at=at)
        leftovers = delete_rows(tenant.id)  # rows that subscribers of the last events wrote
        return {table: deleted.get(table, 0) + leftovers.get(table, 0) for table in {**deleted, **leftovers}}
