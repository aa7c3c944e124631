"""`manage.py revoke_api_key`: stops an API key at once; one that works no more stays as it is."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from core import clock
from core.actor import system_actor
from core.db import tenant_context
from core.ids import parse_uuid
from organizations import api_key_format
from organizations.actions.keys import locked_key, revoke_key
from organizations.management.base import TenantCommand
from organizations.models import ApiKey


class Command(TenantCommand):
    """Revokes an API key."""

    help = "Stops an API key at once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the key."""
        super().add_arguments(parser)
        parser.add_argument("--key", required=True, help="id, the eight characters of its key id, or the whole key")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Revoke unless it has ended."""
        found = _find(options["key"])
        actor = system_actor(found.tenant_id)
        with tenant_context(found.tenant_id):
            row = locked_key(actor, found.id)
            changed = row.status in (ApiKey.Status.ACTIVE, ApiKey.Status.ROTATING)
            if changed:
                revoke_key(actor=actor, key=row, at=clock.now())
        return {"id": str(row.id), "key_id": row.key_id, "status": row.status, "changed": changed}


def _find(text: str) -> ApiKey:
    plain, key = api_key_format.parse(text), parse_uuid(text)
    wanted = {"pk": key} if key else {"key_id": plain.key_id if plain else text}
    found = ApiKey.objects.filter(**wanted).first()
    if found is None:
        raise CommandError("There is no such API key.")
    return found
