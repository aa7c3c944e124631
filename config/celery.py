"""The Celery application: the doorbell of the workers. All state of jobs lives in PostgreSQL."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_process_init
from django.conf import settings

from . import acknowledging
from .orphans import end_with_parent
from .schedule import SCHEDULE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

acknowledging.use()
app = Celery("health_procurement")
app.conf.update(settings.CELERY)
app.conf.beat_schedule = SCHEDULE
app.autodiscover_tasks()

_LOADED_BY = os.getpid()  # the worker, whose pool is forked after this


@worker_process_init.connect
def _end_with_the_worker(**_: Any) -> None:
    """End a pool process whose worker was killed: nobody would feed or stop it any more."""
    end_with_parent(_LOADED_BY)
