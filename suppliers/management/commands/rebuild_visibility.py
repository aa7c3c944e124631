"""`manage.py rebuild_visibility`: computes the members of audiences, and what the market reads of products, anew."""

import json
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.db import tenant_context
from core.pipeline import run
from organizations.public import tenant_named
from suppliers.catalog.market import market_calls
from suppliers.catalog.models import Product
from suppliers.marketplace.audiences import audiences_of, rebuild

BATCH = 500


class Command(BaseCommand):
    """Rebuild what buyers may see of one supplier."""

    help = "Computes audiences, marks and search terms of the market anew; safe to run again."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the supplier."""
        parser.add_argument("--json", action="store_true", help="answer with JSON")
        parser.add_argument("--tenant", required=True, help="slug or id of the supplier")

    def handle(self, *args: Any, **options: Any) -> None:
        """Rebuild in batches, each in a transaction of its own.

        :raises CommandError: there is no such tenant.
        """
        tenant_id = tenant_named(options["tenant"])
        if tenant_id is None:
            raise CommandError(f"There is no tenant {options['tenant']!r}.")
        answer = {"tenant_id": str(tenant_id), "audiences": _audiences(tenant_id), "products": _products(tenant_id)}
        lines = "\n".join(f"{name}: {value}" for name, value in answer.items())
        self.stdout.write(json.dumps(answer) if options["json"] else lines)


def _audiences(tenant_id: UUID) -> int:
    with tenant_context(tenant_id):
        found = audiences_of(tenant_id)
    for audience_id in found:
        with tenant_context(tenant_id):
            rebuild(tenant_id, [audience_id])
    return len(found)


def _products(tenant_id: UUID) -> int:
    done, after = 0, UUID(int=0)
    while True:
        with tenant_context(tenant_id):
            rows = Product.objects.filter(tenant_id=tenant_id, id__gt=after).order_by("id")
            batch = list(rows.values_list("id", flat=True)[:BATCH])
            run(market_calls(tenant_id, batch))
        done += len(batch)
        if len(batch) < BATCH:
            return done
        after = batch[-1]
