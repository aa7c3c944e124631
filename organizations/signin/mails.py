"""Outgoing mails: stored sealed in the transaction, sent by a worker after the commit, and retried after failures."""

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F

from core import clock
from core.crypto import SealBroken, key_ring
from core.db import needs_transaction
from core.ids import uuid7
from core.jobs import enqueue
from organizations.models import OutgoingMail

log = logging.getLogger(__name__)

SEND_TASK = "organizations.send_mails"
MAX_ATTEMPTS = 12

_PURPOSE = "outgoing-mail"
_LEASE = timedelta(seconds=120)
_KEEP = timedelta(days=7)


class Completion(Protocol):
    """Makes the content of a mail just before it is sent, so that its secret is never stored."""

    def __call__(self, content: dict[str, Any], *, at: datetime) -> dict[str, Any] | None: ...


_TEXTS = {
    OutgoingMail.Kind.INVITATION: (
        "You are invited",
        "You were invited to {tenant}.\n\nAccept within {days} days:\n\n{link}\n\nIf you did not expect this, ignore this mail.\n",
    ),
    OutgoingMail.Kind.PASSWORD_RESET: (
        "Set a new password",
        "Set a new password within {minutes} minutes:\n\n{link}\n\nIf you did not ask for this, nothing has changed.\n",
    ),
    OutgoingMail.Kind.PASSWORD_CHANGED: (
        "Your password was changed",
        "Your password was changed and you were signed out everywhere.\n\nIf you did not do this, tell your administrator.\n",
    ),
    OutgoingMail.Kind.NOTICE: (
        "{subject}",
        "{text}\n--\nYou receive this mail because you are an administrator of {tenant}.\n",
    ),
}


@needs_transaction
def put(kind: OutgoingMail.Kind, content: dict[str, Any], *, at: datetime, mail_id: UUID | None = None) -> None:
    """Store a mail in the open transaction, and enqueue its sending for after the commit.

    :param mail_id: makes a repeated call safe: a mail with this id is stored once.
    """
    row = OutgoingMail(id=mail_id or uuid7(), kind=kind, created_at=at, due_at=at)
    row.sealed_content = key_ring().seal(json.dumps(content).encode(), purpose=_PURPOSE, place=row.id.bytes)
    OutgoingMail.objects.bulk_create([row], ignore_conflicts=mail_id is not None)
    enqueue(SEND_TASK)


def send_due(completions: Mapping[str, Completion], *, limit: int = 50) -> int:
    """Send a batch of the mails that are due and return its size; those that fail are retried later.

    :param completions: by kind, the function that makes the content just before sending; it returns None to send nothing.
    """
    batch = _claim(clock.now(), limit)
    for row in batch:
        _send(row, completions.get(row.kind))
    return len(batch)


def forget_sent(*, at: datetime) -> int:
    """Delete mails older than seven days, sent or given up, and return how many were deleted."""
    deleted, _ = OutgoingMail.objects.filter(created_at__lt=at - _KEEP).delete()
    return deleted


def _claim(at: datetime, limit: int) -> list[OutgoingMail]:
    with transaction.atomic():
        due = OutgoingMail.objects.select_for_update(skip_locked=True).filter(
            sent_at__isnull=True, due_at__lte=at, attempts__lt=MAX_ATTEMPTS
        )
        rows = list(due.order_by("due_at", "id")[:limit])
        OutgoingMail.objects.filter(id__in=[row.id for row in rows]).update(
            due_at=at + _LEASE, attempts=F("attempts") + 1
        )
    return rows


def _send(row: OutgoingMail, complete: Completion | None) -> None:
    try:
        plain = key_ring().open(bytes(row.sealed_content or b""), purpose=_PURPOSE, place=row.id.bytes)
        content: dict[str, Any] | None = json.loads(plain)
        if complete is not None and content is not None:
            content = complete(content, at=clock.now())
        if content is not None:
            _deliver(OutgoingMail.Kind(row.kind), content)
    except (OSError, SealBroken) as error:
        # errors of the mail server are OSErrors; the mail is due again when the row's lease ends
        OutgoingMail.objects.filter(id=row.id).update(last_error=type(error).__name__)
        log.warning("mail not sent", extra={"mail": str(row.id), "error": type(error).__name__})
        return
    OutgoingMail.objects.filter(id=row.id).update(sent_at=clock.now(), sealed_content=None, last_error="")


def _deliver(kind: OutgoingMail.Kind, content: dict[str, Any]) -> None:
    subject, text = _TEXTS[kind]
    message = EmailMessage(
        subject.format(**content), text.format(**content), settings.DEFAULT_FROM_EMAIL, [content["to"]]
    )
    message.send()
