"""What every command of this app shares: `--json`, one clear line on a refusal, tenants by slug or id."""

import json
from abc import abstractmethod
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from core.errors import PlatformError
from core.ids import parse_uuid
from organizations.models import Tenant


class TenantCommand(BaseCommand):
    """Base: `work` returns the answer as a JSON object; `say` puts it into words."""

    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--json`; subclasses add theirs."""
        parser.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run `work` and print what it says; exit code 1 with one line where it is refused.

        :raises CommandError: with the refusal.
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
        """Do it."""

    def say(self, answer: dict[str, Any]) -> str:
        """Put the answer into lines of `name: value`."""
        return "\n".join(f"{name}: {value}" for name, value in answer.items() if value not in (None, "", [], {}))


def locked_tenant(name: str) -> Tenant:
    """Lock and return the tenant named by slug or id.

    :raises CommandError: there is none.
    """
    key = parse_uuid(name)
    found = Tenant.objects.select_for_update(no_key=True).filter(**({"pk": key} if key else {"slug": name})).first()
    if found is None:
        raise CommandError(f"There is no tenant {name!r}.")
    return found
