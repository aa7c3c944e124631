"""The periodic deletion of old idempotency records."""

from datetime import timedelta

from celery import shared_task

from core import clock
from core.db import role_context
from core.row_security import DISPATCHER

from .idempotency import KEEP_DAYS
from .models import IdempotencyRecord

BATCH = 1000
MAX_BATCHES = 100


@shared_task(name="api.forget_keys", ignore_result=True, acks_late=False)
def forget_keys() -> int:
    """Delete idempotency records older than `KEEP_DAYS`, in batches of short transactions; return how many."""
    before = clock.now() - timedelta(days=KEEP_DAYS)
    gone = 0
    for _ in range(MAX_BATCHES):
        with role_context(DISPATCHER):
            old = IdempotencyRecord.objects.filter(created_at__lt=before).order_by("created_at", "id")
            ids = list(old.values_list("id", flat=True)[:BATCH])
            gone += IdempotencyRecord.objects.filter(id__in=ids).delete()[0]
        if len(ids) < BATCH:
            break
    return gone
