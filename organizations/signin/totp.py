"""Second factors: time-based one-time passwords. Source: RFC 6238, with the defaults of authenticator apps."""

from datetime import datetime
from uuid import UUID

import pyotp

from core.crypto import key_ring
from core.db import needs_transaction
from core.errors import Conflict, Unauthenticated
from organizations.models import TotpDevice, User

from . import lockout

STEP_SECONDS = 30
TOLERATED_STEPS = (0, -1, 1)
ISSUER = "Healthcare Platform"

_PURPOSE = "totp"


class InvalidCode(Unauthenticated):
    """The code is wrong, used, or too old."""

    code = "invalid_code"
    title = "The code is wrong or too old."


class SecondFactorRequired(Unauthenticated):
    """The password is right, but the account has a second factor and no code was sent."""

    code = "second_factor_required"
    title = "Your account has a second factor; enter its code."


class NoSecondFactor(Conflict):
    """The person has not enrolled a second factor."""

    code = "mfa_not_enrolled"
    title = "No second factor is enrolled."


class AlreadyEnrolled(Conflict):
    """A second factor is in force; only a session that has recently proved it may replace it."""

    code = "mfa_already_enrolled"
    title = "A second factor is already enrolled; step up with it to replace it."


@needs_transaction
def enroll(user: User, *, may_replace: bool, at: datetime) -> tuple[str, str]:
    """Create a new secret, which comes into force with its first code.

    :param may_replace: the session has recently proved the present factor.
    :returns: the secret and its otpauth URI, which cannot be read again.
    :raises AlreadyEnrolled: a factor is in force, and `may_replace` is false.
    """
    present = TotpDevice.objects.select_for_update().filter(user=user).first()
    if present is not None and present.sealed_secret is not None and not may_replace:
        raise AlreadyEnrolled
    secret = pyotp.random_base32()
    sealed = key_ring().seal(secret.encode(), purpose=_PURPOSE, place=user.pk.bytes)
    TotpDevice.objects.update_or_create(
        user=user, defaults={"sealed_pending": sealed}, create_defaults={"sealed_pending": sealed, "created_at": at}
    )
    return secret, pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=ISSUER)


def is_enrolled(user_id: UUID) -> bool:
    """Return whether the user has a second factor in force."""
    return TotpDevice.objects.filter(user_id=user_id, sealed_secret__isnull=False).exists()


def demand(user_id: UUID, *, code: str, at: datetime) -> bool:
    """Have a person who has just given the right password prove the second factor too, if one is in force.

    :returns: whether a second factor was proved.
    :raises SecondFactorRequired: there is no code.
    :raises InvalidCode, AccountLocked: see `prove`.
    """
    if not is_enrolled(user_id):
        return False
    if not code:
        raise SecondFactorRequired
    prove(user_id, code=code, at=at)
    return True


def confirm(user_id: UUID, *, code: str, at: datetime) -> None:
    """Bring a person's pending secret into force with its first code.

    :raises NoSecondFactor: no secret is pending.
    :raises InvalidCode: the code is not of the pending secret.
    :raises AccountLocked: there were too many failures before.
    """
    device = TotpDevice.objects.filter(user_id=user_id, sealed_pending__isnull=False).first()
    if device is None:
        raise NoSecondFactor
    subject = lockout.count("totp", str(user_id), at=at)
    if not _bring_into_force(device, code, at):
        raise InvalidCode
    lockout.clear(subject)


def prove(user_id: UUID, *, code: str, at: datetime, first_use: bool = False) -> None:
    """Check a code and use up its time step, so that each code works once.

    :param first_use: a code of the pending secret is accepted too, and brings that secret into force.
    :raises NoSecondFactor: no second factor is in force, or with `first_use` none is enrolled.
    :raises InvalidCode: the code is wrong, used or too old.
    :raises AccountLocked: there were too many failures before.
    """
    device = TotpDevice.objects.filter(user_id=user_id).first()
    if device is None or (device.sealed_secret is None and not first_use):
        raise NoSecondFactor
    subject = lockout.count("totp", str(user_id), at=at)
    if not (_use_up(device, code, at) or (first_use and _bring_into_force(device, code, at))):
        raise InvalidCode
    lockout.clear(subject)


def _use_up(device: TotpDevice, code: str, at: datetime) -> bool:
    """Use up the code's time step. The condition is part of the UPDATE, so only one of two calls with one code succeeds."""
    step = _matching_step(device, device.sealed_secret, code, at)
    if step is None:
        return False
    unused = TotpDevice.objects.filter(pk=device.pk, sealed_secret=device.sealed_secret, last_step__lt=step)
    return bool(unused.update(last_step=step))


def _bring_into_force(device: TotpDevice, code: str, at: datetime) -> bool:
    step = _matching_step(device, device.sealed_pending, code, at)
    if step is None:
        return False
    pending = TotpDevice.objects.filter(pk=device.pk, sealed_pending=device.sealed_pending)
    changes = {"sealed_secret": device.sealed_pending, "sealed_pending": None, "confirmed_at": at, "last_step": step}
    return bool(pending.update(**changes))


def _matching_step(device: TotpDevice, sealed: bytes | memoryview | None, code: str, at: datetime) -> int | None:
    if sealed is None:
        return None
    secret = key_ring().open(bytes(sealed), purpose=_PURPOSE, place=device.pk.bytes).decode()
    totp, now = pyotp.TOTP(secret), int(at.timestamp()) // STEP_SECONDS
    steps = [now + offset for offset in TOLERATED_STEPS]
    matching = [step for step in steps if pyotp.utils.strings_equal(totp.generate_otp(step), code)]
    return matching[0] if matching else None
