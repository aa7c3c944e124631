"""Mails about notifications to the administrators of a tenant: at once, or behind its digest and its quiet hours.

A mail waits as a row. A worker locks the rows of a tenant that are due and passes by those that another holds. When each may
go out is decided then, by what the tenant has settled then. Several go out as one mail, but for those that cannot be
switched off. Of a message, neither text nor writer is told.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.db.models import QuerySet

from core.arrays import array_literal, in_document
from core.db import needs_transaction, tenant_context
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from organizations.public import Notice, mail_administrators
from suppliers.rounds import BATCH, by_rounds

from .alerts import SEND
from .models import NotificationMail
from .preferences import Preferences, preferences_call, preferences_of
from .states import MANDATORY, Type

_rounds = Rounds()
_MESSAGES: Final = "{tenant} has written to you: {title}"


class _Due(NamedTuple):
    """A mail that waits, and what it is about; `is_over` says that it is not worth a mail any more."""

    id: UUID
    notification_id: UUID
    type: str
    severity: str
    title: str
    body: str
    sender: str
    happened_at: datetime
    is_over: bool


_DUE = Statement.of(
    "SELECT m.id, n.id AS notification_id, n.type, n.severity, n.title, n.body, coalesce(o.name, '') AS sender,"
    " n.created_at AS happened_at, n.closed_at IS NOT NULL OR n.archived_at IS NOT NULL AS is_over"
    " FROM suppliers_notificationmail m JOIN suppliers_notification n ON n.tenant_id = m.tenant_id AND n.id = m.notification_id"
    " AND n.tenant_id = $1 LEFT JOIN organizations_tenant o ON o.id = n.from_tenant_id"
    f" WHERE m.tenant_id = $1 AND m.due_at <= $2 ORDER BY m.due_at, m.id LIMIT {BATCH} FOR UPDATE OF m SKIP LOCKED",
    row=_Due,
)
_LATER = Statement.of(
    "UPDATE suppliers_notificationmail m SET due_at = g.due_at FROM json_to_recordset($2) AS g (id uuid, due_at timestamptz)"
    f" WHERE m.tenant_id = $1 AND {in_document('m.id', '$2')} AND m.id = g.id RETURNING 1"
)
_DONE = Statement.of(
    "DELETE FROM suppliers_notificationmail m WHERE m.tenant_id = $1 AND m.id = ANY($2::uuid[]) RETURNING 1"
)


def send_mails(*, at: datetime, go_on: GoOn = ever) -> int:
    """Queue the mails that are due, of all tenants; return how many rows were worked on."""
    waiting: QuerySet[NotificationMail] = NotificationMail.objects.filter(due_at__lte=at)
    return by_rounds(SEND, _rounds, waiting, send_batch, at, go_on)


def send_batch(tenant_id: UUID, at: datetime) -> int:
    """Queue some mails of a tenant that are due; return how many rows were worked on."""
    with tenant_context(tenant_id):
        return _send(tenant_id, at)


@needs_transaction
def _send(tenant_id: UUID, at: datetime) -> int:
    found, settled = run([Call(_DUE, [str(tenant_id), at.isoformat()]), preferences_call(tenant_id)])
    due, preferences = found.of(_Due), preferences_of(settled)
    later = [(one, when) for one in due if (when := _when(one, preferences)) > at]
    waiting = {one.id for one, _ in later}
    now = [one for one in due if one.id not in waiting]
    if later:
        moved = [{"id": str(one.id), "due_at": when.isoformat()} for one, when in later]
        run([Call(_LATER, [str(tenant_id), orjson.dumps(moved)])])
    if now:
        run([Call(_DONE, [str(tenant_id), array_literal(one.id for one in now)])])
    wanted = [one for one in now if not one.is_over and preferences.wants(one.type, "email")]
    for notice in _notices(wanted):
        mail_administrators(tenant_id, notice, at=at)
    return len(due)


def _when(one: _Due, preferences: Preferences) -> datetime:
    """Return when a mail may go out; one that will not be sent has not to wait."""
    if one.is_over or not preferences.wants(one.type, "email"):
        return one.happened_at
    return preferences.mail_at(one.type, one.happened_at)


def _notices(wanted: Sequence[_Due]) -> Iterable[Notice]:
    """Yield a mail for each that must go out alone, and one for all others."""
    for one in wanted:
        if one.type in MANDATORY:
            yield Notice(one.notification_id, f"[{one.severity}] {_heading(one)}", _text([one]))
    together = [one for one in wanted if one.type not in MANDATORY]
    if together:
        first = together[0]
        subject = _heading(first) if len(together) == 1 else f"{len(together)} notifications"
        yield Notice(first.notification_id, subject, _text(together))


def _heading(one: _Due) -> str:
    return _MESSAGES.format(tenant=one.sender, title=one.title) if one.type == Type.MESSAGE else one.title


def _text(all_of: Sequence[_Due]) -> str:
    """Write what happened, and where it is read."""
    return "\n\n".join(_paragraph(one) for one in all_of) + "\n"


def _paragraph(one: _Due) -> str:
    link = f"{settings.BASE_URL.rstrip('/')}/v1/notifications/{one.notification_id}"
    said = "" if one.type == Type.MESSAGE else f"{one.body}\n"
    return f"{one.happened_at:%Y-%m-%d %H:%M} UTC  {_heading(one)}\n{said}{link}"
