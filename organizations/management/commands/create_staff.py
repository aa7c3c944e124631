"""`manage.py create_staff`: makes a member of the platform's staff, or gives an existing person a staff role."""

import os
import secrets
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from core import clock
from organizations.actions import staff
from organizations.management.base import TenantCommand
from organizations.models import StaffRole, User
from organizations.signin import passwords

VARIABLE = "STAFF_PASSWORD"


class Command(TenantCommand):
    """Makes staff."""

    help = f"Makes a member of staff. The password is taken from {VARIABLE}, else drawn and printed this once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take who and as what."""
        super().add_arguments(parser)
        parser.add_argument("--email", required=True)
        parser.add_argument("--role", required=True, choices=StaffRole.values)
        parser.add_argument("--name", default="")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Make or appoint; a second run changes nothing and shows no password.

        :raises CommandError: the person exists without a way to sign in to the admin.
        """
        email = options["email"].strip().lower()
        with transaction.atomic():
            user = User.objects.select_for_update(no_key=True).filter(email=email).first()
            created = user is None
            drawn = ""
            if user is None:
                user, drawn = _create(email, options["name"])
            if not user.is_active:
                raise CommandError(f"{email} is deactivated; reactivate the person in the admin first.")
            changed = user.staff_role != options["role"] or not user.is_staff
            if changed:
                staff.appoint(user=user, role=options["role"], by=None, at=clock.now())
        return {
            "email": email,
            "role": options["role"],
            "created": created,
            "changed": changed,
            "password": drawn or None,
        }


def _create(email: str, name: str) -> tuple[User, str]:
    given = os.environ.get(VARIABLE, "")
    password = given or secrets.token_urlsafe(18)
    user = User(email=email, name=name)
    passwords.check_strength(password, user=user)
    user.set_password(password)
    user.password_changed_at = clock.now()
    user.save()
    return user, "" if given else password
