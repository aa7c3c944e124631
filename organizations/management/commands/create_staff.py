"""`manage.py create_staff`: creates a member of the platform's staff, or gives an existing user a staff role."""

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
    """Create a member of staff."""

    help = f"Creates a member of staff. The password is taken from {VARIABLE}, or generated and printed once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add arguments for the person and the staff role."""
        super().add_arguments(parser)
        parser.add_argument("--email", required=True)
        parser.add_argument("--role", required=True, choices=StaffRole.values)
        parser.add_argument("--name", default="")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Create or appoint the person; a second run changes nothing and shows no password.

        :raises CommandError: the person's account is deactivated.
        """
        email = options["email"].strip().lower()
        with transaction.atomic():
            user = User.objects.select_for_update(no_key=True).filter(email=email).first()
            created = user is None
            generated = ""
            if user is None:
                user, generated = _create(email, options["name"])
            if not user.is_active:
                raise CommandError(f"The account {email} is deactivated; reactivate it in the admin first.")
            changed = user.staff_role != options["role"] or not user.is_staff
            if changed:
                staff.appoint(user=user, role=options["role"], by=None, at=clock.now())
        return {
            "email": email,
            "role": options["role"],
            "created": created,
            "changed": changed,
            "password": generated or None,
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
