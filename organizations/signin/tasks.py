"""Background tasks of sign-in: send mails, and delete what has expired."""

from datetime import timedelta

from celery import shared_task

from core import clock
from organizations import signing_keys
from organizations.models import (
    AuthorizationGrant,
    DeniedToken,
    Invitation,
    OutgoingMail,
    PasswordReset,
    RefreshToken,
    SignInFailure,
    SignInSession,
)

from . import lockout, mails, resets, sessions

SWEEP_TASK = "organizations.sweep_credentials"
KEEP_ENDED = timedelta(days=30)


@shared_task(name=mails.SEND_TASK, ignore_result=True, acks_late=False)
def send_mails() -> None:
    """Send due mails until none is left, in ten batches at most."""
    for _ in range(10):
        if mails.send_due({OutgoingMail.Kind.PASSWORD_RESET: resets.complete_mail}) == 0:
            return


@shared_task(name=SWEEP_TASK, ignore_result=True, acks_late=False)
def sweep_credentials() -> None:
    """Delete expired tokens, sessions, links, failure counts and mails, and retire expired signing keys; runs hourly."""
    at = clock.now()
    DeniedToken.objects.filter(expires_at__lt=at).delete()
    AuthorizationGrant.objects.filter(expires__lt=at - sessions.DENIED_FOR).delete()
    SignInFailure.objects.filter(last_at__lt=at - timedelta(seconds=lockout.FORGET_SECONDS)).delete()
    RefreshToken.objects.filter(used_at__lt=at - sessions.GRACE, sealed_answer__isnull=False).update(sealed_answer=None)
    SignInSession.objects.filter(expires_at__lt=at - KEEP_ENDED).delete()
    SignInSession.objects.filter(ended_at__lt=at - KEEP_ENDED).delete()
    Invitation.objects.filter(expires_at__lt=at - KEEP_ENDED, accepted_at__isnull=True).delete()
    PasswordReset.objects.filter(expires_at__lt=at - KEEP_ENDED).delete()
    mails.forget_sent(at=at)
    signing_keys.retire_expired(at=at)
