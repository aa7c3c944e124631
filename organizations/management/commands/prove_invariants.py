"""`manage.py prove_invariants`: reads the rows that depend on one another and names each that does not fit."""

from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from core import clock
from core.invariants import Breach, breaches, checks, report
from organizations.management.base import TenantCommand, tenant_id_of
from organizations.models import Tenant


class Command(TenantCommand):
    """Prove the invariants of one tenant, or of all that are not closed."""

    help = "Proves that dependent rows agree, such as received copies and their owners' rows; repairs nothing, alerts staff."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the tenant; without it all tenants are proved."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", default="", help="slug or id; by default all tenants that are not closed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the breaches; exit code 1 if there are any.

        :raises CommandError: there are breaches.
        """
        super().handle(*args, **options)
        if self.found:
            raise CommandError(f"{len(self.found)} breaches of invariants.")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Run every check on every tenant."""
        if options["tenant"]:
            tenants = [tenant_id_of(options["tenant"])]
        else:
            chosen = Tenant.objects.exclude(status=Tenant.Status.CLOSED).order_by("id")
            tenants = list(chosen.values_list("id", flat=True))
        self.found = [breach for tenant_id in tenants for breach in self._proved(tenant_id)]
        return {
            "ok": not self.found,
            "rules": list(checks()),
            "tenants": len(tenants),
            "breaches": [{name: str(value) for name, value in one._asdict().items()} for one in self.found],
        }

    def _proved(self, tenant_id: UUID) -> list[Breach]:
        """Prove one tenant, and let staff be alerted of what was found."""
        found = [*breaches(tenant_id)]
        report(tenant_id, found, clock.now())
        return found

    def say(self, answer: dict[str, Any]) -> str:
        """Write one line per breach and the number of tenants."""
        lines = ["{table} {row_id} of {tenant_id}: {what} ({rule})".format(**one) for one in answer["breaches"]]
        return "\n".join([*lines, f"{len(answer['rules'])} rules proved in {answer['tenants']} tenants"])
