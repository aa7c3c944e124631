"""The relay: hands events to their after-commit subscribers, at least once, even if a process dies in between.

A row of `ledger_pending` is claimed by moving `due_at` ahead (the lease); a handler that fails is called again later.
Rows are claimed lane by lane, a batch of each in turn, and the tenants of a lane share its batch.
"""

import logging
from datetime import timedelta
from operator import attrgetter
from typing import Final
from uuid import UUID

from core import clock
from core.db import role_context, tenant_context
from core.lanes import AFTER, HERE, Lane, Walk, in_turn, tenants_of
from core.row_security import DISPATCHER

from . import registry
from .models import Event, Pending

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
BATCH = 100
MAX_ATTEMPTS = 30

_walk = Walk()
_CLAIM: Final = f"""
WITH RECURSIVE {tenants_of("ledger_pending")},
share AS MATERIALIZED (
  SELECT tenant_id, GREATEST(%(batch)s / count(*) OVER (), 1) AS events FROM hop WHERE true {HERE}),
due AS MATERIALIZED (
  SELECT oldest.* FROM share CROSS JOIN LATERAL (
    SELECT ctid AS place FROM ledger_pending
    WHERE (tenant_id, due_at) > (share.tenant_id, timestamptz '-infinity')
      AND (tenant_id, due_at) <= (share.tenant_id, %(now)s) AND attempts < %(most)s
    ORDER BY tenant_id, due_at LIMIT share.events FOR UPDATE SKIP LOCKED) oldest),
claimed AS (
  UPDATE ledger_pending SET due_at = %(until)s, attempts = attempts + 1
  WHERE ctid = ANY(ARRAY(SELECT place FROM due)) RETURNING *)
SELECT claimed.*, went.after FROM (SELECT {AFTER} AS after) went LEFT JOIN claimed ON true
"""


def run_once() -> int:
    """Handle one batch of due rows of each lane; return how many handlers succeeded."""
    return sum(_handle(row) for lane in in_turn("ledger.relay") for row in _claim(lane))


def _claim(lane: Lane) -> list[Pending]:
    """Take the next batch, which the tenants that have due rows share."""
    now = clock.now()
    values = {"now": now, "until": now + LEASE, "most": MAX_ATTEMPTS, "batch": BATCH}
    while True:
        with role_context(DISPATCHER):
            rows = list(Pending.objects.raw(lane.sql(_CLAIM), {**values, **_walk.parameters(lane)}))
        after: UUID | None = vars(rows[0])["after"]
        _walk.went(lane, after)
        claimed = [row for row in rows if row.id is not None]
        if claimed or after is None:
            return sorted(claimed, key=attrgetter("id"))


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
        Pending.objects.filter(tenant_id=row.tenant_id, id=row.id).update(
            due_at=clock.now() + delay, last_error=error[:200]
        )
