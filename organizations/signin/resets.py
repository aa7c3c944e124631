"""Password resets by mail. A request does the same for every address; only the worker looks the address up."""

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
    """The token of the link is unknown, used or too old."""

    code = "invalid_link"
    title = "The link is no longer valid; request a new one."


@needs_transaction
def request(*, email: str, at: datetime) -> None:
    """Queue a mail with a link to the address; it is sent only if an active user has the address."""
    mails.put(OutgoingMail.Kind.PASSWORD_RESET, {"email": email.strip().lower()}, at=at)


def complete_mail(content: dict[str, Any], *, at: datetime) -> dict[str, Any] | None:
    """Make the link of a mail that is about to be sent; return None if no active user has the address."""
    user = User.objects.filter(email=content["email"], is_active=True).first()
    if user is None:
        return None
    token = f"hpr_{random_text(43)}"
    PasswordReset.objects.create(digest=sha256_hex(token.encode()), user=user, created_at=at, expires_at=at + LIFETIME)
    link = f"{settings.BASE_URL.rstrip('/')}/oauth/password?token={token}"
    return {"to": user.email, "link": link, "minutes": int(LIFETIME.total_seconds() // 60)}


@needs_transaction
def confirm(*, token: str, password: str, at: datetime) -> None:
    """Set a new password with the link's token, and invalidate all other links of the person.

    :raises InvalidLink: the link is unknown, used or too old.
    :raises WeakPassword: the password breaks a rule; the link stays valid for another attempt.
    """
    row = PasswordReset.objects.select_for_update().filter(digest=sha256_hex(token.encode())).first()
    if row is None or row.used_at is not None or row.expires_at <= at or not row.user.is_active:
        raise InvalidLink(errors=[FieldError("token", "invalid_link", "The link is no longer valid.")])
    passwords.change(row.user, password=password, at=at)
    PasswordReset.objects.filter(user_id=row.user_id, used_at__isnull=True).update(used_at=at)
