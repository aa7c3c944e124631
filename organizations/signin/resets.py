"""New passwords by mail. The request does the same for a known and an unknown address; the worker finds out which it was."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from core.canonical import sha256_hex
from core.crypto import random_text
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from organizations.models import OutgoingMail, PasswordReset, User

from . import mails, passwords

LIFETIME = timedelta(minutes=30)


class InvalidLink(InvalidFields):
    """The link's token is unknown, used or too old."""

    code = "invalid_link"
    title = "The link is not valid any more; ask for a new one."


@needs_transaction
def request(*, email: str, at: datetime) -> None:
    """This function will have a link mailed to the address, if somebody who may sign in has it."""
    mails.put(OutgoingMail.Kind.PASSWORD_RESET, {"email": email.strip().lower()}, at=at)


def complete_mail(content: dict[str, Any], *, at: datetime) -> dict[str, Any] | None:
    """This function will make the link for a mail that is about to go out; None if nobody has the address."""
    user = User.objects.filter(email=content["email"], is_active=True).first()
    if user is None:
        return None
    token = f"hpr_{random_text(43)}"
    PasswordReset.objects.create(digest=sha256_hex(token.encode()), user=user, created_at=at, expires_at=at + LIFETIME)
    link = f"{settings.BASE_URL.rstrip('/')}/oauth/password?token={token}"
    return {"to": user.email, "link": link, "minutes": int(LIFETIME.total_seconds() // 60)}


@needs_transaction
def confirm(*, token: str, password: str, at: datetime) -> None:
    """This function will set a new password with the link's token, and spoil all other links of that person.

    :raises InvalidLink: unknown, used or too old.
    :raises WeakPassword: the token stays good for another try.
    """
    row = PasswordReset.objects.select_for_update().filter(digest=sha256_hex(token.encode())).first()
    if row is None or row.used_at is not None or row.expires_at <= at or not row.user.is_active:
        raise InvalidLink(errors=[FieldError("token", "invalid_link", "The link is not valid any more.")])
    passwords.change(row.user, password=password, at=at)
    PasswordReset.objects.filter(user_id=row.user_id, used_at__isnull=True).update(used_at=at)
