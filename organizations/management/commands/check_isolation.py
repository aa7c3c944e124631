"""`manage.py check_isolation`: names every table and role whose walls between tenants are not what they should be."""

from typing import Any

from django.core.management.base import CommandError
from django.db import connections

from core.isolation import find_faults
from core.row_security import tenant_models
from organizations.management.base import TenantCommand


class Command(TenantCommand):
    """Checks row security, forced row security, policies, composite keys, append-only triggers, and the roles."""

    help = "Checks the walls between tenants in the live database."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the faults; exit code 1 where there are any.

        :raises CommandError: there are faults.
        """
        super().handle(*args, **options)
        if self.faults:
            raise CommandError(f"{len(self.faults)} faults in the walls between tenants.")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Look."""
        self.faults = find_faults(connections["default"])
        return {
            "ok": not self.faults,
            "tenant_tables": sorted(model._meta.db_table for model in tenant_models()),
            "faults": [fault.as_json() for fault in self.faults],
        }

    def say(self, answer: dict[str, Any]) -> str:
        """One line a fault."""
        lines = [f"{fault['where']}: {fault['what']}" for fault in answer["faults"]]
        return "\n".join([*lines, f"{len(answer['tenant_tables'])} tables of tenants checked"])
