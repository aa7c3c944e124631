"""The relay: hands events to their after-commit subscribers, at least once, even if a process dies in between.

A row of `ledger_pending` is claimed by moving `due_at` ahead (the lease); a handler that fails is called again later.
"""

import logging
from datetime import timedelta

from core import clock
from core.db import role_context, tenant_context
from core.row_security import DISPATCHER

from . import registry
from .models import Event, Pending

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
BATCH = 100
MAX_ATTEMPTS = 30


def run_once() -> int:
    """Handle one batch of due rows; return how many handlers succeeded."""
    return sum(_handle(row) for row in _claim())


def _claim() -> list[Pending]:
    now = clock.now()
    with role_context(DISPATCHER):
        due = Pending.objects.select_for_update(skip_locked=True).filter(due_at__lte=now, attempts__lt=MAX_ATTEMPTS)
        rows = list(due.order_by("due_at", "id")[:BATCH])
        for row in rows:
            row.attempts += 1
            row.due_at = now + LEASE
        Pending.objects.bulk_update(rows, ["attempts", "due_at"])
    return rows


def _handle(row: Pending) -> bool:
    handler = registry.after_handler(row.subscriber)
    try:
        with tenant_context(row.tenant_id):
            event = Event.objects.get(tenant_id=row.tenant_id, id=row.event_id)
        if handler is not None:
            handler(event)
    except Exception as error:  # one failing subscriber must not stop the others; its error is kept in the row
        _postpone(row, type(error).__name__)
        log.warning("subscriber failed", extra={"subscriber": row.subscriber, "error": type(error).__name__})
        return False
    with tenant_context(row.tenant_id):
        Pending.objects.filter(tenant_id=row.tenant_id, id=row.id).delete()
    return True


def _postpone(row: Pending, error: str) -> None:
    delay = timedelta(seconds=min(5 * 2 ** (row.attempts - 1), 3600))
    with tenant_context(row.tenant_id):
        Pending.objects.filter(id=row.id).update(due_at=clock.now() + delay, last_error=error[:200])
