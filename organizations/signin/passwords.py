"""Passwords: proving one, and setting a new one."""

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
    """No such active user, or another password: the two look and last alike."""

    code = "invalid_credentials"
    title = "The e-mail address or the password is wrong."


class WeakPassword(InvalidFields):
    """The password is too short, too common, or too like the person's name."""

    code = "weak_password"
    title = "The password is too weak."


def authenticate(*, email: str, password: str, at: datetime) -> User:
    """This function will find the active user with this address and password.

    An unknown address costs the same hash as a known one.

    :raises InvalidCredentials: there is none.
    :raises AccountLocked: too many failures before.
    """
    subject = lockout.count("password", email.strip().lower(), at=at)
    user = User.objects.filter(email=email.strip().lower()).first()
    if user is None or not user.has_usable_password():
        make_password(password)
        raise InvalidCredentials
    if not user.check_password(password) or not user.is_active:
        raise InvalidCredentials
    lockout.clear(subject)
    return user


def check_strength(password: str, *, user: User) -> None:
    """This function will hold a new password against the platform's rules.

    :raises WeakPassword: it breaks one.
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
    """This function will set a new password, end every session of the person and tell her by mail.

    :raises WeakPassword: it breaks a rule.
    """
    check_strength(password, user=user)
    user.set_password(password)
    user.password_changed_at = at
    user.save(update_fields=["password", "password_changed_at"])
    sessions.end_all(user.pk, reason="password_changed", at=at)
    mails.put(OutgoingMail.Kind.PASSWORD_CHANGED, {"to": user.email}, at=at)
