"""`manage.py provision_tenant`: provisions a tenant, or continues an earlier run; only the first run shows secrets."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from api.serializers import read
from core import clock
from organizations.actions.first_credentials import first_client, first_key
from organizations.actions.provisioning import (
    PLAIN_FIELDS,
    FirstMember,
    TenantSpec,
    platform_actor,
    provision_tenant,
)
from organizations.management.base import TenantCommand
from organizations.models import Tenant
from organizations.roles import TENANT_ADMIN
from organizations.serializers.specs import SpecIn


class Command(TenantCommand):
    """Provision a tenant."""

    help = "Provisions a tenant. A later run continues where an earlier one stopped and keeps finished steps."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the specification as arguments or as a file; arguments take precedence."""
        super().add_arguments(parser)
        parser.add_argument("--file", help="specification as JSON, with members named like the arguments")
        parser.add_argument("--slug")
        parser.add_argument("--name")
        parser.add_argument("--kind", action="append", choices=Tenant.Kind.values, dest="kinds")
        parser.add_argument("--admin-email")
        parser.add_argument("--admin-name")
        parser.add_argument("--organization", help="slug of the organization, which is created if it does not exist")
        parser.add_argument("--organization-name")
        parser.add_argument("--plan")
        for name in PLAIN_FIELDS:
            parser.add_argument(f"--{name.replace('_', '-')}")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Provision the tenant, then create its first API key and OAuth client."""
        spec = _spec(options)
        at = clock.now()
        outcome = provision_tenant(actor=platform_actor(), spec=spec, at=at)
        with transaction.atomic():
            key, client = first_key(tenant=outcome.tenant, at=at), first_client(tenant=outcome.tenant, at=at)
        return {
            "organization_id": str(outcome.tenant.organization_id),
            "tenant_id": str(outcome.tenant.id),
            "slug": outcome.tenant.slug,
            "status": outcome.tenant.status,
            "created": outcome.created,
            "steps": outcome.steps,
            "admin": [{"email": email, "invitation": link} for email, link in outcome.invitations.items()] or None,
            "api_key": key,
            "oauth_client": {"client_id": client.client_id, "client_secret": client.client_secret} if client else None,
        }


def _spec(options: dict[str, Any]) -> TenantSpec:
    given = {name: options[name] for name in map(str, SpecIn().fields) if options.get(name) is not None}
    values = read(SpecIn, {**_file(options.get("file")), **given})
    members = [FirstMember(one["email"], tuple(one["roles"]), one.get("name", "")) for one in values.get("members", ())]
    if "admin_email" in values:
        members.insert(0, FirstMember(values["admin_email"], (TENANT_ADMIN,), values.get("admin_name", "")))
    return TenantSpec(
        slug=values["slug"],
        name=values["name"],
        kinds=tuple(values["kinds"]),
        organization_slug=values.get("organization", ""),
        organization_name=values.get("organization_name", ""),
        plan=values.get("plan", ""),
        fields={name: values[name] for name in PLAIN_FIELDS if name in values},
        members=tuple(members),
    )


def _file(name: str | None) -> dict[str, Any]:
    if not name:
        return {}
    try:
        found = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{name} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise CommandError(f"{name} does not contain a JSON object.")
    return found
