"""`manage.py rebuild_figures`: adds what the roll-ups of analytics lack of older documents."""

import json
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.db import role_context
from core.row_security import DISPATCHER
from organizations.public import tenant_named
from suppliers.analytics.backfilling import backfill
from suppliers.company.models import SupplierProfile


class Command(BaseCommand):
    """Bring the figures of one supplier, or of all, up to their documents."""

    help = "Adds what roll-ups lack of orders, deliveries and offers; safe to run again, and to end at any time."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the supplier."""
        parser.add_argument("--json", action="store_true", help="answer with JSON")
        parser.add_argument(
            "--tenant", default="", help="slug or id of the supplier; by default all that are not closed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Work through the suppliers in batches, each in a transaction of its own.

        :raises CommandError: there is no such tenant.
        """
        for tenant_id in _tenants(options["tenant"]):
            answer: dict[str, Any] = {"tenant_id": str(tenant_id)}
            answer |= {one.name: {"read": one.read, "added": one.added} for one in backfill(tenant_id)}
            lines = "\n".join(f"{name}: {value}" for name, value in answer.items())
            self.stdout.write(json.dumps(answer) if options["json"] else lines)


def _tenants(name: str) -> list[UUID]:
    if name:
        found = tenant_named(name)
        if found is None:
            raise CommandError(f"There is no tenant {name!r}.")
        return [found]
    with role_context(DISPATCHER):
        suppliers = SupplierProfile.objects.exclude(tenant__status="closed").order_by("tenant_id")
        return list(suppliers.values_list("tenant_id", flat=True))
