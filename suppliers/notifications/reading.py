"""Who has read a notification: each person and each key for itself."""

from datetime import datetime
from uuid import UUID

from core.actor import Actor
from core.pipeline import Call, Statement

_READ = Statement.of(
    "INSERT INTO suppliers_notificationread (tenant_id, subject_id, notification_id, read_at) VALUES ($1, $2, $3, $4)"
    " ON CONFLICT DO NOTHING RETURNING 1"
)
_UNREAD = Statement.of(
    "DELETE FROM suppliers_notificationread r WHERE r.tenant_id = $1 AND r.subject_id = $2 AND r.notification_id = $3 RETURNING 1"
)


def read_call(actor: Actor, notification_id: UUID, at: datetime) -> Call:
    """Return the statement that notes that the actor has read a notification; the first time stays."""
    return Call(_READ, [str(actor.tenant_id), str(actor.subject_id), str(notification_id), at.isoformat()])


def unread_call(actor: Actor, notification_id: UUID) -> Call:
    """Return the statement that forgets that the actor has read a notification."""
    return Call(_UNREAD, [str(actor.tenant_id), str(actor.subject_id), str(notification_id)])
