"""`manage.py rotate_signing_keys`: a new signing key when the present one is old enough; until then nothing changes."""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from core import clock
from organizations import signing_keys
from organizations.management.base import TenantCommand


class Command(TenantCommand):
    """Rotates the keys that sign tokens."""

    help = "Makes a new signing key when the active one is old enough; the one before verifies for another hour."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the age, or the name of a key that leaked."""
        super().add_arguments(parser)
        parser.add_argument("--max-age-days", type=int, default=90, help="rotate when older than this (90)")
        parser.add_argument("--now", action="store_true", help="rotate whatever its age")
        withdraw = (
            "stop a replaced key at once, with all tokens it signed; as --withdraw=KID, for a KID may begin with -"
        )
        parser.add_argument("--withdraw", metavar="KID", help=withdraw)

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Rotate, or withdraw."""
        at = clock.now()
        age = timedelta(0) if options["now"] else timedelta(days=options["max_age_days"])
        with transaction.atomic():
            withdrawn = bool(options["withdraw"]) and signing_keys.withdraw(options["withdraw"], at=at)
            if options["withdraw"]:
                return {"kid": options["withdraw"], "withdrawn": withdrawn}
            if age < timedelta(0):
                raise CommandError("--max-age-days counts days, from 0.")
            kid, is_new = signing_keys.rotate(at=at, max_age=age)
            signing_keys.retire_expired(at=at)
        return {"kid": kid, "rotated": is_new, "published": [key.kid for key in signing_keys.published_keys()]}
