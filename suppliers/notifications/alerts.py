"""Alerts: opened while what they tell of holds, closed once it does not; one for each tenant, type and subject.

`settle` looks at the present state of the subjects behind a lock of the tenant and the type. So it may be told of a fact
twice, late, or in another order than it happened. Lock order: notifications by id, open alerts, mails, counters, ledger.
Source: contract, supply-order.md 5.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core import clock, jobs, rows
from core.actor import system_actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.ids import uuid7
from core.pipeline import Call, Statement, run
from core.watermark import mark_call
from ledger import public as ledger

from .counters import count_call
from .events import AlertRaised
from .models import Notification, NotificationMail, OpenAlert
from .preferences import Preferences, preferences_call, preferences_of
from .states import FOR_STAFF, Kind, Severity

SEND: Final = "suppliers.send_notification_mails"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What an alert tells of a subject; `value` is the number of units or days that a threshold is held against."""

    resource_type: str
    resource_id: str
    severity: Severity
    title: str
    body: str
    location_id: UUID | None = None
    value: int | None = None


# Looks at subjects by their ids, of the bound tenant; what does not hold, or is not there any more, is left out.
Look = Callable[[UUID, Sequence[str], Preferences, datetime], Iterable[Cause]]


class _Open(NamedTuple):
    """An alert that is open, with what it tells."""

    resource_id: str
    notification_id: UUID
    severity: str
    title: str
    body: str


_LOCK = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended('alerts ' || $1 || ' ' || $2, 0))")
_OPEN = Statement.of(
    "SELECT o.resource_id, o.notification_id, n.severity, n.title, n.body FROM suppliers_openalert o"
    " JOIN suppliers_notification n ON n.tenant_id = o.tenant_id AND n.id = o.notification_id AND n.tenant_id = $1"
    " WHERE o.tenant_id = $1 AND o.type = $2 AND o.resource_id = ANY($3::text[]) ORDER BY n.id",
    row=_Open,
)
_RETELL = Statement.of(
    "UPDATE suppliers_notification n SET severity = $3, title = $4, body = $5, version = n.version + 1, updated_at = $6"
    " WHERE n.tenant_id = $1 AND n.id = $2 RETURNING 1"
)
_GRADE = Statement.of(
    "UPDATE suppliers_openalert o SET severity = $4 WHERE o.tenant_id = $1 AND o.type = $2 AND o.resource_id = $3 RETURNING 1"
)
_LOCK_ROWS = Statement.of(
    "SELECT n.id::text FROM suppliers_notification n WHERE n.tenant_id = $1 AND n.id = ANY($2::uuid[]) ORDER BY n.id FOR NO KEY UPDATE"
)
_CLOSE = Statement.of(
    "UPDATE suppliers_notification n SET closed_at = $3, version = n.version + 1, updated_at = $3"
    " WHERE n.tenant_id = $1 AND n.id = ANY($2::uuid[]) AND n.closed_at IS NULL RETURNING 1"
)
_FORGET = Statement.of(
    "DELETE FROM suppliers_openalert o WHERE o.tenant_id = $1 AND o.type = $2 AND o.resource_id = ANY($3::text[])"
    " AND o.notification_id = ANY($4::uuid[]) RETURNING 1"
)


@needs_transaction
def settle(tenant_id: UUID, kind: str, subjects: Sequence[str], look: Look, at: datetime, *, opens: bool = True) -> int:
    """Open, tell anew or close the alerts of some subjects, as they stand now; return how many were opened.

    The tenant is bound. With `opens` false, nothing is opened: the fact only ends something.
    """
    if not subjects:
        return 0
    names = array_literal(subjects)
    _, _, settled, found = run(
        [
            mark_call(tenant_id),
            Call(_LOCK, [str(tenant_id), kind]),
            preferences_call(tenant_id),
            Call(_OPEN, [str(tenant_id), kind, names]),
        ]
    )
    at = max(at, clock.now())  # behind the mark
    preferences = preferences_of(settled)
    held = {one.resource_id: one for one in found.of(_Open)}
    causes = {
        one.resource_id: one
        for one in look(tenant_id, subjects, preferences, at)
        if one.resource_id in held or preferences.tells(kind, one.value)
    }
    calls = _retold(tenant_id, kind, held, causes, at)
    calls += close_calls(
        tenant_id, kind, {key: one.notification_id for key, one in held.items() if key not in causes}, at
    )
    fresh = [one for key, one in causes.items() if key not in held] if opens else []
    calls += _opened(tenant_id, kind, fresh, preferences, at)
    if calls:
        run(calls)
    return len(fresh)


