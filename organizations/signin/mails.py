"""Mails of this room: put down sealed in the transaction, sent after it by a worker, tried again until they are gone."""

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
    """Makes a mail's content at the moment of sending, so that its secret never waits in a table."""

    def __call__(self, content: dict[str, Any], *, at: datetime) -> dict[str, Any] | None: ...


_TEXTS = {
    OutgoingMail.Kind.INVITATION: (
        "You are invited",
        "You were invited to {tenant}.\n\nAccept within {days} days:\n\n{link}\n\nIf you did not expect this, ignore it.\n",
    ),
    OutgoingMail.Kind.PASSWORD_RESET: (
        "Set a new password",
        "Set a new password within {minutes} minutes:\n\n{link}\n\nIf you did not ask for this, nothing has changed.\n",
    ),
    OutgoingMail.Kind.PASSWORD_CHANGED: (
        "Your password was changed",
        "Your password was changed and you were signed out everywhere.\n\nIf it was not you, tell your administrator.\n",
    ),
    OutgoingMail.Kind.NOTICE: ("{subject}", "{text}\n--\nYou get this mail because you administer {tenant}.\n"),
}


@needs_transaction
def put(kind: OutgoingMail.Kind, content: dict[str, Any], *, at: datetime, mail_id: UUID | None = None) -> None:
    """This function will keep a mail with the open transaction and ring for a worker after its commit.

    :param mail_id: given by a caller that may be repeated: a mail of this id is kept once.
    """
    row = OutgoingMail(id=mail_id or uuid7(), kind=kind, created_at=at, due_at=at)
    row.sealed_content = key_ring().seal(json.dumps(content).encode(), purpose=_PURPOSE, place=row.id.bytes)
    OutgoingMail.objects.bulk_create([row], ignore_conflicts=mail_id is not None)
    enqueue(SEND_TASK)


def send_due(completions: Mapping[str, Completion], *, limit: int = 50) -> int:
    """This function will send the mails that are due and tell how many went out; one that fails is tried again later.

    :param completions: by kind, what makes the final content just before sending; None from it means: send nothing.
    """
    return sum(_send(row, completions.get(row.kind)) for row in _claim(clock.now(), limit))


def forget_sent(*, at: datetime) -> int:
    """This function will delete the rows of mails that went out, or were given up, a week ago."""
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


def _send(row: OutgoingMail, complete: Completion | None) -> bool:
    try:
        plain = key_ring().open(bytes(row.sealed_content or b""), purpose=_PURPOSE, place=row.id.bytes)
        content: dict[str, Any] | None = json.loads(plain)
        if complete is not None and content is not None:
            content = complete(content, at=clock.now())
        if content is not None:
            _deliver(OutgoingMail.Kind(row.kind), content)
    except (OSError, SealBroken) as error:
        # the mail server's errors are OSErrors; the row's lease brings it back
        OutgoingMail.objects.filter(id=row.id).update(last_error=type(error).__name__)
        log.warning("mail not sent", extra={"mail": str(row.id), "error": type(error).__name__})
        return False
    OutgoingMail.objects.filter(id=row.id).update(sent_at=clock.now(), sealed_content=None, last_error="")
    return True


def _deliver(kind: OutgoingMail.Kind, content: dict[str, Any]) -> None:
    subject, text = _TEXTS[kind]
    message = EmailMessage(
        subject.format(**content), text.format(**content), settings.DEFAULT_FROM_EMAIL, [content["to"]]
    )
    message.send()
