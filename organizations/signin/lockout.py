"""Lockout: consecutive failures against one account lock it for a while, whether the account exists or not.

Wrong passwords are counted, and lock, by account and network, so that nobody locks another out from elsewhere. Wrong codes
of a second factor are counted by account alone: whoever sends one has given the password, and a code is short.

An attempt is counted before the credential is checked, by one statement that commits at once. So parallel guesses
cannot pass the limit together, and none waits for a row that another holds during its check. A success clears the
count.
"""

import math
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Q

from core.crypto import key_ring
from core.errors import TooMany
from organizations.models import SignInFailure

ALLOWED = 8
FIRST_LOCK_SECONDS = 60
LONGEST_LOCK_SECONDS = 900
FORGET_SECONDS = 3600

_COUNT = """
INSERT INTO organizations_signinfailure AS known (subject, failures, last_at) VALUES (%(subject)s, 1, %(at)s)
ON CONFLICT (subject) DO UPDATE SET
  failures = CASE WHEN known.last_at < %(at)s - make_interval(secs => %(forget)s) THEN 1 ELSE known.failures + 1 END,
  locked_until = CASE
    WHEN known.last_at < %(at)s - make_interval(secs => %(forget)s) OR known.failures + 1 < %(allowed)s THEN NULL
    ELSE %(at)s + make_interval(secs => least(%(longest)s, %(first)s * 2 ^ least(known.failures + 1 - %(allowed)s, 16)))
  END,
  last_at = %(at)s
WHERE known.locked_until IS NULL OR known.locked_until <= %(at)s
RETURNING failures
"""


class AccountLocked(TooMany):
    """There were too many failures against this account; `retry_after` gives the seconds to wait."""

    code = "account_locked"
    title = "Too many failed attempts; try again later."
    extensions = {"retry_after": 30}


def count(kind: str, name: str, *, at: datetime, network: str = "") -> str:
    """Count one attempt against an account, from one network if it is given, and return the key for `clear`.

    :raises AccountLocked: the account is locked; the credential must not be checked at all.
    """
    subject = subject_of(kind, name)
    if network:
        subject += f"@{key_ring().digest(network, purpose='sign-in-failures')}"
    values: dict[str, Any] = {
        "subject": subject,
        "at": at,
        "allowed": ALLOWED,
        "first": FIRST_LOCK_SECONDS,
        "longest": LONGEST_LOCK_SECONDS,
        "forget": FORGET_SECONDS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, values)
        if cursor.fetchone() is None:
            raise _locked(subject, at)
    return subject


def subject_of(kind: str, name: str) -> str:
    """Return the key of an account's failure count; with a network, the key goes on with "@" and its digest."""
    return f"{kind}:{key_ring().digest(name, purpose='sign-in-failures')}"


def unlock(kind: str, name: str) -> int:
    """Forget the failures of an account from all networks, and return how many counts there were."""
    subject = subject_of(kind, name)
    counts = SignInFailure.objects.filter(Q(subject=subject) | Q(subject__startswith=f"{subject}@"))
    return counts.delete()[0]


def clear(subject: str) -> None:
    """Clear the failures of an account after a success."""
    SignInFailure.objects.filter(subject=subject).delete()


def _locked(subject: str, at: datetime) -> AccountLocked:
    row = SignInFailure.objects.filter(subject=subject).first()
    until = row.locked_until if row else None
    wait = max(1, math.ceil((until - at).total_seconds())) if until else 1
    return AccountLocked(f"Try again in {wait} s.", headers={"Retry-After": str(wait)}, retry_after=wait)
