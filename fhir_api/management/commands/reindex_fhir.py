"""`manage.py reindex_fhir`: makes what a tenant's resources are found by again, after an upgrade changed the definitions."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.db import tenant_context
from fhir_api.reindexing import reindex
from organizations.public import tenant_named

LAST = 2**63 - 1  # what the numbers of rows go up to


class Command(BaseCommand):
    """Goes through all resources of a tenant in short transactions."""

    help = "Add the missing entries of all FHIR resources of a tenant. Safe beside writers, and to run again."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the tenant and where to go on."""
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--after", type=int, default=0, help="go on after this number, which an ended run has told")

    def handle(self, *args: Any, **options: Any) -> None:
        """Go through.

        :raises CommandError: there is no such tenant, or no such number.
        """
        tenant_id = tenant_named(options["tenant"])
        if tenant_id is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        after, total = options["after"], 0
        if not 0 <= after <= LAST:
            raise CommandError(f"--after takes a whole number from 0 to {LAST}.")
        while True:
            with tenant_context(tenant_id):
                step = reindex(tenant_id, after=after)
            if not step.count:
                break
            after, total = step.last, total + step.count
            self.stdout.write(f"{total} resources, the last is {after}")
        self.stdout.write(f"{total} resources, done")
