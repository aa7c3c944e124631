"""Passwords: authentication, rules and change."""

from datetime import datetime

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, Unauthenticated
from organizations.models import OutgoingMail, User

from . import lockout, mails, sessions

MAX_CHARACTERS = 1024


class InvalidCredentials(Unauthenticated):
    """No active user has this address, or the password is wrong; both cases look the same and take the same time."""

    code = "invalid_credentials"
    title = "The e-mail address or the password is wrong."


class WeakPassword(InvalidFields):
    """The password is too short, too common, or too similar to the person's name."""

    code = "weak_password"
    title = "The password is too weak."


def authenticate(*, email: str, password: str, network: str, at: datetime) -> User:
    """Return the active user with this e-mail address and password.

    An unknown address takes as long as a known one, because a hash is computed for it too.

    :param network: where the attempt comes from; wrong passwords are counted by account and network.
    :raises InvalidCredentials: there is no such user, or the password is wrong.
    :raises AccountLocked: there were too many failures from this network before.
    """
    subject = lockout.count("password", email.strip().lower(), at=at, network=network)
    user = User.objects.filter(email=email.strip().lower()).first()
    if user is None or not user.has_usable_password():
        make_password(password)
        raise InvalidCredentials
    if not user.check_password(password) or not user.is_active:
        raise InvalidCredentials
    lockout.clear(subject)
    return user


def check_strength(password: str, *, user: User) -> None:
    """Check a new password against the platform's rules.

    :raises WeakPassword: the password breaks a rule.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        faults = [
            FieldError("password", str(one.code or "invalid"), " ".join(one.messages)) for one in error.error_list
        ]
        raise WeakPassword(errors=faults) from error


@needs_transaction
def change(user: User, *, password: str, at: datetime) -> None:
    """Set a new password, end all sessions of the person, and queue a mail about the change.

    :raises WeakPassword: the password breaks a rule.
    """
    check_strength(password, user=user)
    user.set_password(password)
    user.password_changed_at = at
    user.save(update_fields=["password", "password_changed_at"])
    sessions.end_all(user.pk, reason="password_changed", at=at)
    mails.put(OutgoingMail.Kind.PASSWORD_CHANGED, {"to": user.email}, at=at)
