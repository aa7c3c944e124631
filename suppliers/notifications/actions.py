"""What members do with a notification: read it, acknowledge and archive it, answer a recall. Source: contract, supply-order.md 5."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.conditions import TENANT
from core.db import bind_actor_call, needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.model_rows import save_call
from core.pipeline import Call, Statement, run
from ledger import public as ledger
from suppliers.inventory.recalls.answering import HELD_NOTICE, answer_recall

from .alerts import forget_call
from .counters import count_call
from .events import AlertAcknowledged
from .models import Notification
from .places import WITHIN
from .reading import read_call, unread_call
from .refusals import AlertNotAcknowledged
from .sources import RECALL_NOTICE
from .states import FOR_STAFF, Kind, Shelved

_REACHED = Statement.of(
    f"SELECT 1 FROM suppliers_notification t WHERE t.tenant_id = $1 AND t.id = $2 AND {WITHIN.sql}".replace(
        TENANT, "$1"
    )
)


@needs_transaction
def locked_notification(actor: Actor, notification_id: UUID) -> Notification:
    """Return a notification of the tenant, locked until the transaction ends; the member is bound with its places.

    :raises NotFound: the tenant has no such notification, or the member does not reach its place.
    """
    rows = Notification.objects.of(actor).exclude(type__in=FOR_STAFF)
    found: Notification | None = rows.select_for_update(no_key=True).filter(pk=notification_id).first()
    if found is None or (actor.location_ids and not _is_reached(found)):
        raise NotFound("No such notification.")
    return found


def _is_reached(row: Notification) -> bool:
    (found,) = run([Call(_REACHED, [str(row.tenant_id), str(row.id)])])
    return bool(len(found))


@needs_transaction
def change_notification(actor: Actor, row: Notification, data: Mapping[str, Any], at: datetime) -> Notification:
    """Change a locked notification; what holds already is neither changed nor recorded again.

    An answer to a recall acknowledges its alert, and closes it once the buyer has finished.

    :raises InvalidFields: a message is acknowledged, an acknowledgement taken back, or the alert is of no received recall.
    :raises InvalidTransition: the recall was withdrawn.
    :raises AlertNotAcknowledged: an open alert is archived that nobody has acknowledged.
    """
    _check(row, data)
    names: list[str] = []
    calls: list[Call] = []
    answer = data.get("recall_response")
    if answer is not None:
        _answer(actor, row, answer, at)
        if answer.get("closed"):
            names += _close(row, at)
            calls.append(forget_call(row))
    is_news = row.acknowledged_at is None and (data.get("acknowledged") or answer is not None)
    if is_news:
        row.acknowledged_at, row.acknowledged_by = at, actor.subject_id
        names += ["acknowledged_at", "acknowledged_by"]
    counts = _shelve(row, data.get("archived"), names, calls, at)
    if (is_read := data.get("read")) is not None:
        calls.append(read_call(actor, row.id, at) if is_read else unread_call(actor, row.id))
    if names:
        calls.append(save_call(row, *names, at=at))
    calls += counts
    if is_news:
        calls += ledger.statements(
            actor=actor, event=_acknowledged(row), resource_id=row.id, at=at, resource_version=row.version
        )
    run([*calls, bind_actor_call(actor)])
    return row


def _check(row: Notification, data: Mapping[str, Any]) -> None:
    errors = []
    if data.get("acknowledged") is False:
        errors.append(FieldError("acknowledged", "invalid", "An acknowledgement is not taken back."))
    elif data.get("acknowledged") and row.kind != Kind.ALERT:
        errors.append(FieldError("acknowledged", "not_an_alert", "Only alerts are acknowledged."))
    if data.get("recall_response") == {}:
        errors.append(FieldError("recall_response", "required", "Say what was found."))
    if data.get("recall_response") is not None and row.resource_type != RECALL_NOTICE:
        errors.append(
            FieldError("recall_response", "not_a_recall", "The alert is not about a recall that was received.")
        )
    if errors:
        raise InvalidFields(errors=errors)


@needs_transaction
def _answer(actor: Actor, row: Notification, answer: Mapping[str, Any], at: datetime) -> None:
    """Answer the recall that an alert is about, as its buyer.

    :raises InvalidFields, InvalidTransition: as `answer_recall`; the fields are those of `recall_response`.
    """
    notice_id = UUID(row.resource_id)
    (located,) = run([HELD_NOTICE.locate(actor.tenant_id, notice_id)])
    try:
        answer_recall(actor, HELD_NOTICE(actor, notice_id, located=located), answer, at)
    except InvalidFields as error:
        errors = [FieldError(f"recall_response.{one.field}", one.code, one.message) for one in error.errors]
        raise InvalidFields(errors=errors) from error


def _close(row: Notification, at: datetime) -> list[str]:
    if row.closed_at is not None:
        return []
    row.closed_at = at
    return ["closed_at"]


def _shelve(row: Notification, archived: bool | None, names: list[str], calls: list[Call], at: datetime) -> list[Call]:
    """Archive a notification or take it back; return the statements that count it.

    :raises AlertNotAcknowledged: it is an open alert that nobody has acknowledged.
    """
    if archived is None or archived == (row.archived_at is not None):
        return []
    if archived and row.kind == Kind.ALERT and row.closed_at is None:
        if row.acknowledged_at is None:
            raise AlertNotAcknowledged
        names += _close(row, at)
        calls.append(forget_call(row))
    row.archived_at = at if archived else None
    names.append("archived_at")
    if not row.in_app:
        return []
    step = -1 if archived else 1
    return [count_call(row.tenant_id, -step, Shelved.ARCHIVED), count_call(row.tenant_id, step)]


def _acknowledged(row: Notification) -> AlertAcknowledged:
    return AlertAcknowledged(
        alert_type=row.type, severity=row.severity, about_type=row.resource_type, about_id=row.resource_id
    )
