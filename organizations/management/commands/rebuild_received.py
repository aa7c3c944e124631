"""`manage.py rebuild_received`: rewrites the received copies that a tenant holds from their owners' rows."""

from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from core import clock
from core.ids import parse_uuid
from organizations.management.base import TenantCommand, tenant_id_of
from organizations.received.rebuilding import rebuild


class Command(TenantCommand):
    """Rebuild the received copies of a tenant."""

    help = "Rewrites the copies that a tenant has received of other tenants' documents; safe to run again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the tenant, and where to go on."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--after", default="", help="skip the copies up to this id")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Rewrite what differs.

        :raises CommandError: --after is no id.
        """
        tenant_id = tenant_id_of(options["tenant"])
        after = parse_uuid(options["after"]) if options["after"] else UUID(int=0)
        if after is None:
            raise CommandError("--after must be an id.")
        found = rebuild(tenant_id, clock.now, after=after)
        return {
            "tenant_id": str(tenant_id),
            **{one.table: {"read": one.read, "rewritten": one.rewritten} for one in found},
        }
