"""`manage.py rotate_signing_keys`: creates a new signing key if the active one is old enough."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from core import clock
from organizations import signing_keys
from organizations.management.base import TenantCommand


class Command(TenantCommand):
    """Rotate the keys that sign tokens."""

    help = "Creates a new signing key if the active one is old enough; the former key verifies for another hour."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add arguments for the age, and for the id of a key to withdraw."""
        super().add_arguments(parser)
        parser.add_argument("--max-age-days", type=int, default=90, help="rotate a key older than this; 90 by default")
        parser.add_argument("--now", action="store_true", help="rotate regardless of age")
        withdraw = (
            "retire a replaced key at once, with all tokens it signed; write --withdraw=KID: a KID may begin with -"
        )
        parser.add_argument("--withdraw", metavar="KID", help=withdraw)

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Rotate the active key, or withdraw the named one."""
        at = clock.now()
        age = timedelta(0) if options["now"] else timedelta(days=options["max_age_days"])
        with transaction.atomic():
            withdrawn = bool(options["withdraw"]) and signing_keys.withdraw(options["withdraw"], at=at)
            if options["withdraw"]:
                return {"kid": options["withdraw"], "withdrawn": withdrawn}
            if age < timedelta(0):
                raise CommandError("--max-age-days must be 0 or more.")
            kid, is_new = signing_keys.rotate(at=at, max_age=age)
            signing_keys.retire_expired(at=at)
        return {"kid": kid, "rotated": is_new, "published": [key.kid for key in signing_keys.published_keys()]}
