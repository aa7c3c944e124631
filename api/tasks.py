"""The periodic deletion of old idempotency records."""

from datetime import datetime, timedelta
from typing import Final

from celery import shared_task
from django.db import connection

from core import clock
from core.db import role_context
from core.lanes import HERE, Lane, in_turn
from core.row_security import DISPATCHER

from .idempotency import KEEP_DAYS

BATCH = 1000
MAX_BATCHES = 100

_FORGET: Final = f"""
DELETE FROM api_idempotencyrecord WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM api_idempotencyrecord WHERE created_at < %(before)s {HERE}
  ORDER BY created_at LIMIT {BATCH} FOR UPDATE SKIP LOCKED))
"""


@shared_task(name="api.forget_keys", ignore_result=True, acks_late=False)
def forget_keys() -> int:
    """Delete idempotency records older than `KEEP_DAYS`, in batches of short transactions; return how many."""
    before = clock.now() - timedelta(days=KEEP_DAYS)
    return sum(_forget(lane, before) for lane in in_turn("api.forget_keys"))


def _forget(lane: Lane, before: datetime) -> int:
    """Delete the old records of one lane, `MAX_BATCHES` batches at most; the next hour goes on."""
    gone = 0
    for _ in range(MAX_BATCHES):
        with role_context(DISPATCHER), connection.cursor() as cursor:
            cursor.execute(lane.sql(_FORGET), {"before": before, **lane.parameters})
            found = cursor.rowcount
        gone += found
        if found < BATCH:
            break
    return gone
