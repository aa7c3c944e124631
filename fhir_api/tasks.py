"""Celery tasks of the clinical record."""

import logging

from celery import shared_task

from core import clock
from core.history.partitions import Busy

from .access.upkeep import keep_records
from .exports.tasks import carry_on, sweep

__all__ = ["carry_on", "keep", "sweep"]

KEEP = "fhir_access.keep"

log = logging.getLogger(__name__)


@shared_task(name=KEEP, ignore_result=True, acks_late=False)
def keep() -> None:
    """Make months of the access log ahead and drop old ones; whoever finds another run under way leaves it alone."""
    try:
        kept = keep_records(at=clock.now())
    except Busy as error:
        log.warning("access log not kept", extra={"reason": str(error)})
        return
    if kept.made or kept.dropped:
        log.info("access log kept", extra={"made": kept.made, "dropped": kept.dropped})
    if kept.strays:
        log.warning(
            "access log has rows outside its months",
            extra={"rows": [f"{table}: {count}" for table, count in kept.strays.items()]},
        )
