"""`manage.py rotate_signing_keys`: replaces the key of a purpose if it is old enough or was compromised."""

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from core import clock
from organizations import signatures, signing_keys
from organizations.management.base import TenantCommand
from organizations.signing_keys import Purpose


class Command(TenantCommand):
    """Rotate the keys that sign tokens, snapshots or checkpoints."""

    help = (
        "Creates a new signing key if the active one is old enough. The former key verifies tokens for another hour,"
        " snapshots and checkpoints for good."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add arguments for purpose and age, and for the id of a key to withdraw or one that was compromised."""
        super().add_arguments(parser)
        parser.add_argument(
            "--purpose",
            choices=Purpose.values,
            default=Purpose.TOKEN.value,
            help="what the key signs; token by default",
        )
        parser.add_argument("--max-age-days", type=int, default=90, help="rotate a key older than this; 90 by default")
        parser.add_argument("--now", action="store_true", help="rotate regardless of age")
        withdraw = (
            "retire a replaced key for tokens at once, with all tokens it signed; write --withdraw=KID: a KID may begin"
            " with -"
        )
        parser.add_argument("--withdraw", metavar="KID", help=withdraw)
        compromised = (
            "mark a key as compromised from now on, replace it if it is active, and list what it signed; write"
            " --compromised=KID"
        )
        parser.add_argument("--compromised", metavar="KID", help=compromised)

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Rotate the active key of the purpose, withdraw the named one, or mark it as compromised.

        :raises CommandError: the age is negative, or the arguments contradict each other.
        """
        at, purpose = clock.now(), str(options["purpose"])
        age = timedelta(0) if options["now"] else timedelta(days=options["max_age_days"])
        if age < timedelta(0):
            raise CommandError("--max-age-days must be 0 or more.")
        if options["withdraw"]:
            return self._withdraw(options, purpose, at)
        found: dict[str, Any] = {}
        since = at
        with transaction.atomic():
            replaced = False
            if options["compromised"]:
                since, replaced = signing_keys.mark_compromised(options["compromised"], purpose=purpose, at=at)
                found = {"compromised": options["compromised"], "compromised_at": clock.rfc3339(since)}
            if not replaced:
                replaced = signing_keys.rotate(at=at, max_age=age, purpose=purpose)[1]
            signing_keys.retire_expired(at=at)
        published = [key.kid for key in signing_keys.published_keys(purpose)]
        found |= {"kid": published[0], "purpose": purpose, "rotated": replaced, "published": published}
        return found | (_signed(purpose, options["compromised"], since) if options["compromised"] else {})

    def _withdraw(self, options: dict[str, Any], purpose: str, at: datetime) -> dict[str, Any]:
        if purpose != Purpose.TOKEN or options["compromised"]:
            raise CommandError("--withdraw is for tokens, and stands without --compromised.")
        with transaction.atomic():
            withdrawn = signing_keys.withdraw(options["withdraw"], at=at)
        return {"kid": options["withdraw"], "withdrawn": withdrawn}


def _signed(purpose: str, kid: str, since: datetime) -> dict[str, Any]:
    """List what a compromised key has signed, and let its tenants be told; or say why there is no list."""
    signed = signatures.signed_by(purpose, kid)
    if signed is not None:
        signatures.compromise_told(purpose, kid, signed, since)
        return {"signed_count": len(signed), "signed": signed}
    if purpose == Purpose.TOKEN:
        return {"signed": None, "note": "Tokens are not stored; none that this key signed is accepted any more."}
    return {"signed": None, "note": f"No app of this service lists what keys for {purpose} sign."}