def close_calls(tenant_id: UUID, kind: str, gone: Mapping[str, UUID], at: datetime) -> list[Call]:
    """Return the statements that close open alerts: their notifications by the subject that each is about."""
    if not gone:
        return []
    ids = array_literal([*gone.values()])
    return [
        Call(_LOCK_ROWS, [str(tenant_id), ids]),
        Call(_CLOSE, [str(tenant_id), ids, at.isoformat()]),
        Call(_FORGET, [str(tenant_id), kind, array_literal([*gone]), ids]),
    ]


def forget_call(row: Notification) -> Call:
    """Return the statement by which an alert whose notification is locked is open no more."""
    ids = array_literal([row.id])
    return Call(_FORGET, [str(row.tenant_id), row.type, array_literal([row.resource_id]), ids])


def _retold(
    tenant_id: UUID, kind: str, held: Mapping[str, _Open], causes: Mapping[str, Cause], at: datetime
) -> list[Call]:
    """The statements that let open alerts say what holds now."""
    calls = []
    for key, one in held.items():
        cause = causes.get(key)
        if cause is None or (one.severity, one.title, one.body) == (cause.severity, cause.title, cause.body):
            continue
        said = [cause.severity.value, cause.title, cause.body]
        calls.append(Call(_RETELL, [str(tenant_id), str(one.notification_id), *said, at.isoformat()]))
        calls.append(Call(_GRADE, [str(tenant_id), kind, key, cause.severity.value]))
    return calls


def _opened(tenant_id: UUID, kind: str, fresh: Sequence[Cause], preferences: Preferences, at: datetime) -> list[Call]:
    """The statements that open alerts, let their mails wait, count them and record the facts."""
    if not fresh:
        return []
    in_app = kind not in FOR_STAFF and preferences.wants(kind, "in_app")
    made = [_values(tenant_id, kind, cause, at) | {"in_app": in_app} for cause in fresh]
    calls = [rows.insert_all(Notification, made), rows.insert_all(OpenAlert, [_open_values(one) for one in made])]
    if kind in FOR_STAFF:
        return calls
    if preferences.wants(kind, "email"):
        calls.append(mails_call(tenant_id, [one["id"] for one in made], at))
    if in_app:
        calls.append(count_call(tenant_id, len(made)))
    webhook = preferences.wants(kind, "webhook")
    facts = [ledger.Occurrence(_raised(one, webhook=webhook), UUID(one["id"]), 1) for one in made]
    return [*calls, *ledger.statements_of_many(actor=system_actor(tenant_id), occurrences=facts, at=at)]


def mails_call(tenant_id: UUID, ids: Sequence[str], at: datetime) -> Call:
    """Return the statement that lets a mail about each notification wait; its worker is called after the commit."""
    jobs.enqueue(SEND, expires_seconds=jobs.RING_SECONDS)
    when, tenant = at.isoformat(), str(tenant_id)
    made = [
        {
            "id": str(uuid7()),
            "tenant_id": tenant,
            "created_at": when,
            "updated_at": when,
            "version": 1,
            "notification_id": one,
            "due_at": when,
        }
        for one in ids
    ]
    return rows.insert_all(NotificationMail, made)


def _values(tenant_id: UUID, kind: str, cause: Cause, at: datetime) -> dict[str, Any]:
    when = at.isoformat()
    return {
        "id": str(uuid7()),
        "tenant_id": str(tenant_id),
        "created_at": when,
        "updated_at": when,
        "version": 1,
        "kind": Kind.ALERT.value,
        "type": kind,
        "severity": cause.severity.value,
        "title": cause.title,
        "body": cause.body,
        "resource_type": cause.resource_type,
        "resource_id": cause.resource_id,
        "location_id": str(cause.location_id) if cause.location_id else None,
        "files": [],
    }


def _open_values(made: Mapping[str, Any]) -> dict[str, Any]:
    names = ("tenant_id", "type", "resource_id", "severity", "created_at")
    return {"notification_id": made["id"], **{name: made[name] for name in names}}


def _raised(made: Mapping[str, Any], *, webhook: bool) -> AlertRaised:
    return AlertRaised(
        alert_type=made["type"],
        severity=made["severity"],
        about_type=made["resource_type"],
        about_id=made["resource_id"],
        webhook=webhook,
    )
