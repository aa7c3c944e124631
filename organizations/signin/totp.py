"""Second factors: time-based one-time passwords. Source: RFC 6238, with the defaults every authenticator app has."""

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


class NoSecondFactor(Conflict):
    """The person has not enrolled one."""

    code = "mfa_not_enrolled"
    title = "No second factor is enrolled."


class AlreadyEnrolled(Conflict):
    """There is a confirmed second factor; replacing it takes a sign-in with it."""

    code = "mfa_already_enrolled"
    title = "A second factor is enrolled already; step up with it to replace it."


@needs_transaction
def enroll(user: User, *, may_replace: bool, at: datetime) -> tuple[str, str]:
    """This function will draw a new secret, not in force until a first code proves it.

    :param may_replace: the caller has just proved the present factor.
    :returns: the secret and its otpauth URI, for this one time.
    :raises AlreadyEnrolled: a factor is in force and was not proved.
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
    """Tell whether a second factor is in force."""
    return TotpDevice.objects.filter(user_id=user_id, sealed_secret__isnull=False).exists()


def prove(user_id: UUID, *, code: str, at: datetime, first_use: bool = False) -> None:
    """This function will check a code and use its time step up, so that it is good once.

    :param first_use: a pending secret may be proved too, and comes in force.
    :raises NoSecondFactor: there is none.
    :raises InvalidCode: wrong, used or too old.
    :raises AccountLocked: too many failures before.
    """
    device = TotpDevice.objects.filter(user_id=user_id).first()
    if device is None or (device.sealed_secret is None and not first_use):
        raise NoSecondFactor
    subject = lockout.count("totp", str(user_id), at=at)
    if not (_use_up(device, code, at) or (first_use and _bring_in_force(device, code, at))):
        raise InvalidCode
    lockout.clear(subject)


def _use_up(device: TotpDevice, code: str, at: datetime) -> bool:
    """The condition stands in the statement: two calls with one code are told apart by the database."""
    step = _matching_step(device, device.sealed_secret, code, at)
    if step is None:
        return False
    unused = TotpDevice.objects.filter(pk=device.pk, sealed_secret=device.sealed_secret, last_step__lt=step)
    return bool(unused.update(last_step=step))


def _bring_in_force(device: TotpDevice, code: str, at: datetime) -> bool:
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
    steps = [now + away for away in TOLERATED_STEPS]
    matching = [step for step in steps if pyotp.utils.strings_equal(totp.generate_otp(step), code)]
    return matching[0] if matching else None
