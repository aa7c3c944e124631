"""The Celery application. All state of jobs lives in PostgreSQL; a message only starts the work sooner."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_process_init
from django.conf import settings

from . import acknowledging
from .orphans import end_with_parent
from .schedule import SCHEDULE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

acknowledging.install()
app = Celery("health_procurement")
app.conf.update(settings.CELERY)
app.conf.beat_schedule = SCHEDULE
app.autodiscover_tasks()

_LOADED_BY = os.getpid()  # the worker; its pool processes are forked later


@worker_process_init.connect
def _end_with_the_worker(**_: Any) -> None:
    """End a pool process when its worker is killed; without a worker it would get no work and never stop."""
    end_with_parent(_LOADED_BY)
