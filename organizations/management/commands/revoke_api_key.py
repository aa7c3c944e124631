"""`manage.py revoke_api_key`: revokes an API key at once, unless it has already ended."""

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
    """Revoke an API key."""

    help = "Revokes an API key at once. A key that has ended stays unchanged."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add an argument for the key."""
        super().add_arguments(parser)
        parser.add_argument("--key", required=True, help="the id, the key id of eight characters, or the whole key")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Revoke the key unless it has ended."""
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
