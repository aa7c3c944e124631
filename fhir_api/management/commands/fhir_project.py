"""`manage.py fhir_project`: makes the Organization and Location resources of tenants that were there before them."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.actor import system_actor
from core.db import tenant_context
from fhir_api.projections.projecting import FEATURE, project
from organizations.public import tenant_named, tenants_with


class Command(BaseCommand):
    """Brings projected resources up to date; a second run finds nothing to do."""

    help = "Make Organization and Location resources from the organizations and locations of one tenant, or of all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--tenant", default="", help="slug or id; all that have FHIR unless given")
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Project, each tenant in a transaction of its own.

        :raises CommandError: there is no such tenant, or it has no FHIR.
        """
        only = None
        if options["tenant"]:
            only = [one for one in (tenant_named(options["tenant"]),) if one]
        tenants = tenants_with(FEATURE, ids=only)
        if only is not None and not tenants:
            raise CommandError(f"There is no tenant {options['tenant']!r} that has FHIR.")
        written = 0
        for tenant_id in tenants:
            with tenant_context(tenant_id):
                written += len(project(system_actor(tenant_id)))
        answer = {"tenants": len(tenants), "written": written}
        self.stdout.write(json.dumps(answer) if options["json"] else f"{written} resources in {len(tenants)} tenants")
