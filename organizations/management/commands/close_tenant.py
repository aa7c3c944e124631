"""`manage.py close_tenant`: first starts offboarding; after the retention time it deletes the tenant's rows and closes it."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

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
    """Closes a tenant."""

    help = "Ends a tenant. The first run stops it; a run after the retention time deletes its rows and closes it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the tenant, and its slug once more: nothing brings the rows back."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--confirm", required=True, help="the tenant's slug")
        parser.add_argument("--retention-days", type=int, default=RETENTION_DAYS, help="0 deletes at once")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Go one step, or both where the retention time is over.

        :raises CommandError: the slug does not match.
        """
        at = clock.now()
        with transaction.atomic():
            tenant = locked_tenant(options["tenant"])
            if tenant.slug != options["confirm"]:
                raise CommandError("--confirm is not the tenant's slug; nothing was done.")
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
        if tenant.legal_hold:
            raise LegalHold
        actor, at = system_actor(tenant.id), clock.now()
        with transaction.atomic():
            end_access(actor=actor, tenant=tenant, at=at)
        deleted = delete_rows(tenant.id)
        with transaction.atomic():
            close_tenant(actor=actor, tenant=locked_tenant(str(tenant.id)), at=at)
        leftovers = delete_rows(tenant.id)  # what subscribers of the last facts wrote
        return {table: deleted.get(table, 0) + leftovers.get(table, 0) for table in {**deleted, **leftovers}}
