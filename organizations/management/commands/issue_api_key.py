"""`manage.py issue_api_key`: creates an API key, unless an active key has the same name and partner."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils.dateparse import parse_date, parse_datetime

from core import clock
from core.actor import system_actor
from core.db import tenant_context
from organizations.actions.first_credentials import key_role
from organizations.actions.keys import create_key
from organizations.management.base import TenantCommand, locked_tenant, scopes_in
from organizations.models import ApiKey


class Command(TenantCommand):
    """Issue an API key."""

    help = "Creates an API key and shows it once. An active key with the same name and partner is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add arguments for the key's partner, rights and expiry."""
        super().add_arguments(parser)
        parser.add_argument("--tenant", required=True, help="slug or id")
        parser.add_argument("--name", required=True)
        parser.add_argument("--partner", help="who holds the key; by default the name")
        parser.add_argument("--role", action="append", dest="roles")
        parser.add_argument(
            "--scopes", nargs="+", help="separated by spaces or commas; by default all scopes of the roles"
        )
        parser.add_argument("--expires", help="a date, an instant or a number of days such as 90d; by default a year")
        parser.add_argument("--cidr", action="append", dest="cidrs")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Issue the key unless it exists."""
        at = clock.now()
        partner = options["partner"] or options["name"]
        with transaction.atomic():
            tenant = locked_tenant(options["tenant"])
            alive = ApiKey.objects.filter(tenant=tenant, name=options["name"], partner=partner, status="active")
            found = alive.filter(expires_at__gt=at).order_by("-created_at", "id").first()
            if found is not None:
                return _answer(found, None)
            values = {
                "name": options["name"],
                "partner": partner,
                "roles": options["roles"] or [key_role(tenant)],
                "scopes": scopes_in(options["scopes"] or ()) or None,
                "expires_at": _end(options["expires"], at),
                "allowed_cidrs": options["cidrs"],
            }
            with tenant_context(tenant.id):
                made = create_key(actor=system_actor(tenant.id), data=values, at=at)
        return _answer(made.row, made.text)


def _answer(row: ApiKey, text: str | None) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "key_id": row.key_id,
        "tenant_id": str(row.tenant_id),
        "roles": row.roles,
        "scopes": row.scopes,
        "expires_at": clock.rfc3339(row.expires_at),
        "created": text is not None,
        "api_key": text,
    }


def _end(text: str | None, at: datetime) -> datetime | None:
    if not text:
        return None
    if text.endswith("d") and text[:-1].isdigit():
        return at + timedelta(days=int(text[:-1]))
    try:
        day = parse_date(text)
        found = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise CommandError(f"{text!r} is not a date, an instant or a number of days such as 90d.")
    return found if found.tzinfo else found.replace(tzinfo=UTC)
