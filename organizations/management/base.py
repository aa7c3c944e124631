"""The base of this app's commands: `--json`, refusals in one line, tenants by slug or id."""

import json
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from core.errors import PlatformError
from core.ids import parse_uuid
from organizations.models import Tenant
from organizations.queries.lookups import tenant_named


class TenantCommand(BaseCommand):
    """Base of commands: `work` returns the answer as a JSON object, `say` writes it as text."""

    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--json`; subclasses add their own arguments."""
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run `work` and print its answer; a refusal is one line and exit code 1.

        :raises CommandError: the work was refused, or the database failed.
        """
        try:
            answer = self.work(options)
        except PlatformError as error:
            faults = "; ".join(f"{fault.field}: {fault.message}" for fault in error.errors)
            raise CommandError(f"{error.code}: {faults or error.detail}") from error
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).strip().splitlines()[0]}") from error
        self.stdout.write(json.dumps(answer, default=str) if options["json"] else self.say(answer))

    @abstractmethod
    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Do the work of the command and return its answer."""

    def say(self, answer: dict[str, Any]) -> str:
        """Write the answer as lines of `name: value`."""
        return "\n".join(f"{name}: {value}" for name, value in answer.items() if value not in (None, "", [], {}))


def locked_tenant(name: str) -> Tenant:
    """Lock and return the tenant with this slug or id.

    :raises CommandError: there is no such tenant.
    """
    key = parse_uuid(name)
    found = Tenant.objects.select_for_update(no_key=True).filter(**({"pk": key} if key else {"slug": name})).first()
    if found is None:
        raise CommandError(f"There is no tenant {name!r}.")
    return found


def tenant_id_of(name: str) -> UUID:
    """Return the id of the tenant with this slug or id.

    :raises CommandError: there is no such tenant.
    """
    found = tenant_named(name)
    if found is None:
        raise CommandError(f"There is no tenant {name!r}.")
    return found


def scopes_in(words: Iterable[str]) -> list[str]:
    """Return the scopes of an argument, separated by spaces or commas."""
    return [scope for word in words for scope in word.replace(",", " ").split()]
