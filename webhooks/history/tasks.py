"""The history's upkeep as a Celery task, rung hourly by beat."""

import logging

from celery import shared_task

from core import clock
from core.history.partitions import Busy

from .upkeep import keep_history

KEEP = "webhooks_history.keep"  # not "webhooks.": that queue belongs to the dispatcher, whom nothing may keep waiting

log = logging.getLogger(__name__)


@shared_task(name=KEEP, ignore_result=True, acks_late=False)
def keep() -> None:
    """Make partitions ahead and drop old ones; whoever finds another run under way leaves it alone."""
    try:
        kept = keep_history(at=clock.now())
    except Busy as error:
        log.warning("history not kept", extra={"reason": str(error)})
        return
    if kept.made or kept.dropped:
        log.info("history kept", extra={"made": kept.made, "dropped": kept.dropped})
    for held in kept.held:
        log.warning("history held back", extra={"partition": held.partition, "reason": held.reason})
