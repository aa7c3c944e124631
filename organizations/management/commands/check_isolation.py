"""`manage.py check_isolation`: names every table and role of the live database that does not isolate tenants."""

from typing import Any

from django.core.management.base import CommandError
from django.db import connections

from core.isolation import find_faults
from core.row_security import tenant_models
from organizations.management.base import TenantCommand


class Command(TenantCommand):
    """Check row security, forced row security, policies, composite keys, append-only triggers and roles."""

    help = "Checks in the live database that tenants are isolated from one another."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the faults; exit code 1 if there are any.

        :raises CommandError: there are faults.
        """
        super().handle(*args, **options)
        if self.faults:
            raise CommandError(f"{len(self.faults)} faults in the isolation of tenants.")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Compare the live database with the isolation that the models declare."""
        self.faults = find_faults(connections["default"])
        return {
            "ok": not self.faults,
            "tenant_tables": sorted(model._meta.db_table for model in tenant_models()),
            "faults": [fault.as_json() for fault in self.faults],
        }

    def say(self, answer: dict[str, Any]) -> str:
        """Write one line per fault and the number of tables."""
        lines = [f"{fault['where']}: {fault['what']}" for fault in answer["faults"]]
        return "\n".join([*lines, f"{len(answer['tenant_tables'])} tenant tables checked"])
