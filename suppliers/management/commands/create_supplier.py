"""`manage.py create_supplier`: provisions a supplier with the beginning of its profile; what is there already is kept."""

import json
from io import StringIO
from typing import Any
from uuid import UUID

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, transaction

from api.serializers import read
from core import clock
from core.actor import system_actor
from core.db import tenant_context
from core.errors import PlatformError
from organizations.public import tenant_named
from suppliers.company import qualification
from suppliers.company.actions import update_profile
from suppliers.company.models import SupplierProfile
from suppliers.company.queries import locked_profile
from suppliers.company.serializers import SupplierProfileIn
from suppliers.company.states import Qualification

_PROVISIONED = ("name", "admin_email", "organization", "plan")


class Command(BaseCommand):
    """Create a supplier."""

    help = (
        "Provisions a tenant of the kind supplier (--slug, --name), or takes one that exists (--tenant), and stores the "
        "beginning of its profile. A later run keeps the profile and the qualification as they are."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--slug", help="of the tenant to provision")
        parser.add_argument("--name")
        parser.add_argument("--admin-email")
        parser.add_argument("--organization", help="slug of the organization, which is created if it does not exist")
        parser.add_argument("--plan")
        parser.add_argument("--tenant", help="slug or id of a supplier that exists, instead of --slug")
        parser.add_argument("--legal-name", help="the tenant's name unless given")
        parser.add_argument("--country", help="ISO 3166-1 alpha-2")
        parser.add_argument("--registration", action="append", default=[], metavar="SCHEME:VALUE", help="repeatable")
        parser.add_argument("--qualify", action="store_true", help="qualify a supplier that was never decided on")
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Provision, store and qualify; a refusal is one line and exit code 1.

        :raises CommandError: the work was refused, or the database failed.
        """
        try:
            answer = _create(options)
        except PlatformError as error:
            faults = "; ".join(f"{fault.field}: {fault.message}" for fault in error.errors)
            raise CommandError(f"{error.code}: {faults or error.detail}") from error
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).strip().splitlines()[0]}") from error
        lines = (f"{name}: {value}" for name, value in answer.items() if value not in (None, "", [], {}))
        self.stdout.write(json.dumps(answer) if options["json"] else "\n".join(lines))


def _create(options: dict[str, Any]) -> dict[str, Any]:
    if bool(options["slug"]) == bool(options["tenant"]):
        raise CommandError("Give --slug or --tenant.")
    body = read(SupplierProfileIn, _members(options))
    answer = _provisioned(options) if options["slug"] else {"tenant_id": str(_existing(options["tenant"]))}
    profile = _settled(UUID(answer["tenant_id"]), body, qualifies=options["qualify"])
    return {**answer, "legal_name": profile.legal_name, "qualification_status": profile.qualification_status}


def _members(options: dict[str, Any]) -> dict[str, Any]:
    """Return the members of the profile that the options name."""
    found = {name: options[name] for name in ("legal_name", "country") if options[name]}
    numbers = [one.partition(":") for one in options["registration"]]
    return {**found, "registrations": [{"scheme": scheme, "value": value} for scheme, _, value in numbers]}


def _provisioned(options: dict[str, Any]) -> dict[str, Any]:
    """Run `provision_tenant`, and return its answer."""
    given = {name: options[name] for name in _PROVISIONED if options[name]}
    written = StringIO()
    call_command("provision_tenant", slug=options["slug"], kinds=["supplier"], json=True, stdout=written, **given)
    found: dict[str, Any] = json.loads(written.getvalue())
    return found


def _existing(name: str) -> UUID:
    found = tenant_named(name)
    if found is None:
        raise CommandError(f"There is no tenant {name!r}.")
    return found


def _settled(tenant_id: UUID, body: dict[str, Any], *, qualifies: bool) -> SupplierProfile:
    """Store the profile of a supplier that has none, and qualify one that was never decided on.

    :raises CommandError: the tenant is no supplier.
    """
    actor, at = system_actor(tenant_id), clock.now()
    with transaction.atomic(), tenant_context(tenant_id):
        profile = locked_profile(actor)
        if "supplier" not in profile.tenant.kinds:
            raise CommandError("The tenant is no supplier.")
        if profile._state.adding:
            update_profile(actor, profile, {"legal_name": profile.legal_name, **body}, at)
        if qualifies and profile.qualification_status == Qualification.REGISTERED:
            qualification.start_review(actor, profile, at)
        if qualifies and profile.qualification_status == Qualification.UNDER_REVIEW:
            qualification.qualify(actor, profile, at)
    return profile
